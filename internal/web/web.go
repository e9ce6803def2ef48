package web

import (
	"context"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/server"
)

// Options are the dependencies of the pages.
type Options struct {
	// API provides the data of the pages and performs the actions of the visitors.
	API  server.API
	Gate *access.Gate
	News *News
	// Stage is the fake infrastructure of the demo, or nil outside of the demo.
	Stage Stage
	Now   func() time.Time
	Log   *slog.Logger
}

// An authenticator logs visitors in and out; the Gate implements it.
type authenticator interface {
	Passwords() bool
	OpenID() bool
	Login(w http.ResponseWriter, r *http.Request, name, password string) error
	Logout(http.ResponseWriter, *http.Request)
}

// A provider logs visitors in through OpenID Connect; the Gate implements it.
type provider interface {
	BeginOpenID(w http.ResponseWriter, r *http.Request, next string) error
	EndOpenID(http.ResponseWriter, *http.Request) (next string, err error)
}

// A guard detects cross-site requests and expired sessions; the Gate implements it.
type guard interface {
	Token(http.ResponseWriter, *http.Request) string
	Genuine(*http.Request) error
	Still(context.Context) bool
}

// A site serves all pages.
type site struct {
	Options
	authenticator authenticator
	provider      provider
	guard         guard
	templates     *template.Template
	assets        *assets
	index         *cache
	timelines     *kept[*timeline]
	resolved      *kept[[]row]
	// streams, requests and strangers bound the number of concurrent requests.
	streams, requests, strangers chan struct{}
}

// Limits of concurrent event streams, requests of viewers, and requests of others; and of the body
// of a form, in bytes.
const (
	maxStreams   = 1000
	maxRequests  = 512
	maxStrangers = 128
	maxForm      = 64 << 10
)

// Pages is the HTTP handler of the web pages. The context of each request must contain the visitor; see
// access.Gate.Identify.
type Pages struct {
	http.Handler
	site *site
}

// New returns the handler of the web pages.
func New(o Options) (*Pages, error) {
	s, err := newSite(o)
	if err != nil {
		return nil, err
	}
	s.authenticator, s.provider, s.guard = o.Gate, o.Gate, o.Gate
	return &Pages{s.handler(), s}, nil
}

// Prepare rebuilds the index of the lists after each change until ctx ends, so that the first
// request after a scan does not wait. It uses at most a hundredth of a core.
func (p *Pages) Prepare(ctx context.Context) {
	p.site.index.keep(ctx, func(err error) { p.site.Log.DebugContext(ctx, "prepare pages", "err", err) })
}

// clock returns the clock of the pages.
func (s *site) clock() phrase.Clock { return phrase.Clock{Now: s.Now(), Relative: true} }

func newSite(o Options) (*site, error) {
	files, err := readAssets()
	if err != nil {
		return nil, err
	}
	templates, err := parseTemplates(files)
	if err != nil {
		return nil, err
	}
	s := &site{Options: o, templates: templates, assets: files, timelines: newKept[*timeline](o.Now), resolved: newKept[[]row](o.Now),
		streams: make(chan struct{}, maxStreams), requests: make(chan struct{}, maxRequests), strangers: make(chan struct{}, maxStrangers)}
	s.index = newCache(s.buildIndex, o.News, o.Now)
	return s, nil
}

func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	read := func(pattern string, handle func(http.ResponseWriter, *http.Request) error) {
		mux.Handle(pattern, s.bounded(s.forViewers(s.serve(handle))))
	}
	act := func(pattern string, handle func(http.ResponseWriter, *http.Request) error) {
		mux.Handle(pattern, s.bounded(s.forViewers(s.genuine(s.serve(s.forOperators(handle))))))
	}
	open := func(pattern string, handle func(http.ResponseWriter, *http.Request) error) {
		mux.Handle(pattern, s.bounded(s.serve(handle)))
	}
	read("GET /{$}", s.listPage)
	read("GET /findings/{id}", s.findingPage)
	read("GET /timeline", s.timelinePage)
	read("GET /sources", s.sourcesPage)
	read("GET /decisions", s.decisionsPage)
	read("GET /audit", s.auditPage)
	read("GET /audit/{index}", s.auditEntryPage)
	read("GET /audit/{index}/proof", s.auditProof)
	act("POST /findings/{id}/decide", s.decide)
	act("POST /decisions/{id}/revoke", s.revoke)
	if s.API.Acting != nil {
		read("GET /actions", s.actionsPage)
		act("POST /findings/{id}/reconcile", s.propose)
		act("POST /actions/{id}/{answer}", s.answer)
		act("POST /controls", s.control)
	}
	act("POST /scan", s.scan)
	if s.Stage != nil {
		read("GET /stage", s.stagePage)
		act("POST /stage/{act}", s.perform)
	}
	open("GET /login", s.loginPage)
	open("GET /login/oidc", s.beginOpenID)
	open("GET /login/oidc/callback", s.endOpenID)
	open("/", s.unknown)
	mux.Handle("POST /login", s.bounded(s.genuine(s.serve(s.login))))
	mux.Handle("POST /logout", s.bounded(s.genuine(s.serve(s.logout))))
	mux.HandleFunc("GET /static/{name}", s.static)
	mux.HandleFunc("GET /events", s.events)
	return secured(mux)
}

// secured sets the security headers.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// bounded bounds the number of concurrent requests and the size of each. Visitors without
// permissions have slots of their own, because they could hold them by sending a form slowly.
func (s *site) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		room := s.requests
		if !access.Of(r.Context()).May(access.Viewer) {
			room = s.strangers
		}
		select {
		case room <- struct{}{}:
			defer func() { <-room }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests: try again soon", http.StatusServiceUnavailable)
		}
	})
}

// forViewers redirects visitors who are not viewers to the login.
func (s *site) forViewers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visitor := access.Of(r.Context())
		switch {
		case visitor.May(access.Viewer):
			next.ServeHTTP(w, r)
		case visitor.Name != "":
			s.fail(w, r, &server.Error{Status: http.StatusForbidden, Message: visitor.Name + " has no role that may read",
				Hint: "roles are set in server.access.roles of driftd's configuration"})
		case isFragment(r) || r.Method != http.MethodGet:
			s.fail(w, r, &server.Error{Status: http.StatusUnauthorized, Message: "not logged in", Hint: "log in again"})
		default:
			http.Redirect(w, r, loginPath(r), http.StatusSeeOther)
		}
	})
}

// forOperators rejects visitors who are not operators, before any lookup.
func (s *site) forOperators(handle func(http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.API.Permit(r.Context(), access.Operator); err != nil {
			return err
		}
		return handle(w, r)
	}
}

// genuine rejects cross-site requests.
func (s *site) genuine(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.guard.Genuine(r); err != nil {
			s.fail(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serve shows the error of a handler as a page.
func (s *site) serve(handle func(http.ResponseWriter, *http.Request) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil && !errors.Is(r.Context().Err(), context.Canceled) {
			s.fail(w, r, err)
		}
	})
}

func (s *site) unknown(_ http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return &server.Error{Status: http.StatusMethodNotAllowed, Message: "method not allowed at this address", Hint: "start at the list of findings"}
	}
	if !access.Of(r.Context()).May(access.Viewer) {
		return &server.Error{Status: http.StatusUnauthorized, Message: "not logged in", Hint: "log in"}
	}
	return &server.Error{Status: http.StatusNotFound, Message: "page not found"}
}
