package aws

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/httpclient"
)

// serveObjects answers for a bucket in eu-west-1, and notes the requests.
func serveObjects(requests *[]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		region := strings.Split(r.Header.Get("Authorization"), "/")[2]
		*requests = append(*requests, region+" "+r.Header.Get("X-Amz-Expected-Bucket-Owner")+" "+r.URL.Path)
		switch query := r.URL.Query(); {
		case region != "eu-west-1":
			w.Header().Set("X-Amz-Bucket-Region", "eu-west-1")
			writeError(w, http.StatusMovedPermanently, "PermanentRedirect")
		case query.Get("list-type") == "2" && query.Get("prefix") == "p/" && query.Get("start-after") == "p/a" && query.Get("encoding-type") == "url":
			_, _ = fmt.Fprint(w, `<ListBucketResult `+namespace+`><Name>audit</Name><IsTruncated>true</IsTruncated><Contents><Key>p/b+c%01</Key></Contents><Contents><Key>%zz</Key></Contents></ListBucketResult>`)
		case r.URL.Path == "/audit/p/small":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = fmt.Fprint(w, "\x1f\x8bas it is")
		case r.URL.Path == "/audit/p/large":
			_, _ = fmt.Fprint(w, strings.Repeat("x", 2000))
		default:
			writeError(w, http.StatusNotFound, "NoSuchKey")
		}
	})
}

func TestObjects(t *testing.T) {
	t.Parallel()
	var requests []string
	server := httptest.NewServer(serveObjects(&requests))
	t.Cleanup(server.Close)
	c := testConfig(t, server.URL)
	c.MaxBody = 1000
	s, err := connect(t.Context(), c, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	o := &objects{session: s}
	keys, more, err := o.List(t.Context(), "audit", "222222222222", "p/", "p/a")
	if diff := cmp.Diff([]string{"p/b c\x01"}, keys); diff != "" || !more || err != nil {
		t.Errorf("List() = %v, %v (-want +got):\n%s", more, err, diff)
	}
	if content, err := o.Get(t.Context(), "audit", "222222222222", "p/small"); string(content) != "\x1f\x8bas it is" || err != nil {
		t.Errorf("Get() = %q, %v", content, err)
	}
	if _, err = o.Get(t.Context(), "audit", "222222222222", "p/gone"); awsapi.CodeOf(err) != "NoSuchKey" {
		t.Errorf("Get() of an object that is gone = %v", err)
	}
	if _, err = o.Get(t.Context(), "audit", "222222222222", "p/large"); !errors.As(err, new(*httpclient.TooLarge)) {
		t.Errorf("Get() of a large object = %v", err)
	}
	want := []string{
		"us-east-1 222222222222 /audit", "eu-west-1 222222222222 /audit", "eu-west-1 222222222222 /audit/p/small",
		"eu-west-1 222222222222 /audit/p/gone", "eu-west-1 222222222222 /audit/p/large",
	}
	if diff := cmp.Diff(want, requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if _, _, err = o.List(t.Context(), "audit", "222222222222", "q/", ""); err == nil {
		t.Error("List() accepts an error")
	}
}
