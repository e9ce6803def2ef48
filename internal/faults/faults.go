// Package faults simulates faults of HTTP servers, for tests and for the demonstration.
package faults

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
)

// A Fault handles a request instead of a server. It may call the server.
type Fault func(server http.Handler, w http.ResponseWriter, r *http.Request)

// A Set contains the faults of a server. The zero Set has none. It is safe for concurrent use, except that
// Delay must be set before the first request.
type Set struct {
	// Delay is the time before each response.
	Delay time.Duration

	mu     sync.Mutex
	faults []placed
}

// placed is a fault of the paths that begin with prefix.
type placed struct {
	prefix string
	fault  Fault
}

// Break applies a fault to every request whose path begins with prefix, until Heal is called. If several
// faults apply, the last one takes precedence.
func (s *Set) Break(prefix string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, placed{prefix, f})
}

// Heal removes all faults.
func (s *Set) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Serve handles a request for a path after Delay, with the fault for the path or, if there is none, with
// the server.
func (s *Set) Serve(server http.HandlerFunc, path string, w http.ResponseWriter, r *http.Request) {
	f := s.of(path)
	if s.Delay > 0 && httpclient.Wait(r.Context(), s.Delay) != nil {
		return
	}
	if f == nil {
		server(w, r)
		return
	}
	f(server, w, r)
}

func (s *Set) of(path string) Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	var last Fault
	for _, p := range s.faults {
		if strings.HasPrefix(path, p.prefix) {
			last = p.fault
		}
	}
	return last
}

// Status responds with a code and a body, which is HTML if it begins with "<", and JSON otherwise.
func Status(code int, body string) Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		typ := "application/json"
		if strings.HasPrefix(body, "<") {
			typ = "text/html; charset=utf-8"
		}
		w.Header().Set("Content-Type", typ)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// LoginPage responds with status 200 and a page, like a proxy that requires a login.
func LoginPage() Fault {
	return Status(http.StatusOK, "<!DOCTYPE html><html><body><form action=/login>Log in</form></body></html>")
}

// BadGateway responds like a proxy that cannot reach the server.
func BadGateway() Fault {
	return Status(http.StatusBadGateway, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>")
}

// Busy responds with a code such as 429 or 413, and the number of seconds until a retry.
func Busy(code int, seconds string) Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", seconds)
		w.WriteHeader(code)
	}
}

// Redirect responds with a redirect to the address to.
func Redirect(to string) Fault {
	return func(_ http.Handler, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to, http.StatusFound)
	}
}

// Hangs never responds. It returns when the client disconnects, which a server detects after it has read
// the request.
func Hangs() Fault {
	return func(_ http.Handler, _ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
}

// Truncated responds with the first half of the body that the server writes.
func Truncated() Fault {
	return func(server http.Handler, w http.ResponseWriter, r *http.Request) {
		whole := &keeper{ResponseWriter: w}
		server.ServeHTTP(whole, r)
		_, _ = w.Write(whole.body[:len(whole.body)/2])
	}
}

// A keeper keeps the body of an answer back.
type keeper struct {
	http.ResponseWriter
	body []byte
}

// Write keeps p.
func (k *keeper) Write(p []byte) (int, error) {
	k.body = append(k.body, p...)
	return len(p), nil
}

// Once applies a fault to the first request only.
func Once(f Fault) Fault {
	first := make(chan struct{}, 1)
	first <- struct{}{}
	return func(server http.Handler, w http.ResponseWriter, r *http.Request) {
		select {
		case <-first:
			f(server, w, r)
		default:
			server.ServeHTTP(w, r)
		}
	}
}

// Before calls a function before each request that the server handles.
func Before(do func()) Fault {
	return func(server http.Handler, w http.ResponseWriter, r *http.Request) {
		do()
		server.ServeHTTP(w, r)
	}
}
