package notifytest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/notify"
)

// A kind is the class of a delivery's error, which decides how it is handled.
type kind string

const (
	delivered kind = "delivered"
	permanent kind = "permanent"
	refused   kind = "refused"
	retry     kind = "to be retried"
)

// retryIn returns the kind of a notify.Later.
func retryIn(after time.Duration) kind { return kind("to be retried in " + after.String()) }

// kindOf returns the kind of err.
func kindOf(err error) kind {
	var later *notify.Later
	isPermanent, isRefused := errors.Is(err, notify.ErrPermanent), errors.Is(err, notify.ErrRefused)
	switch {
	case err == nil:
		return delivered
	case isPermanent && isRefused:
		return "both permanent and refused"
	case isPermanent:
		return permanent
	case isRefused:
		return refused
	case errors.As(err, &later):
		return retryIn(later.After)
	}
	return retry
}

// A fault is a kind of response.
type fault struct {
	name   string
	answer http.HandlerFunc
	// want is the expected result. alt is another permitted one.
	want, alt kind
	// useTimeout is set if the receiver's timeout must end the delivery.
	useTimeout bool
}

func faults() []fault {
	return []fault{
		{name: "200", answer: respond(http.StatusOK, ""), want: delivered},
		{name: "204", answer: respond(http.StatusNoContent, ""), want: delivered},
		{name: "400", answer: respond(http.StatusBadRequest, ""), want: refused},
		{name: "401", answer: respond(http.StatusUnauthorized, ""), want: permanent},
		{name: "403", answer: respond(http.StatusForbidden, ""), want: permanent},
		{name: "404", answer: respond(http.StatusNotFound, ""), want: retry},
		{name: "405", answer: respond(http.StatusMethodNotAllowed, ""), want: permanent},
		{name: "410", answer: respond(http.StatusGone, ""), want: permanent},
		{name: "413", answer: respond(http.StatusRequestEntityTooLarge, ""), want: refused},
		{name: "429 with a short pause", answer: respond(http.StatusTooManyRequests, "7"), want: retryIn(7 * time.Second)},
		{name: "429 with a huge pause", answer: respond(http.StatusTooManyRequests, "1e300"), want: retryIn(time.Hour)},
		{name: "429 with an invalid pause", answer: respond(http.StatusTooManyRequests, "-5 "+secret), want: retryIn(time.Minute)},
		{name: "429", answer: respond(http.StatusTooManyRequests, ""), want: retryIn(time.Minute)},
		{name: "500", answer: respond(http.StatusInternalServerError, ""), want: retry},
		{name: "502", answer: respond(http.StatusBadGateway, ""), want: retry},
		{name: "503 with a short pause", answer: respond(http.StatusServiceUnavailable, "9"), want: retryIn(9 * time.Second)},
		{name: "incomplete 500", answer: respondSlowly(http.StatusInternalServerError), want: retry, useTimeout: true},
		{name: "incomplete 200", answer: respondSlowly(http.StatusOK), want: delivered, alt: retry, useTimeout: true},
		{name: "no response", answer: hang, want: retry, useTimeout: true},
		{name: "connection closed", answer: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, want: retry},
	}
}

// respond responds with a status code, and with the request and the secret in the body.
func respond(code int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.Header().Set("WWW-Authenticate", secret)
		w.WriteHeader(code)
		fmt.Fprintf(w, "%s %v %s %s\r\n", r.URL, r.Header, secret, body)
	}
}

// hang blocks until the client closes the connection.
func hang(_ http.ResponseWriter, r *http.Request) {
	// The server detects that only after it has read the body.
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// respondSlowly sends the beginning of a response, and blocks until the client closes the
// connection.
func respondSlowly(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(code)
		// The client may have closed the connection.
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

// hugeResponse checks that the receiver stops reading an endless body.
func (open Subject) hugeResponse(t *testing.T) {
	t.Helper()
	for _, code := range []int{http.StatusOK, http.StatusInternalServerError} {
		var sent atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			blanks := []byte(strings.Repeat(" ", 64<<10))
			for sent.Load() <= networkBuffer {
				n, err := w.Write(blanks)
				sent.Add(int64(n))
				if err != nil {
					return
				}
			}
		}))
		got := kindOf(open.deliver(t.Context(), t, server.URL, testTimeout))
		server.Close()
		if got != retry && (code != http.StatusOK || got != delivered) {
			t.Errorf("%d with a huge body: %s, want %s", code, got, retry)
		}
		if sent.Load() > networkBuffer {
			t.Errorf("%d with a huge body: the receiver read more than %d bytes", code, networkBuffer)
		}
	}
}

// invalidResponse checks that a response that is not HTTP is retried.
func (open Subject) invalidResponse(t *testing.T) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			// The test checks the errors of the client, not those of the server.
			_, _ = conn.Read(make([]byte, 64<<10))
			_, _ = io.WriteString(conn, "220 "+secret+" \x1b[31m welcome\r\n")
			_ = conn.Close()
		}
	}()
	if got := kindOf(open.deliver(ctx, t, "http://"+listener.Addr().String(), testTimeout)); got != retry {
		t.Errorf("response that is not HTTP: %s, want %s", got, retry)
	}
	cancel()
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	<-done
}
