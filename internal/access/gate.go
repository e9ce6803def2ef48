package access

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// Options say who may come in, and how.
type Options struct {
	// Loopback is what whoever reaches an address of this host alone may do
	// without saying who they are.
	Loopback Role
	Now      func() time.Time
	Log      *slog.Logger
}

// A Gate finds out who asks, and lets them log in and out. It is safe for
// concurrent use.
type Gate struct {
	options Options
}

// New returns a Gate.
func New(o Options) (*Gate, error) { return &Gate{o}, nil }

// A Refused says to people why they may not.
type Refused struct {
	// Status is the HTTP status code: 401, 403 or 429.
	Status        int
	Message, Hint string
	// RetryAfter is how long to wait where Status is 429.
	RetryAfter time.Duration
}

// Error returns message and hint on one line.
func (r *Refused) Error() string { return r.Message + ": " + r.Hint }

// Identify serves next with the Visitor in the request's context.
func (g *Gate) Identify(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(With(r.Context(), Visitor{Name: "somebody on this host", Role: g.options.Loopback, Via: Loopback})))
	})
}

// Token returns what a form of the visitor's page must send along as "csrf" to
// be genuine. It may set a cookie.
func (g *Gate) Token(http.ResponseWriter, *http.Request) string { return "" }

// Genuine tells whether a request that changes something was meant by its
// visitor. The error is a *Refused.
func (g *Gate) Genuine(*http.Request) error { return nil }

// Passwords tells whether people log in with a password.
func (g *Gate) Passwords() bool { return false }

// OpenID tells whether people log in at an OpenID provider.
func (g *Gate) OpenID() bool { return false }

// Login begins a session. The error is a *Refused.
func (g *Gate) Login(http.ResponseWriter, *http.Request, string, string) error { return nil }

// Logout ends the request's session, for every holder of its cookie.
func (g *Gate) Logout(http.ResponseWriter, *http.Request) {}

// BeginOpenID sends the visitor to the OpenID provider; next is the path of the
// page that they want.
func (g *Gate) BeginOpenID(http.ResponseWriter, *http.Request, string) error { return nil }

// EndOpenID begins a session for whoever comes back from the OpenID provider,
// and returns the path of the page that they wanted.
func (g *Gate) EndOpenID(http.ResponseWriter, *http.Request) (next string, err error) { return "/", nil }

// Still tells whether the visitor of a context is who they were: whether their
// session goes on.
func (g *Gate) Still(context.Context) bool { return true }
