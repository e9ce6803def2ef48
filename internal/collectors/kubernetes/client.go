package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/driftd/driftd/internal/reach"
)

const (
	// maxTries is how often a request is sent that the server could not answer.
	maxTries   = 4
	firstPause = 200 * time.Millisecond
	// maxRetryAfter is the longest pause that the server may ask for.
	maxRetryAfter = 30 * time.Second
	// maxDocument is the most that an answer that is no list may hold, in bytes.
	maxDocument = 64 << 20
)

// A client sends requests to one API server. It bounds their time, their rate
// and their repetition, and sends none that would change anything there.
type client struct {
	http    *http.Client
	base    *url.URL
	limiter *rate.Limiter
	timeout time.Duration
	// maxAnswer bounds an answer that is no list, in bytes.
	maxAnswer int64
	jitter    func() float64
	// backoff is the pause before the second try; it doubles.
	backoff time.Duration
	// expiry is when the client certificate expires; zero without one.
	expiry time.Time
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
}

const jsonType = "application/json"

// harmless tells a request that changes nothing on the server.
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

// do sends the request and hands the answer to read, again when the server
// was busy or the answer broke off: read then starts over.
func (c *client) do(ctx context.Context, req request, read func(io.Reader) error) error {
	if !req.harmless() {
		return fmt.Errorf("%s %s would change the cluster: not sent", req.method, req.path)
	}
	for try := 1; ; try++ {
		err := c.once(ctx, req, read)
		if err == nil || ctx.Err() != nil {
			return reach.Because(ctx, err)
		}
		pause, again := c.pause(err, try)
		if !again || try == maxTries {
			return err
		}
		if err := reach.Wait(ctx, pause); err != nil {
			return reach.Because(ctx, err)
		}
	}
}

func (c *client) once(ctx context.Context, req request, read func(io.Reader) error) error {
	if err := reach.Turn(ctx, c.limiter); err != nil {
		return err
	}
	inner, cancel := reach.Within(ctx, c.timeout)
	defer cancel()
	body, err := c.send(inner, req)
	if err == nil {
		err = errors.Join(read(body), body.Close())
	}
	if err != nil && inner.Err() != nil && ctx.Err() == nil {
		return late(err, context.Cause(inner))
	}
	return err
}

// late returns what took a request too long: its credential plugin, or cause.
func late(err, cause error) error {
	var plugin *pluginError
	if errors.As(err, &plugin) {
		return err
	}
	return cause
}

// send returns the body of a successful answer, which the caller closes.
func (c *client) send(ctx context.Context, req request) (io.ReadCloser, error) {
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
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, reach.WithoutURL(err)
	}
	if resp.StatusCode/100 == 2 {
		return resp.Body, nil
	}
	return nil, errors.Join(readStatus(resp), resp.Body.Close())
}

// pause tells whether a request that failed is worth another try, and when.
func (c *client) pause(err error, try int) (time.Duration, bool) {
	backoff := time.Duration(float64(c.backoff<<(try-1)) * (1 + c.jitter()/2))
	var status *statusError
	if errors.As(err, &status) {
		return max(backoff, status.retryAfter), status.temporary() && status.retryAfter <= maxRetryAfter
	}
	return backoff, reach.Broken(err)
}
