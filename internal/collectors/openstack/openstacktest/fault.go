package openstacktest

import (
	"io"
	"net/http"
	"strings"
)

// A Fault answers in the place of the server, which it may still ask.
type Fault func(server http.Handler, w http.ResponseWriter, r *http.Request)

type fault struct {
	prefix string
	fault  Fault
}

// Break lets every request whose path begins with prefix meet a fault.
func (s *Server) Break(prefix string, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fault{prefix, f})
}

// Heal ends every fault.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// fault returns the last fault that concerns a path, or nil.
func (s *Server) fault(at string) Fault {
	var last Fault
	for _, f := range s.faults {
		if strings.HasPrefix(at, f.prefix) {
			last = f.fault
		}
	}
	return last
}

// Status answers with a code and a body.
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

// Before lets something happen each time before the server answers.
func Before(do func()) Fault {
	return func(server http.Handler, w http.ResponseWriter, r *http.Request) {
		do()
		server.ServeHTTP(w, r)
	}
}
