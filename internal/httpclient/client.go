// Package httpclient sends HTTP requests to servers that may be slow, busy, broken or hostile. It
// bounds time, size and memory, tries again where that helps, keeps credentials from other
// hosts and out of errors, and explains why a server could not be reached.
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

// Limits are those of the requests to one server.
type Limits struct {
	// Concurrency is how many requests run at once; 0 does not limit them.
	Concurrency int
	// Rate limits the requests per second; 0 does not.
	Rate float64
	// Burst is how many requests may be ahead of Rate; 0 means those of one second.
	Burst int
	// Timeout bounds each attempt with its whole answer, and so does half of the time
	// that the context of the request has left.
	Timeout time.Duration
	// MaxBody bounds each answer, in bytes.
	MaxBody int64
	// Backoff is the pause before the second attempt; it doubles with each further one.
	Backoff time.Duration
	// Attempts is how often a request is sent at most; 0 means 4 times.
	Attempts int
}

// Check returns an error about the first of the settings concurrency, timeout and
// max_body that is not positive.
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

// An API is what distinguishes the answers of one kind of server.
type API struct {
	// Describe sets Message, and what else the header and the body of an unsuccessful
	// answer contain. The body is null if it is not JSON. Nil sets nothing.
	Describe func(s *Status, header http.Header, body model.Value)
	// Retry are status codes after which a request is sent again, in addition to those of
	// all servers.
	Retry []int
}

// A Client sends requests to one server within limits. It follows no redirect: credentials
// go to no address that is not configured. It is safe for concurrent use.
type Client struct {
	http   *http.Client
	api    API
	limits Limits
	// places has an element for each request that runs; nil without a limit.
	places chan struct{}
	rate   *rate.Limiter
	// cached is the first mark of a cache.
	cached *atomic.Pointer[string]
	// buffers reports whether unsuccessful answers are kept, for a library.
	buffers bool
}

// New returns a client that sends its requests through base.
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

// With returns a client with other values of Timeout, MaxBody, Backoff and Attempts. It
// shares the places and the rate of c.
func (c *Client) With(change func(*Limits)) *Client {
	derived := *c
	change(&derived.limits)
	return &derived
}

// Close closes the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Cached returns why the answers so far may be old, and what to do; "" if none was the
// copy of a cache. server is the name of the server in that text.
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
