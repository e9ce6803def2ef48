package kubernetes

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
)

// memory is a transport that calls a handler directly.
type memory struct{ handler http.Handler }

// RoundTrip returns when the handler starts to answer.
func (m memory) RoundTrip(r *http.Request) (*http.Response, error) {
	body, answer := io.Pipe()
	w := &memoryWriter{header: http.Header{}, body: answer, begun: make(chan struct{})}
	stop := context.AfterFunc(r.Context(), func() { body.CloseWithError(r.Context().Err()) })
	go func() {
		m.handler.ServeHTTP(w, r)
		w.WriteHeader(http.StatusOK)
		_ = answer.Close()
		stop()
	}()
	select {
	case <-w.begun:
		return &http.Response{StatusCode: w.code, Header: w.header, Body: body, Request: r}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

type memoryWriter struct {
	header http.Header
	body   *io.PipeWriter
	once   sync.Once
	code   int
	begun  chan struct{}
}

func (w *memoryWriter) Header() http.Header { return w.header }

func (w *memoryWriter) WriteHeader(code int) {
	w.once.Do(func() {
		w.code = code
		close(w.begun)
	})
}

func (w *memoryWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

func (w *memoryWriter) Flush() { w.WriteHeader(http.StatusOK) }

func mustURL(address string) *url.URL {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return u
}
