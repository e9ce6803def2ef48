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
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

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
	// Compare lists the fields in which two values of one resource differ:
	// Recorded is what was, Live what came.
	Compare func(key model.Key, before, after model.Value) []model.Change
	// Waiting says what the daemon still waits for before it is ready; nil,
	// or an empty answer, means nothing.
	Waiting func() []string
	// Metrics serves /metrics; nil where there are none.
	Metrics http.Handler
	// Hooks serves POST /hooks/{name}, over TCP as well; nil where nobody asks
	// for scans that way.
	Hooks http.Handler
	// Audit serves POST /hooks/audit/{source}, where sources tell who does what
	// there, and checks who sends it; nil where none does.
	Audit http.Handler
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

// Handler serves the whole API, for those who may ask for a scan and decide.
func (a API) Handler() http.Handler {
	mux := a.reading()
	mux.HandleFunc("POST /api/v1/scan", a.scan)
	mux.Handle("POST /api/v1/decisions", a.answer(a.decide))
	mux.Handle("DELETE /api/v1/decisions/{id}", a.answer(a.revoke))
	return a.withHooks(a.guard(bounds{maxInFlight, maxBody}, mux))
}

// ReadOnly serves what reads only, and the hooks.
func (a API) ReadOnly() http.Handler {
	mux := a.reading()
	refuse := func(pattern, hint string) {
		mux.Handle(pattern, a.answer(func(*http.Request) (any, error) {
			return nil, &Error{Status: http.StatusForbidden, Message: "this address answers questions only", Hint: hint}
		}))
	}
	refuse("POST /api/v1/scan", "ask for a scan on the host of the daemon: driftd scan --config FILE")
	refuse("POST /api/v1/decisions", "decide on the host of the daemon: driftd accept, acknowledge or snooze")
	refuse("DELETE /api/v1/decisions/{id}", "decide on the host of the daemon: driftd decisions revoke ID")
	return a.withHooks(a.guard(bounds{maxInFlight, maxBody}, mux))
}

func (a API) reading() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /api/v1/report", a.answer(a.report))
	mux.Handle("GET /api/v1/findings", a.answer(a.findings))
	mux.Handle("GET /api/v1/findings/{id}", a.answer(a.finding))
	mux.Handle("GET /api/v1/history", a.answer(a.history))
	mux.Handle("GET /api/v1/diff", a.answer(a.diff))
	mux.Handle("GET /api/v1/runs", a.answer(a.runs))
	mux.Handle("GET /api/v1/status", a.answer(a.status))
	mux.Handle("GET /api/v1/decisions", a.answer(a.decisions))
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", a.readyz)
	if a.Metrics != nil {
		mux.Handle("GET /metrics", a.Metrics)
	}
	mux.Handle("GET /{$}", a.page())
	mux.HandleFunc("GET /findings/{id}", a.findingPage)
	mux.Handle("/", a.answer(unknown))
	return mux
}

// unknown answers what no other handler does.
func unknown(r *http.Request) (any, error) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return nil, &Error{Status: http.StatusMethodNotAllowed, Message: r.Method + " is not answered here", Hint: "use GET"}
	}
	return nil, &Error{Status: http.StatusNotFound, Message: "there is no such page",
		Hint: "see /, /findings/ID, /metrics, /healthz, /readyz and /api/v1/{report,findings,history,diff,runs,status,decisions}"}
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
	failure := asError(err)
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

// guard bounds what a request may cost and lets no panic out.
func (a API) guard(b bounds, next http.Handler) http.Handler {
	slots := make(chan struct{}, b.requests)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer a.recover(w, r)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
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
	})
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
