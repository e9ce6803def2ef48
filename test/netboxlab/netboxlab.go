// Package netboxlab is a stand-in for NetBox: a small one, in memory, that
// answers over HTTP as a real one does, as far as driftd and the Terraform
// provider ask. It is no NetBox; its shapes come from what real ones were seen
// to answer. Tests use it because NetBox itself, with its database, cannot run
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

// Options are what a Lab is made of.
type Options struct {
	// Version is that of NetBox, from 3.1 on; 4.6.8 when "".
	Version string
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

// A Lab answers as a NetBox. Its methods may be called at any time.
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

// New returns a Lab in which nothing is yet.
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

// SetVersion has the Lab answer as another version from now on.
func (l *Lab) SetVersion(v string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.options.Version = v
}

func (l *Lab) version() version { return parseVersion(l.options.Version) }

func (l *Lab) now() time.Time { return l.options.Now().UTC().Truncate(time.Microsecond) }

// A Fault is what the Lab does wrong with requests below a path.
type Fault struct {
	// Path is where it begins, "/api/ipam/"; "" is everywhere.
	Path string
	// Login answers the page that asks for a password.
	Login bool
	// Status answers an HTML page with this code, as a proxy does.
	Status int
	// Truncate cuts answers in half.
	Truncate bool
	// Delay is how long an answer takes.
	Delay time.Duration
}

// Break replaces what is wrong; nothing mends it.
func (l *Lab) Break(faults ...Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = faults
}

// Before has do called before each request is answered; it may use the Lab.
func (l *Lab) Before(do func(*http.Request)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hooks = append(l.hooks, do)
}

// Requests lists the requests since the last time: method and path, with what
// was asked for.
func (l *Lab) Requests() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.requests
	l.requests = nil
	return seen
}

// Writes returns how many requests came over HTTP that were to change
// something.
func (l *Lab) Writes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.writes
}

// ServeHTTP answers a request.
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

// serve does what is wrong, and tells whether that was an answer.
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
		// A client that is gone takes no answer.
		_, _ = w.Write(recorder.Body.Bytes()[:recorder.Body.Len()/2])
	default:
		return false
	}
	return true
}

func html(w http.ResponseWriter, code int, page string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	// A client that is gone takes no answer.
	_, _ = fmt.Fprint(w, page)
}

// A Refusal is an answer that says no.
type Refusal struct {
	Code int
	Body string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%d %s", r.Code, r.Body) }

// Do has a user, made where there is none, send a request by hand: below /api/,
// with a body where it is not nil. It neither counts as a request nor suffers
// faults. It returns the object that was the answer, nil for a list.
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
