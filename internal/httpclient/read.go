package httpclient

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// Read sends a request and calls read with the response if it is successful and not an HTML page.
// An attempt succeeds only if read and the connection end without an error. Read may call read
// again in a further attempt, in which read must start from the beginning. Read returns a *Status,
// *Unexpected, *TooLarge or *Timeout, the cause of the end of the context, or an error of read or
// of the connection.
func (c *Client) Read(r *http.Request, read func(*http.Response) error) error {
	return c.repeat(r, func(answer *http.Response) error {
		if peekPage(answer) {
			return errPage()
		}
		return read(answer)
	})
}

// JSON sends a request as Read does, and returns the response decoded as JSON and the header of the
// response. Afterwards only the value counts against the memory budget.
func (c *Client) JSON(r *http.Request) (v model.Value, header http.Header, err error) {
	ctx, settle := budget.Part(r.Context())
	defer func() { settle(v.Weight()) }()
	err = c.repeat(r.WithContext(ctx), func(answer *http.Response) (err error) {
		header = answer.Header
		v, err = Decode(answer)
		return err
	})
	return v, header, err
}

// Decode returns the body of a response decoded as JSON. It returns an *Unexpected if the body is
// not JSON.
func Decode(answer *http.Response) (model.Value, error) {
	if peekPage(answer) {
		return model.Value{}, errPage()
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return model.Value{}, err
	}
	v, err := decode.JSON(body)
	if err != nil {
		return model.Value{}, &Unexpected{Reason: "the answer is no JSON: " + err.Error()}
	}
	return v, nil
}

// Open sends a request once, as soon as the rate allows it, and returns a successful response,
// whose body the caller must close. Timeout limits only the time until the response begins; the
// body is limited only by the context.
func (c *Client) Open(r *http.Request) (*http.Response, error) {
	if err := Turn(r.Context(), c.rate); err != nil {
		return nil, Because(r.Context(), err)
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(c.limits.Timeout, func() { cancel(&Timeout{After: c.limits.Timeout}) })
	answer, err := c.send(r.Clone(ctx))
	if timer.Stop() && err == nil {
		answer.Body = &stream{answer.Body, cancel}
		return answer, nil
	}
	if err == nil {
		err = errors.Join(context.Cause(ctx), answer.Body.Close())
	} else if !errors.As(err, new(*Timeout)) {
		err = Because(ctx, err)
	}
	cancel(nil)
	return nil, err
}

// A stream is a body whose end gives its context back.
type stream struct {
	io.ReadCloser

	cancel context.CancelCauseFunc
}

// Close closes the body and ends its context.
func (s *stream) Close() error {
	defer s.cancel(nil)
	return s.ReadCloser.Close()
}

// HTTP returns an http.Client for use in a library. Its responses have their whole body in memory.
// It repeats requests as Read does, and returns the response to the last attempt even if that is
// unsuccessful.
func (c *Client) HTTP() *http.Client {
	buffers := *c
	buffers.buffers = true
	return stayingClient(buffering{&buffers})
}

// A buffering sends requests by a Client.
type buffering struct{ client *Client }

// RoundTrip implements http.RoundTripper. It returns the errors of Read except *Status and
// *Unexpected.
func (b buffering) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
	}
	var whole *http.Response
	err := b.client.repeat(r, func(answer *http.Response) error {
		body, err := io.ReadAll(answer.Body)
		hold(answer, body)
		whole = answer
		return err
	})
	if status := StatusOf(err); status != nil {
		return status.answer, nil
	}
	if err != nil {
		return nil, err
	}
	return whole, nil
}

// CloseIdleConnections closes the idle connections of the client.
func (b buffering) CloseIdleConnections() { b.client.Close() }

// hold replaces the body of an answer by what was read of it.
func hold(answer *http.Response, body []byte) {
	answer.Body = io.NopCloser(bytes.NewReader(body))
	if answer.Request == nil || answer.Request.Method != http.MethodHead {
		answer.ContentLength = int64(len(body))
	}
}

// peekPage reports whether an answer is an HTML page. It leaves the body as it is.
func peekPage(answer *http.Response) bool {
	buffered := bufio.NewReader(answer.Body)
	answer.Body = struct {
		io.Reader
		io.Closer
	}{buffered, answer.Body}
	// The reader of the body gets the error.
	_, _ = buffered.Peek(1)
	start, _ := buffered.Peek(buffered.Buffered())
	return isPage(answer.Header, start)
}

// isPage reports whether an answer is an HTML page, by its header and how it begins.
func isPage(header http.Header, start []byte) bool {
	typ, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && typ == "text/html" || bytes.HasPrefix(bytes.TrimSpace(start), []byte("<"))
}
