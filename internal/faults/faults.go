// Package faults makes the HTTP servers of tests and of the demonstration misbehave.
package faults

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
)

// A Fault answers in the place of a server, which it may still ask.
type Fault func(server http.Handler, w http.ResponseWriter, r *http.Request)

// A Set holds the faults of a server. The zero Set has none. It is safe for concurrent
// use, except for Delay, which is set before the first request.
type Set struct {
	// Delay is how long each answer takes.
	Delay time.Duration

	mu     sync.Mutex
	faults []placed
}

// placed is a fault of the paths that begin with prefix.
type placed struct {
	prefix string
	fault  Fault
}

// Break lets every request whose path begins with prefix meet a fault, until Heal. Of
// several the last one counts.
func (s *Set) Break(prefix string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, placed{prefix, f})
}

// Heal ends every fault.
func (s *Set) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Serve answers a request for a path after Delay: by the fault of that path, or by the
// server.
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

// Status answers with a code and a body: a page for people if it begins with "<", and JSON
// otherwise.
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

// LoginPage answers with success and a page, as a proxy that wants a login.
func LoginPage() Fault {
	return Status(http.StatusOK, "<!DOCTYPE html><html><body><form action=/login>Log in</form></body></html>")
}

// BadGateway answers as a proxy does that does not reach the server.
func BadGateway() Fault {
	return Status(http.StatusBadGateway, "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>")
}

// Busy asks to come back after so many seconds, with a code such as 429 or 413.
func Busy(code int, seconds string) Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", seconds)
		w.WriteHeader(code)
	}
}

// Redirect sends elsewhere.
func Redirect(to string) Fault {
	return func(_ http.Handler, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to, http.StatusFound)
	}
}

// Hangs never answers. It returns when the client is gone, which a server notices once it
// has read the request.
func Hangs() Fault {
	return func(_ http.Handler, _ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
}

// Truncated answers with the first half of the body that the server writes.
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

// Once lets a fault happen to the first request alone.
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

// Before calls a function each time before the server answers.
func Before(do func()) Fault {
	return func(server http.Handler, w http.ResponseWriter, r *http.Request) {
		do()
		server.ServeHTTP(w, r)
	}
}
