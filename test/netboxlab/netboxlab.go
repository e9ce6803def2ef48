// Package netboxlab is a fake NetBox in memory. It responds over HTTP like a real one, as far
// as driftd and the Terraform provider need it. Its responses follow those that real servers
// were observed to return. Tests use it because NetBox itself, with its database, cannot run
// where they do.
package netboxlab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Options configure a Lab.
type Options struct {
	// Version is the version of NetBox, from 3.1 on; "" means 4.6.8.
	Version string
	// Now returns the time; nil means time.Now.
	Now func() time.Time
}

// A Lab is a fake NetBox. Its methods are safe for concurrent use.
type Lab struct {
	mu         sync.Mutex
	options    Options
	store      *store
	super      map[int]bool
	changes    []*change
	lastChange int
	requests   []string
	writes     int
	lastID     int
	faults     []Fault
	hooks      []func(*http.Request)
}

// New returns an empty Lab.
func New(o Options) (*Lab, error) {
	all, err := models()
	if err != nil {
		return nil, err
	}
	if o.Version == "" {
		o.Version = "4.6.8"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Lab{options: o, store: newStore(all), super: map[int]bool{}}, nil
}

// SetVersion changes the version of the Lab.
func (l *Lab) SetVersion(v string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.options.Version = v
}

func (l *Lab) version() version { return parseVersion(l.options.Version) }

func (l *Lab) now() time.Time { return l.options.Now().UTC().Truncate(time.Microsecond) }

// A Fault is an error that the Lab makes in requests below a path.
type Fault struct {
	// Path is the prefix of the path, such as "/api/ipam/"; "" means every path.
	Path string
	// Login returns an HTML login page.
	Login bool
	// Status returns an HTML page with this code, like a proxy.
	Status int
	// Truncate cuts responses in half.
	Truncate bool
	// Delay is added to the time of each response.
	Delay time.Duration
}

// Break replaces the faults; no arguments remove them.
func (l *Lab) Break(faults ...Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = faults
}

// Before sets a function that is called before each request is handled; it may use the Lab.
func (l *Lab) Before(do func(*http.Request)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hooks = append(l.hooks, do)
}

// Requests returns and clears the list of requests: method, path and query.
func (l *Lab) Requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.requests
	l.requests = nil
	return seen
}

// Writes returns the number of HTTP requests that were to change objects.
func (l *Lab) Writes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writes
}

// ServeHTTP implements http.Handler.
func (l *Lab) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.requests = append(l.requests, r.Method+" "+r.URL.RequestURI())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		l.writes++
	}
	faults, hooks := l.faults, l.hooks
	l.mu.Unlock()
	for _, do := range hooks {
		do(r)
	}
	for _, f := range faults {
		if !strings.HasPrefix(r.URL.Path, f.Path) {
			continue
		}
		if f.serve(w, r, l) {
			return
		}
	}
	l.serve(w, r)
}

// serve applies a fault, and reports whether it was the response.
func (f Fault) serve(w http.ResponseWriter, r *http.Request, l *Lab) bool {
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return true
		}
	}
	switch {
	case f.Login:
		html(w, http.StatusOK, "<!DOCTYPE html><html><head><title>NetBox | Log In</title></head><body><form method=\"post\">Log In</form></body></html>")
	case f.Status != 0:
		html(w, f.Status, fmt.Sprintf("<html><head><title>%d %s</title></head><body><center>nginx</center></body></html>", f.Status, http.StatusText(f.Status)))
	case f.Truncate:
		recorder := httptest.NewRecorder()
		l.serve(recorder, r)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(recorder.Code)
		// The client may have disconnected.
		_, _ = w.Write(recorder.Body.Bytes()[:recorder.Body.Len()/2])
	default:
		return false
	}
	return true
}

func html(w http.ResponseWriter, code int, page string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	// The client may have disconnected.
	_, _ = fmt.Fprint(w, page)
}

// A Refusal is an error response.
type Refusal struct {
	Code int
	Body string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d %s", r.Code, r.Body) }

// Do sends a request of a user, who is created if necessary: below /api/, with a body unless it
// is nil. The request is not counted, and has no faults. Do returns the object in the response,
// nil for a list.
func (l *Lab) Do(user, method, path string, body any) (Object, error) {
	l.AddUser(user)
	var sent bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&sent).Encode(body); err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
	}
	r := httptest.NewRequestWithContext(context.Background(), method, "/api/"+strings.Trim(path, "/"), &sent)
	if !strings.Contains(path, "?") {
		r.URL.Path += "/"
	}
	r.Header.Set("Authorization", "Token "+Token(user))
	recorder := httptest.NewRecorder()
	l.serve(recorder, r)
	if recorder.Code >= http.StatusBadRequest {
		return nil, &Refusal{recorder.Code, recorder.Body.String()}
	}
	var answer any
	decoder := json.NewDecoder(recorder.Body)
	decoder.UseNumber()
	if recorder.Code != http.StatusNoContent {
		if err := decoder.Decode(&answer); err != nil {
			return nil, fmt.Errorf("decode answer of %s: %w", path, err)
		}
	}
	one, _ := answer.(Object)
	return one, nil
}
