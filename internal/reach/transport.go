package reach

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

// Limits are those of the requests to one server.
type Limits struct {
	// Concurrency is how many requests run at once.
	Concurrency int
	// Rate limits the requests per second; 0 does not.
	Rate float64
	// Timeout bounds each try of a request with its whole answer, as half of the
	// time that the request's context has left does.
	Timeout time.Duration
	// MaxBody bounds each answer, in bytes.
	MaxBody int64
	// Backoff is the first pause before a request is tried again.
	Backoff time.Duration
}

// Check tells which of the settings named after the limits is none.
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

// A TooLarge is an answer beyond MaxBody.
type TooLarge struct{ Limit int64 }

// Error names the bound.
func (e *TooLarge) Error() string { return fmt.Sprintf("the answer is larger than %d bytes", e.Limit) }

// MaxHeader bounds the header of an answer, in bytes: its fields take many times that.
const MaxHeader = 256 << 10

// NewBase returns what carries requests by the trust that is given, with no more
// connections to a server than requests.
func NewBase(trust *tls.Config, l Limits) *http.Transport {
	dialer := &net.Dialer{Timeout: l.Timeout, KeepAlive: 15 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        trust,
		TLSHandshakeTimeout:    l.Timeout,
		MaxConnsPerHost:        l.Concurrency,
		MaxIdleConnsPerHost:    l.Concurrency,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: MaxHeader,
	}
}

// NewTransport returns what sends requests through base within the limits. An
// answer comes with its whole body in memory; one that breaks off, a connection
// that breaks, and a server that is busy are tried again, three times in all,
// where the request can be sent twice. Its errors are *Timeout, *TooLarge, that of
// the request's context, and those of base.
func NewTransport(base http.RoundTripper, l Limits) http.RoundTripper {
	t := &transport{base: Guard(base), limits: l, running: make(chan struct{}, l.Concurrency)}
	if l.Rate > 0 {
		t.rate = rate.NewLimiter(rate.Limit(l.Rate), max(1, int(l.Rate)))
	}
	return t
}

type transport struct {
	base   http.RoundTripper
	limits Limits
	// running holds a place for each request under way.
	running chan struct{}
	rate    *rate.Limiter
}

const (
	// tries is how often a request is sent.
	tries = 3
	// maxPause is the longest pause that is granted to a server that asks for one.
	maxPause = 10 * time.Second
	// maxError is how much is kept of an answer that is no success.
	maxError = 64 << 10
)

// CloseIdleConnections gives the connections back.
func (t *transport) CloseIdleConnections() {
	(&http.Client{Transport: t.base}).CloseIdleConnections()
}

// RoundTrip sends a request until there is an answer worth having.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body := r.Body
	for try := 1; ; try++ {
		answer, err := t.try(r, body)
		pause, again := t.pause(answer, err, try)
		if !again || !replayable(r) {
			return answer, err
		}
		if err := Wait(r.Context(), pause); err != nil {
			return nil, err
		}
		if r.GetBody != nil {
			if body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// replayable tells a request that may be sent twice.
func replayable(r *http.Request) bool {
	return r.GetBody != nil || r.Body == nil || r.Body == http.NoBody
}

// try sends a request once, when there is room for it.
func (t *transport) try(r *http.Request, body io.ReadCloser) (*http.Response, error) {
	if err := t.admit(r.Context()); err != nil {
		if body != nil {
			err = errors.Join(err, body.Close())
		}
		return nil, err
	}
	defer func() { <-t.running }()
	limited, cancel := Within(r.Context(), t.limits.Timeout)
	defer cancel()
	attempt := r.Clone(limited)
	attempt.Body = body
	answer, err := t.exchange(attempt)
	switch {
	case err == nil, limited.Err() == nil:
		return answer, err
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	}
	return nil, context.Cause(limited)
}

// admit waits for a place among the requests that run, and for the rate.
func (t *transport) admit(ctx context.Context) error {
	select {
	case t.running <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := Turn(ctx, t.rate); err != nil {
		<-t.running
		return err
	}
	return nil
}

// exchange sends a request and reads its answer whole. Of one that is no success
// the beginning is enough.
func (t *transport) exchange(r *http.Request) (*http.Response, error) {
	answer, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	// What is left of the body is nobody's business, nor how closing it went.
	defer func() { _ = answer.Body.Close() }()
	success := answer.StatusCode/100 == 2
	limit := t.limits.MaxBody
	if !success {
		limit = maxError
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	switch {
	case success && int64(len(body)) > limit:
		return nil, &TooLarge{limit}
	case success && err != nil:
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if r.Method != http.MethodHead {
		answer.ContentLength = int64(len(body))
	}
	return answer, nil
}

// pause tells whether to send a request again after what came of it, and how long
// to wait first.
func (t *transport) pause(answer *http.Response, err error, try int) (time.Duration, bool) {
	if try == tries {
		return 0, false
	}
	pause := t.limits.Backoff << (try - 1)
	pause += time.Duration(rand.Int64N(int64(pause) + 1))
	if err != nil {
		return pause, Broken(err)
	}
	asked := answer.Header.Get("Retry-After")
	switch answer.StatusCode {
	case http.StatusRequestEntityTooLarge:
		// Older services say that there were too many requests so.
		if asked == "" {
			return 0, false
		}
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		return 0, false
	}
	wait := RetryAfter(asked, time.Now())
	return max(pause, wait), wait <= maxPause
}
