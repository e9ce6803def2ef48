// Package server serves driftd's HTTP API, health checks and metrics. A unix socket serves the whole API to
// other commands. A TCP address serves the read-only part, decisions of authenticated visitors, and hooks.
// Without a daemon, a command calls the same API within its own process.
//
// Responses never contain a secret or a digest of one.
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
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/store"
)

// A Reader reads the parts of the store that the API serves.
type Reader interface {
	FindingReader
	HistoryReader
	RunReader
	DecisionReader
}

// A FindingReader reads findings.
type FindingReader interface {
	Findings(store.Filter) ([]model.Finding, error)
	Outlines(store.Filter) ([]*model.Outline, error)
	Finding(idPrefix string) (model.Finding, []store.FindingVersion, error)
}

// A HistoryReader reads the values of resources over time.
type HistoryReader interface {
	Keys(text string) ([]model.Key, error)
	History(model.Key) ([]store.Version, error)
	Latest(model.Key) (*model.Value, error)
	Changes(source string, from, to time.Time) ([]store.ResourceChange, error)
	OldestRead(source string) (time.Time, error)
}

// A RunReader reads the results of scans.
type RunReader interface {
	LastRun() (model.Run, error)
	Runs(limit int) ([]model.Run, error)
	Size() int64
}

// A Scanner runs scans. The daemon implements it.
type Scanner interface {
	// Scan scans the named sources, or all sources if there are none, and returns the findings that are
	// open afterwards. If the error is an *Error, the handler responds with its status.
	Scan(ctx context.Context, sources []string) (model.Report, error)
}

// An API holds the dependencies of the handlers. Fields that may be nil disable the corresponding part of
// the API.
type API struct {
	Store Reader
	// Scanner is nil if no daemon runs.
	Scanner Scanner
	// Decider is nil if decisions are not available.
	Decider Decider
	// Acting is nil if no daemon runs.
	Acting Actor
	// Receivers returns the status of the notification receivers. It is nil if there are none.
	Receivers func() []model.ReceiverStatus
	// Problems returns descriptions of problems that the operator must fix. It may be nil.
	Problems func() []string
	// Box returns the restrictions of the sandbox process that expands untrusted input, or nil while they
	// are unknown. The field is nil if there is no such process.
	Box func() *box.Report
	// Compare returns the fields in which two values of a resource differ. In the result, Recorded is the
	// earlier value and Live the later one.
	Compare func(key model.Key, before, after model.Value) []model.Change
	// Imports finds import blocks for suggestions. It is nil if there are none.
	Imports Imports
	// Waiting returns descriptions of the conditions that must be met before the daemon is ready. It may be
	// nil.
	Waiting func() []string
	// Copy writes a copy of the whole store and returns its size in bytes. It is nil if copies are not
	// available.
	Copy func(io.Writer) (int64, error)
	// Verify reads the whole store and returns the damage that it finds. It is nil if verification is not
	// available.
	Verify func() (store.Health, error)
	// AuditLog is the audit log, or nil if it is not available.
	AuditLog AuditLog
	// Metrics serves /metrics. It may be nil.
	Metrics http.Handler
	// Hooks serves POST /hooks/{name}, also over TCP. It is nil if no hooks are configured.
	Hooks http.Handler
	// Audit serves POST /hooks/audit/{source}, which receives audit events and authenticates the sender. It
	// is nil if no source has such a hook.
	Audit http.Handler
	// Gate authenticates visitors over TCP. It is nil if the API is not served over TCP.
	Gate *access.Gate
	// People returns the table of people, or nil if there is none.
	People func() *access.People
	// Version is the version of driftd.
	Version string
	Now     func() time.Time
	Log     *slog.Logger
}

// maxInFlight bounds the number of requests that one handler serves at once, and maxBody the size
// of each request body in bytes.
const (
	maxInFlight = 64
	maxBody     = 64 << 10
)

// bounds are the number of requests served at once, and the size of each request body in bytes.
type bounds struct {
	requests int
	body     int64
}

// Handler returns a handler that grants all permissions, for the unix socket and for calls within a
// process.
func (a API) Handler() http.Handler {
	a.Gate = nil
	routes := a.routes()
	routes.Handle("GET /api/v1/backup", a.backup())
	routes.Handle("GET /api/v1/verify", a.verify())
	a.auditRoutes(routes)
	return a.withHooks(a.guard(bounds{maxInFlight, maxBody}, a.local(routes)))
}

// Public returns a handler for TCP, which grants the permissions that the Gate assigns to the visitor.
// pages serves all paths outside of the API, and limits its own requests. loopbackOnly reports whether only
// this host can connect.
func (a API) Public(loopbackOnly bool, pages http.Handler) http.Handler {
	answers := a.guard(bounds{maxInFlight, maxBody}, a.routes())
	mux := http.NewServeMux()
	for _, path := range []string{"/api/", "/metrics", "/healthz", "/readyz", "/hooks/"} {
		mux.Handle(path, answers)
	}
	mux.Handle("/", pages)
	return a.withHooks(a.safe(a.Gate.Identify(loopbackOnly, mux)))
}

// routes returns the routes of the API.
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
	read("GET /api/v1/outlines", a.outlines)
	read("GET /api/v1/findings/{id}", a.finding)
	read("GET /api/v1/findings/{id}/suggestion", a.suggestion)
	read("GET /api/v1/history", a.history)
	read("GET /api/v1/diff", a.diff)
	read("GET /api/v1/runs", a.runs)
	read("GET /api/v1/exemptions", a.exemptions)
	read("GET /api/v1/status", a.status)
	read("GET /api/v1/preview", a.preview)
	read("GET /api/v1/decisions", a.decisions)
	read("GET /api/v1/baseline", a.previewBaseline)
	read("GET /api/v1/actions", a.actions)
	read("GET /api/v1/actions/{id}", a.action)
	read("GET /api/v1/audit", a.auditList)
	read("GET /api/v1/audit/{index}", a.auditEntry)
	mux.Handle("GET /api/v1/openapi.yaml", a.needs(access.Viewer, http.HandlerFunc(a.document)))
	act("POST /api/v1/scan", http.HandlerFunc(a.scan))
	act("POST /api/v1/decisions", a.answer(a.decide))
	act("POST /api/v1/baseline", a.answer(a.baseline))
	act("DELETE /api/v1/decisions/{id}", a.answer(a.revoke))
	act("POST /api/v1/findings/{id}/reconcile", a.unhurried(a.reconcile))
	act("POST /api/v1/actions/{id}/approve", a.unhurried(a.answerAction(reconcile.ApproveAnswer)))
	act("POST /api/v1/actions/{id}/decline", a.answer(a.answerAction(reconcile.DeclineAnswer)))
	act("POST /api/v1/actions/{id}/cancel", a.answer(a.answerAction(reconcile.CancelAnswer)))
	act("POST /api/v1/actions/{id}/settle", a.unhurried(a.answerAction(reconcile.SettleAnswer)))
	act("POST /api/v1/controls", a.answer(a.control))
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", a.readyz)
	if a.Metrics != nil {
		mux.Handle("GET /metrics", a.needs(access.Viewer, a.Metrics))
	}
	mux.Handle("/", a.unknown(mux))
	return mux
}

// notFound is the message for a path that does not exist. A command that gets it talks to a daemon of another version.
const notFound = "page not found"

// unknown serves requests that match no route: with 405 if the path exists with another method,
// otherwise with 404.
func (a API) unknown(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := &Error{Status: http.StatusNotFound, Message: notFound, Hint: "see /metrics, /healthz, /readyz, and /api/v1/openapi.yaml for the rest"}
		if known := methods(mux, r); len(known) > 0 {
			w.Header().Set("Allow", strings.Join(known, ", "))
			err = &Error{Status: http.StatusMethodNotAllowed, Message: r.Method + " is not supported here", Hint: "use " + strings.Join(known, " or ")}
		}
		a.reply(w, r, nil, err)
	})
}

// methods returns the methods that the path of a request supports.
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

// answer serves the result of a handler as JSON.
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
	if failure.Status >= http.StatusInternalServerError && failure.Status != http.StatusServiceUnavailable {
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

// safe recovers panics and forbids caching.
func (a API) safe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer a.recover(w, r)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// guard bounds the number and size of requests, and includes safe.
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
				Message: fmt.Sprintf("%d requests are already in progress", b.requests), Hint: "try again soon"})
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
		Message: "internal error in driftd", Hint: "its log has the details; please report it"})
}
