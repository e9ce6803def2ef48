package server

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// InProcess returns a transport that passes each request to a handler within this process, without a
// network.
func InProcess(handler http.Handler) http.RoundTripper { return inProcess{handler} }

type inProcess struct{ handler http.Handler }

// RoundTrip calls the handler and returns its response.
func (p inProcess) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	if r.Body != nil {
		defer func() { err = errors.Join(err, r.Body.Close()) }()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	served := r.Clone(r.Context())
	served.RequestURI = r.URL.RequestURI()
	if served.Body == nil {
		served.Body = http.NoBody
	}
	w := &written{header: http.Header{}}
	p.handler.ServeHTTP(w, served)
	return w.response(r), nil
}

// written is a ResponseWriter that buffers the response.
type written struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the response's header.
func (w *written) Header() http.Header { return w.header }

// WriteHeader sets the status. Only the first call has an effect.
func (w *written) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write appends to the body.
func (w *written) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

func (w *written) response(r *http.Request) *http.Response {
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)),
		StatusCode: w.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        w.header,
		Body:          io.NopCloser(bytes.NewReader(w.body.Bytes())),
		ContentLength: int64(w.body.Len()),
		Request:       r,
	}
}
