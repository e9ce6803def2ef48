// Package httpclient sends HTTP requests to servers that may be slow, busy, broken or hostile. It
// limits time, size and memory, and repeats requests where that helps. It never sends credentials
// to other hosts or includes them in errors, and its errors explain why a server could not be
// reached.
package httpclient

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/driftd/driftd/internal/model"
)

// Limits contains the limits on the requests to one server.
type Limits struct {
	// Concurrency is the maximum number of concurrent requests; 0 means no limit.
	Concurrency int
	// Rate is the maximum number of requests per second; 0 means no limit.
	Rate float64
	// Burst is the number of requests that may exceed Rate at once; 0 means those of one second.
	Burst int
	// Timeout is the maximum time of each attempt, including reading the response. An attempt is
	// also limited to half of the time until the deadline of the request's context.
	Timeout time.Duration
	// MaxBody is the maximum size of each response in bytes.
	MaxBody int64
	// Backoff is the pause before the second attempt. It doubles with each further attempt.
	Backoff time.Duration
	// Attempts is the maximum number of times that a request is sent; 0 means 4.
	Attempts int
}

// Check returns an error about the first of the settings concurrency, timeout and max_body that is
// not positive, or nil.
func (l Limits) Check() error {
	for _, limit := range []struct {
		name string
		ok   bool
	}{
		{"concurrency", l.Concurrency > 0},
		{"timeout", l.Timeout > 0},
		{"max_body", l.MaxBody > 0},
	} {
		if !limit.ok {
			return fmt.Errorf("setting %s must be more than 0", limit.name)
		}
	}
	return nil
}

// limiter returns the rate limiter; nil without a rate.
func (l Limits) limiter() *rate.Limiter {
	if l.Rate <= 0 {
		return nil
	}
	burst := l.Burst
	if burst == 0 {
		burst = max(1, int(l.Rate))
	}
	return rate.NewLimiter(rate.Limit(l.Rate), burst)
}

// An API describes the error responses of one kind of server.
type API struct {
	// Describe sets Message and other fields of s from the header and the body of an unsuccessful
	// response. The body is null if it is not JSON. If Describe is nil, no fields are set.
	Describe func(s *Status, header http.Header, body model.Value)
	// Retry lists the status codes after which a request is sent again, in addition to those that
	// apply to all servers.
	Retry []int
}

// A Client sends requests to one server within limits. It does not follow redirects, so that it
// sends credentials only to the configured address. It is safe for concurrent use.
type Client struct {
	http   *http.Client
	api    API
	limits Limits
	// places contains one element for each running request; nil without a limit.
	places chan struct{}
	rate   *rate.Limiter
	// cached is the first header that showed a response from a cache.
	cached *atomic.Pointer[string]
	// buffers reports whether unsuccessful responses are kept, for a library.
	buffers bool
}

// New returns a client that sends its requests through base, which it wraps with Guard.
func New(base http.RoundTripper, l Limits, api API) *Client {
	c := &Client{http: stayingClient(Guard(base)), api: api, limits: l, rate: l.limiter(), cached: &atomic.Pointer[string]{}}
	if l.Concurrency > 0 {
		c.places = make(chan struct{}, l.Concurrency)
	}
	return c
}

// stayingClient returns an HTTP client that follows no redirect.
func stayingClient(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// With returns a copy of the client with the Timeout, MaxBody, Backoff and Attempts that change
// sets. The copy shares the concurrency and rate limits of c.
func (c *Client) With(change func(*Limits)) *Client {
	derived := *c
	change(&derived.limits)
	return &derived
}

// Close closes idle connections. The client remains usable.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Cached returns the reason why the responses so far may be outdated, with the next step, if one of
// them was a copy from a cache; "" otherwise. server is the name of the server for that text.
func (c *Client) Cached(server string) string {
	if mark := c.cached.Load(); mark != nil {
		return fmt.Sprintf("a cache before %s answered from its own copy (%s): let driftd's requests pass it", server, *mark)
	}
	return ""
}

// retries reports whether a request is sent again after an unsuccessful answer.
func (a API) retries(answer *http.Response) bool {
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	case http.StatusRequestEntityTooLarge:
		// Older OpenStack services limit the rate with it.
		return answer.Header.Get("Retry-After") != ""
	}
	return slices.Contains(a.Retry, answer.StatusCode)
}
