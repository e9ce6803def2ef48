package kubernetes

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

const (
	// firstPause is the pause before the second attempt.
	firstPause = 200 * time.Millisecond
	// maxDocument bounds an answer that is not a list, in bytes.
	maxDocument = 64 << 20
)

// A client sends requests to one API server. It only sends requests that change nothing.
type client struct {
	http    *httpclient.Client
	base    *url.URL
	timeout time.Duration
	// expiry is when the client certificate expires; zero without one.
	expiry time.Time
}

// newClient returns a client that sends its requests through transport. The bound of its
// answers is that of documents; requests for lists set their own.
func (c Config) newClient(base *url.URL, transport http.RoundTripper) *client {
	limits := httpclient.Limits{Rate: c.QPS, Burst: c.Burst, Timeout: c.Timeout, MaxBody: min(maxDocument, c.MaxPageSize), Backoff: firstPause}
	api := httpclient.API{Describe: describe, Retry: []int{http.StatusInternalServerError}}
	return &client{http: httpclient.New(transport, limits, api), base: base, timeout: c.Timeout}
}

// A request is one request to the API server.
type request struct {
	// method is GET when empty.
	method string
	path   string
	query  url.Values
	// accept is plain JSON when empty.
	accept      string
	contentType string
	body        []byte
	// maxBody bounds the answer, in bytes; 0 means the bound of a document.
	maxBody int64
}

const jsonType = "application/json"

// harmless reports whether a request changes nothing on the server.
func (r request) harmless() bool {
	switch r.method {
	case "", http.MethodGet:
		return true
	case http.MethodPatch:
		return r.query.Get("dryRun") == "All"
	case http.MethodPost:
		return strings.HasSuffix(r.path, "/selfsubjectreviews")
	}
	return false
}

func (c *client) server() string { return c.base.Redacted() }

// do sends a request and calls read with the body of the answer. It repeats both if the
// server is busy or the answer is truncated.
func (c *client) do(ctx context.Context, req request, read func(io.Reader) error) error {
	r, err := c.request(ctx, req)
	if err != nil {
		return err
	}
	bounded := c.http
	if req.maxBody > 0 {
		bounded = c.http.With(func(l *httpclient.Limits) { l.MaxBody = req.maxBody })
	}
	return bounded.Read(r, func(answer *http.Response) error { return read(answer.Body) })
}

// open sends a request once and returns the body of the answer, which the caller closes.
func (c *client) open(ctx context.Context, req request) (io.ReadCloser, error) {
	r, err := c.request(ctx, req)
	if err != nil {
		return nil, err
	}
	answer, err := c.http.Open(r)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// request returns the HTTP request, or an error if it would change the cluster.
func (c *client) request(ctx context.Context, req request) (*http.Request, error) {
	if !req.harmless() {
		return nil, fmt.Errorf("%s %s would change the cluster: not sent", req.method, req.path)
	}
	u := c.base.JoinPath(req.path)
	u.RawQuery = req.query.Encode()
	r, err := http.NewRequestWithContext(ctx, req.method, u.String(), bytes.NewReader(req.body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", jsonType)
	if req.accept != "" {
		r.Header.Set("Accept", req.accept)
	}
	if req.contentType != "" {
		r.Header.Set("Content-Type", req.contentType)
	}
	return r, nil
}

// describe sets the message from a metav1.Status, and the pause before a retry if the header
// has none.
func describe(s *httpclient.Status, _ http.Header, body model.Value) {
	if body.At("kind").Str() != "Status" {
		return
	}
	s.Message = printable.Text(body.At("message").Str())
	if s.RetryAfter == 0 {
		s.RetryAfter = httpclient.RetryAfter(body.At("details", "retryAfterSeconds").Text(), time.Time{})
	}
}
