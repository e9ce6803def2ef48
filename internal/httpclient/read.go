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

// Read sends a request and calls read with its answer, a success that is no HTML page. Each
// further attempt calls read again, which then begins anew. An attempt counts only if
// read and the connection end without an error. Errors are *Status, *Unexpected, *TooLarge,
// *Timeout, the cause of the end of the context, and those of read and of the connection.
func (c *Client) Read(r *http.Request, read func(*http.Response) error) error {
	return c.repeat(r, func(answer *http.Response) error {
		if peekPage(answer) {
			return errPage()
		}
		return read(answer)
	})
}

// JSON sends a request as Read does, and returns its answer, a JSON document, and the header
// of that. Of the memory that it takes the value alone counts afterwards.
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

// Decode returns the body of an answer, a JSON document. It returns an *Unexpected for
// anything else.
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

// Open sends a request once, as soon as the rate allows it, and returns its answer, a
// success whose body the caller closes. Timeout bounds the time until the answer begins;
// only the context bounds its body.
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

// Close closes the body.
func (s *stream) Close() error {
	defer s.cancel(nil)
	return s.ReadCloser.Close()
}

// HTTP returns a client for a library. An answer has its whole body in memory. A success is
// complete; an unsuccessful answer is the one to the last attempt.
func (c *Client) HTTP() *http.Client {
	buffers := *c
	buffers.buffers = true
	return stayingClient(buffering{&buffers})
}

// A buffering sends requests by a Client.
type buffering struct{ client *Client }

// RoundTrip sends a request. Its errors are those of Read, other than *Status and
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
