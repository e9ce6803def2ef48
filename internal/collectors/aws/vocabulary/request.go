package vocabulary

import (
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/driftd/driftd/internal/record"
)

// request returns a request in the form of one to a server with one address for all services and
// buckets. Requests for credentials are not recorded. endpoint is the host of a compatible server.
func request(r *http.Request, endpoint string) (record.Request, bool) {
	authorization := r.Header.Get("Authorization")
	scope := regexp.MustCompile(`Credential=([^/, ]+)/[0-9]{8}/([a-z0-9-]+)/([a-z0-9-]+)/aws4_request`).FindStringSubmatch(authorization)
	body, err := bodyOf(r)
	if scope == nil || err != nil || scope[3] == "sts" && !strings.Contains(body, "Action=GetCallerIdentity&") {
		return record.Request{}, false
	}
	path := strings.TrimSuffix(r.URL.EscapedPath(), "/")
	if bucket := bucketIn(r.URL.Host, endpoint); bucket != "" && scope[3] == "s3" {
		path = "/" + bucket + path
	}
	if path == "" {
		path = "/"
	}
	_, signature, _ := strings.Cut(authorization, "Signature=")
	if strings.HasSuffix(endpoint, "amazonaws.com") {
		endpoint = "" // everyone's
	}
	return record.Request{
		Service: scope[3], Region: scope[2], Method: r.Method, Path: path, Query: r.URL.Query().Encode(), Operation: r.Header.Get("X-Amz-Target"), Body: body,
		Secrets: []string{scope[1], signature, r.Header.Get("X-Amz-Security-Token"), endpoint},
	}, true
}

// bucketIn returns the bucket in the name of a host; "" without one.
func bucketIn(host, endpoint string) string {
	if endpoint != "" {
		bucket, _ := strings.CutSuffix(host, "."+endpoint)
		if bucket == host {
			return ""
		}
		return bucket
	}
	if match := regexp.MustCompile(`^(.+)\.s3[.-][a-z0-9.-]+$`).FindStringSubmatch(host); match != nil {
		return match[1]
	}
	return ""
}

// bodyOf returns the body of a request, of which it leaves a copy.
func bodyOf(r *http.Request) (string, error) {
	body := r.Body
	if r.GetBody != nil {
		again, err := r.GetBody()
		if err != nil {
			return "", err
		}
		body = again
	}
	if body == nil || body == http.NoBody {
		return "", nil
	}
	text, err := io.ReadAll(body)
	if r.GetBody == nil {
		r.Body = io.NopCloser(strings.NewReader(string(text)))
	}
	return string(text), err
}
