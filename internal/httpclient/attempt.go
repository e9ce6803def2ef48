package httpclient

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	// maxAttempts is how often a request is sent at most.
	maxAttempts = 4
	// maxRetryAfter is the longest pause that a server may ask for.
	maxRetryAfter = 30 * time.Second
)

// repeat sends a request, and calls read with each success, until read succeeds or another
// attempt would not help. A request whose body cannot be had again is sent once.
func (c *Client) repeat(r *http.Request, read func(*http.Response) error) error {
	replayable := r.GetBody != nil || r.Body == nil || r.Body == http.NoBody
	for n := 1; ; n++ {
		err := c.attempt(r, read)
		pause, again := c.pause(err, n)
		if !again || !replayable {
			return err
		}
		if err := Wait(r.Context(), pause); err != nil {
			return Because(r.Context(), err)
		}
	}
}

// attempt sends a request once, as soon as the limits on concurrency and rate allow it.
func (c *Client) attempt(r *http.Request, read func(*http.Response) error) error {
	ctx := r.Context()
	if err := c.admit(ctx); err != nil {
		return Because(ctx, err)
	}
	defer c.leave()
	limited, cancel := Within(ctx, c.limits.Timeout)
	defer cancel()
	err := c.exchange(limited, r, read)
	switch {
	case err == nil || limited.Err() == nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, new(*Timeout)):
		return err // a transport below returns its own
	}
	return context.Cause(limited)
}

// admit waits for a place among the requests that run, and for the rate.
func (c *Client) admit(ctx context.Context) error {
	if c.places != nil {
		select {
		case c.places <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := Turn(ctx, c.rate)
	if err != nil {
		c.leave()
	}
	return err
}

// leave gives the place back.
func (c *Client) leave() {
	if c.places != nil {
		<-c.places
	}
}

// exchange sends a copy of a request, and calls read with a successful response whose body is
// bounded. An error of the body takes precedence over the error of read.
func (c *Client) exchange(ctx context.Context, r *http.Request, read func(*http.Response) error) error {
	sent := r.Clone(ctx)
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return err
		}
		sent.Body = body
	}
	answer, err := c.send(sent)
	if err != nil {
		return err
	}
	// The rest of the body is not needed.
	defer func() { _ = answer.Body.Close() }()
	body := &boundedBody{ReadCloser: answer.Body, limit: c.limits.MaxBody, left: c.limits.MaxBody}
	answer.Body = body
	err = read(answer)
	if body.err != nil {
		return body.err
	}
	return err
}

// send sends a request, to which headers may be added, and returns a successful response. Any other
// response is a *Status.
func (c *Client) send(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Cache-Control") == "" {
		r.Header.Set("Cache-Control", "no-cache")
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, WithoutURL(err)
	}
	if answer.StatusCode/100 != 2 {
		defer func() { _ = answer.Body.Close() }()
		status := NewStatus(answer, c.api)
		if c.buffers {
			status.answer = answer
		}
		return nil, status
	}
	if mark := cached(answer.Header); mark != "" {
		c.cached.CompareAndSwap(nil, &mark)
	}
	return answer, nil
}

// pause returns how long to wait after attempt n, which ended with err, and whether there is
// another attempt.
func (c *Client) pause(err error, n int) (time.Duration, bool) {
	most := c.limits.Attempts
	if most == 0 {
		most = maxAttempts
	}
	if err == nil || n >= most {
		return 0, false
	}
	pause := c.limits.Backoff << (n - 1)
	pause += time.Duration(rand.Int64N(int64(pause)/2 + 1))
	if status, ok := errors.AsType[*Status](err); ok {
		return max(pause, status.RetryAfter), status.again && status.RetryAfter <= maxRetryAfter
	}
	return pause, Broken(err)
}

// A boundedBody is the body of an answer.
type boundedBody struct {
	io.ReadCloser

	limit, left int64
	// err is what ended the reading, other than the end of the body.
	err error
}

// Read reads from the body. It returns a *TooLarge if the body has more bytes than the limit.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if int64(len(p))-1 > b.left {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), &TooLarge{b.limit}
	}
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = WithoutURL(err)
	}
	return n, err
}
