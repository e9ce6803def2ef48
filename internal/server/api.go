// Package server answers over HTTP: the API, health and metrics, on a unix
// socket for the other commands and, for reading and for hooks, over TCP. A command
// speaks the same API in its own process where no daemon runs.
//
// Nothing that it answers shows a secret, not even a digest of one.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// Reader is what the API reads: the store.
type Reader interface {
	FindingReader
	HistoryReader
	RunReader
	DecisionReader
}

// FindingReader reads findings.
type FindingReader interface {
	Findings(store.Filter) ([]model.Finding, error)
	Finding(idPrefix string) (model.Finding, []store.FindingVersion, error)
}

// HistoryReader reads what resources were over time.
type HistoryReader interface {
	Keys(text string) ([]model.Key, error)
	History(model.Key) ([]store.Version, error)
	Changes(source string, from, to time.Time) ([]store.ResourceChange, error)
	FirstLook(source string) (time.Time, error)
}

// RunReader reads what scans left behind.
type RunReader interface {
	LastRun() (model.Run, error)
	Runs(limit int) ([]model.Run, error)
	Size() int64
}

// Scanner scans now: the daemon.
type Scanner interface {
	// Scan looks at the named sources, at all of them when there are none, and
	// reports what is open then. An *Error keeps its status.
	Scan(ctx context.Context, sources []string) (model.Report, error)
}

// API is what the handlers answer from.
type API struct {
	Store Reader
	// Scanner is nil where no daemon runs.
	Scanner Scanner
	// Decider is nil where nothing can be decided.
	Decider Decider
	// Receivers tells how it stands with those that are told; nil where nobody
	// is.
	Receivers func() []model.ReceiverStatus
	// Problems are what somebody should mend, in sentences; nil, or an empty
	// answer, means nothing.
	Problems func() []string
	// Box returns what holds where foreign input is expanded, nil before that is known;
	// nil where nothing is.
	Box func() *box.Report
	// Compare lists the fields in which two values of one resource differ:
	// Recorded is what was, Live what came.
	Compare func(key model.Key, before, after model.Value) []model.Change
	// Waiting says what the daemon still waits for before it is ready; nil,
	// or an empty answer, means nothing.
	Waiting func() []string
	// Copy writes a copy of the whole store; nil where that cannot be had.
	Copy func(io.Writer) (int64, error)
	// Verify reads the whole store and names what is damaged in it; nil where that
	// cannot be had.
	Verify func() (store.Health, error)
	// Metrics serves /metrics; nil where there are none.
	Metrics http.Handler
	// Hooks serves POST /hooks/{name}, over TCP as well; nil where nobody asks
	// for scans that way.
	Hooks http.Handler
	// Audit serves POST /hooks/audit/{source}, where sources tell who does what
	// there, and checks who sends it; nil where none does.
	Audit http.Handler
	// Gate lets in whoever comes over TCP; nil where nobody does.
	Gate *access.Gate
	// Version is driftd's own.
	Version string
	Now     func() time.Time
	Log     *slog.Logger
}

// maxInFlight bounds how many requests one handler answers at once, and maxBody
// the body of each, in bytes.
const (
	maxInFlight = 64
	maxBody     = 64 << 10
)

// bounds are of the requests that are answered at once, and of the body of each.
type bounds struct {
	requests int
	body     int64
}

// Handler serves whoever may do everything: on the unix socket, or in the
// process of a command.
func (a API) Handler() http.Handler {
	a.Gate = nil
	routes := a.routes()
	routes.Handle("GET /api/v1/backup", a.backup())
	routes.Handle("GET /api/v1/verify", a.verify())
	return a.withHooks(a.guard(bounds{maxInFlight, maxBody}, local(routes)))
}

// Public serves whoever comes over TCP, as far as the Gate lets them; pages
// serves what is not the API's, and bounds its requests itself. LoopbackOnly
// tells that nobody but this host can come.
func (a API) Public(loopbackOnly bool, pages http.Handler) http.Handler {
	answers := a.guard(bounds{maxInFlight, maxBody}, a.routes())
	mux := http.NewServeMux()
	for _, path := range []string{"/api/", "/metrics", "/healthz", "/readyz", "/hooks/"} {
		mux.Handle(path, answers)
	}
	mux.Handle("/", pages)
	return a.withHooks(a.safe(a.Gate.Identify(loopbackOnly, mux)))
}

// routes are what the API answers.
func (a API) routes() *http.ServeMux {
	mux := http.NewServeMux()
	read := func(pattern string, handle func(*http.Request) (any, error)) {
		mux.Handle(pattern, a.needs(access.Viewer, a.answer(handle)))
	}
	act := func(pattern string, handler http.Handler) {
		mux.Handle(pattern, a.needs(access.Operator, a.genuine(handler)))
	}
	read("GET /api/v1/report", a.report)
	read("GET /api/v1/findings", a.findings)
	read("GET /api/v1/findings/{id}", a.finding)
	read("GET /api/v1/history", a.history)
	read("GET /api/v1/diff", a.diff)
	read("GET /api/v1/runs", a.runs)
	read("GET /api/v1/exemptions", a.exemptions)
	read("GET /api/v1/status", a.status)
	read("GET /api/v1/decisions", a.decisions)
	read("GET /api/v1/baseline", a.previewBaseline)
	mux.Handle("GET /api/v1/openapi.yaml", a.needs(access.Viewer, http.HandlerFunc(a.document)))
	act("POST /api/v1/scan", http.HandlerFunc(a.scan))
	act("POST /api/v1/decisions", a.answer(a.decide))
	act("POST /api/v1/baseline", a.answer(a.baseline))
	act("DELETE /api/v1/decisions/{id}", a.answer(a.revoke))
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", a.readyz)
	if a.Metrics != nil {
		mux.Handle("GET /metrics", a.needs(access.Viewer, a.Metrics))
	}
	mux.Handle("/", a.unknown(mux))
	return mux
}

// unknown answers what no other handler does: there is no such page, or it is
// asked in another way.
func (a API) unknown(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := &Error{Status: http.StatusNotFound, Message: "there is no such page", Hint: "see /metrics, /healthz, /readyz, and /api/v1/openapi.yaml for the rest"}
		if known := methods(mux, r); len(known) > 0 {
			w.Header().Set("Allow", strings.Join(known, ", "))
			err = &Error{Status: http.StatusMethodNotAllowed, Message: r.Method + " is not answered here", Hint: "use " + strings.Join(known, " or ")}
		}
		a.reply(w, r, nil, err)
	})
}

// methods returns the methods in which a page may be asked for.
func methods(mux *http.ServeMux, r *http.Request) []string {
	var known []string
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := mux.Handler(other); pattern != "/" {
			known = append(known, method)
		}
	}
	return known
}

// answer serves what a handler returns, as JSON.
func (a API) answer(handle func(*http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, err := handle(r)
		a.reply(w, r, answer, err)
	})
}

func (a API) reply(w http.ResponseWriter, r *http.Request, answer any, err error) {
	if err == nil {
		a.write(w, r, http.StatusOK, answer)
		return
	}
	failure := AsError(err)
	a.explain(w.Header(), err)
	if failure.Status >= http.StatusInternalServerError {
		a.Log.ErrorContext(r.Context(), "request failed", "path", r.URL.Path, "err", err)
	}
	a.write(w, r, failure.Status, failure)
}

func (a API) write(w http.ResponseWriter, r *http.Request, status int, answer any) {
	body, err := json.Marshal(answer)
	if err != nil {
		a.Log.ErrorContext(r.Context(), "answer not encoded", "path", r.URL.Path, "err", err)
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	a.writeBody(w, r, status, "application/json", append(body, '\n'))
}

const plain = "text/plain; charset=utf-8"

func (a API) writeBody(w http.ResponseWriter, r *http.Request, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		a.Log.DebugContext(r.Context(), "answer not delivered", "path", r.URL.Path, "err", err)
	}
}

// safe lets no panic out, and nothing stay in a cache.
func (a API) safe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer a.recover(w, r)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// guard bounds what a request may cost, and is safe.
func (a API) guard(b bounds, next http.Handler) http.Handler {
	slots := make(chan struct{}, b.requests)
	return a.safe(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, b.body)
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			a.write(w, r, http.StatusServiceUnavailable, &Error{Status: http.StatusServiceUnavailable,
				Message: fmt.Sprintf("%d requests are being answered already", b.requests), Hint: "try again soon"})
		}
	}))
}

func (a API) recover(w http.ResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(cause)
	}
	a.Log.ErrorContext(r.Context(), "request panicked", "path", r.URL.Path, "err", cause, "stack", string(debug.Stack()))
	a.write(w, r, http.StatusInternalServerError, &Error{Status: http.StatusInternalServerError,
		Message: "driftd met an error of its own", Hint: "its log says more; please report it"})
}
