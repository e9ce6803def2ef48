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

// A kind is what a deliverer makes of an error.
type kind string

const (
	delivered kind = "delivered"
	permanent kind = "permanent"
	refusal   kind = "refused"
	again     kind = "to be tried again"
)

func later(after time.Duration) kind { return kind("to be tried again in " + after.String()) }

func kindOf(err error) kind {
	var wait *notify.Later
	isPermanent, isRefused := errors.Is(err, notify.ErrPermanent), errors.Is(err, notify.ErrRefused)
	switch {
	case err == nil:
		return delivered
	case isPermanent && isRefused:
		return "both permanent and refused"
	case isPermanent:
		return permanent
	case isRefused:
		return refusal
	case errors.As(err, &wait):
		return later(wait.After)
	}
	return again
}

// A fault is one way to answer.
type fault struct {
	name   string
	answer http.HandlerFunc
	// want is what the delivery comes to; or is another way to take it.
	want, or kind
	// slow tells that the receiver's own timeout must end it.
	slow bool
}

func faults() []fault {
	return []fault{
		{name: "200", answer: says(http.StatusOK, ""), want: delivered},
		{name: "204", answer: says(http.StatusNoContent, ""), want: delivered},
		{name: "400", answer: says(http.StatusBadRequest, ""), want: refusal},
		{name: "401", answer: says(http.StatusUnauthorized, ""), want: permanent},
		{name: "403", answer: says(http.StatusForbidden, ""), want: permanent},
		{name: "404", answer: says(http.StatusNotFound, ""), want: again},
		{name: "405", answer: says(http.StatusMethodNotAllowed, ""), want: permanent},
		{name: "410", answer: says(http.StatusGone, ""), want: permanent},
		{name: "413", answer: says(http.StatusRequestEntityTooLarge, ""), want: refusal},
		{name: "429 for a while", answer: says(http.StatusTooManyRequests, "7"), want: later(7 * time.Second)},
		{name: "429 for ever", answer: says(http.StatusTooManyRequests, "1e300"), want: later(time.Hour)},
		{name: "429 for nonsense", answer: says(http.StatusTooManyRequests, "-5 "+secret), want: later(time.Minute)},
		{name: "429", answer: says(http.StatusTooManyRequests, ""), want: later(time.Minute)},
		{name: "500", answer: says(http.StatusInternalServerError, ""), want: again},
		{name: "502", answer: says(http.StatusBadGateway, ""), want: again},
		{name: "503 for a while", answer: says(http.StatusServiceUnavailable, "9"), want: later(9 * time.Second)},
		{name: "drips after 500", answer: drips(http.StatusInternalServerError), want: again, slow: true},
		{name: "drips after 200", answer: drips(http.StatusOK), want: delivered, or: again, slow: true},
		{name: "hangs", answer: hangs, want: again, slow: true},
		{name: "breaks off", answer: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, want: again},
	}
}

// says answers with a code, and with all that it was sent.
func says(code int, retryAfter string) http.HandlerFunc {
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

// hangs waits for the client to go.
func hangs(_ http.ResponseWriter, r *http.Request) {
	// The server sees that only when it has read everything.
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// drips begins an answer that never ends.
func drips(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(code)
		// A client that is gone takes no answer.
		_, _ = io.WriteString(w, "{")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}
}

// flooded sends blanks until the receiver has had enough.
func (open Subject) flooded(t *testing.T) {
	t.Helper()
	for _, code := range []int{http.StatusOK, http.StatusInternalServerError} {
		var sent atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			blanks := []byte(strings.Repeat(" ", 64<<10))
			for sent.Load() <= slack {
				n, err := w.Write(blanks)
				sent.Add(int64(n))
				if err != nil {
					return
				}
			}
		}))
		got := kindOf(open.deliver(t.Context(), t, server.URL, patience))
		server.Close()
		if got != again && (code != http.StatusOK || got != delivered) {
			t.Errorf("%d with a huge answer: %s, want %s", code, got, again)
		}
		if sent.Load() > slack {
			t.Errorf("%d with a huge answer: over %d bytes of it were taken", code, slack)
		}
	}
}

// garbled answers with something that is not HTTP.
func (open Subject) garbled(t *testing.T) {
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
			// The client's side of it is what is looked at.
			_, _ = conn.Read(make([]byte, 64<<10))
			_, _ = io.WriteString(conn, "220 "+secret+" \x1b[31m welcome\r\n")
			_ = conn.Close()
		}
	}()
	if got := kindOf(open.deliver(ctx, t, "http://"+listener.Addr().String(), patience)); got != again {
		t.Errorf("no HTTP: %s, want %s", got, again)
	}
	cancel()
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	<-done
}
