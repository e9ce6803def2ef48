package access

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Options configure a Gate. The zero Options accept no credentials.
type Options struct {
	// Loopback is the role of anonymous requests that come from a loopback address.
	Loopback Role
	// UsersFile is the path of the file with user names and bcrypt hashes. If it is "", login with a
	// password is disabled.
	UsersFile string
	// OpenID configures the OpenID provider. If its Issuer is "", login with OpenID is disabled.
	OpenID OpenIDClient
	// Proxy configures the authenticating reverse proxy. If its Trusted is empty, the headers of proxies
	// are ignored.
	Proxy ReverseProxy
	Roles Roles
	// People returns the table of people, or nil if there is none.
	People func() *People
	// Session is the lifetime of a session. 0 means DefaultSession.
	Session time.Duration
	// URL is the public address of the pages. The OpenID provider redirects to it.
	URL string
	// Vouched returns the name of a visitor whom the server has already authenticated, and the method. The
	// name is "" if the server has not authenticated the visitor. Vouched may be nil.
	Vouched func(*http.Request) (name string, via Via)
	Now     func() time.Time
	Log     *slog.Logger
}

// DefaultSession is the default lifetime of a session.
const DefaultSession = 12 * time.Hour

// A Gate authenticates requests, and handles login and logout. It is safe for concurrent use. It starts no
// goroutines.
type Gate struct {
	options Options
	// key signs cookies and CSRF tokens. It is random and lives as long as the Gate.
	key      []byte
	roles    roleTable
	trusted  []netip.Prefix
	users    *users
	verified verified
	sessions sessions
	failures failures
	// hashing limits password comparisons for all requests, hashingKnown those of browsers
	// from which the user has logged in before.
	hashing, hashingKnown queue
	openID                *openID
	public                *url.URL
	origins               *http.CrossOriginProtection
}

// New returns a Gate. It reads the users file and the files of the OpenID client, and returns an error if
// one of them is invalid. It makes no network requests.
func New(o Options) (*Gate, error) {
	if o.Session == 0 {
		o.Session = DefaultSession
	}
	g := &Gate{options: o, key: make([]byte, 32), roles: newRoleTable(o.Roles), origins: http.NewCrossOriginProtection()}
	_, _ = rand.Read(g.key) // it never fails
	g.sessions.all, g.verified.until = map[digest]session{}, map[digest]time.Time{}
	g.failures.buckets, g.hashing, g.hashingKnown = map[string]*bucket{}, newHashing(), newQueue(1, maxWaiting)
	var err error
	if g.public, err = publicURL(o.URL); err != nil {
		return nil, err
	}
	if g.public.Host != "" {
		if err := g.origins.AddTrustedOrigin(g.public.Scheme + "://" + g.public.Host); err != nil {
			return nil, fmt.Errorf("trust the origin of %s: %w", o.URL, err)
		}
	}
	if g.trusted, err = parsePrefixes(o.Proxy.Trusted); err != nil {
		return nil, fmt.Errorf("read the trusted proxies: %w", err)
	}
	if o.UsersFile != "" {
		if g.users, err = newUsers(o.UsersFile, o.Log); err != nil {
			return nil, err
		}
	}
	if o.OpenID.Issuer != "" {
		if g.openID, err = newOpenID(o, g.public); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// publicURL parses the public address of the pages; "" returns an empty URL.
func publicURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || text != "" && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("read the address of the pages: want one such as https://driftd.example.org")
	}
	return u, nil
}

// A Refused is an error that reports why a request is refused, in words for the visitor.
type Refused struct {
	// Status is the HTTP status code: 401, 403, 429, or 503 if the OpenID provider does not respond.
	Status        int
	Message, Hint string
	// RetryAfter is the time that the visitor must wait before a retry. It is set if Status is 429 or 503.
	RetryAfter time.Duration
}

// Error returns the message and the hint on one line.
func (r *Refused) Error() string { return r.Message + ": " + r.Hint }

// Seconds returns RetryAfter in whole seconds, rounded up, or 0 if it is not set.
func (r *Refused) Seconds() int { return int(math.Ceil(r.RetryAfter.Seconds())) }

// An authentication holds the details of how a visitor was authenticated. A request's context
// carries it in addition to the Visitor.
type authentication struct {
	// session is the id of the session, if there is one, and hash the hash of the password,
	// if the request contained one.
	session digest
	hash    string
	// refused is the reason why authentication failed; nil if the request contained no
	// credentials.
	refused *Refused
}

type authenticationKey struct{}

// Why returns the reason why the request could not be authenticated. It returns nil if the request was
// authenticated or contained no credentials.
func Why(ctx context.Context) *Refused {
	s, _ := ctx.Value(authenticationKey{}).(authentication)
	return s.refused
}

// Identify returns a handler that calls next with the Visitor in the context of the request. loopbackOnly
// reports whether the listener has a loopback address. For an unauthenticated request, the Visitor is zero,
// and next decides whether to refuse the request.
func (g *Gate) Identify(loopbackOnly bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, s := g.visitor(r, loopbackOnly)
		next.ServeHTTP(w, r.WithContext(context.WithValue(With(r.Context(), v), authenticationKey{}, s)))
	})
}

// visitor authenticates a request. It tries, in this order, the headers of a proxy, the
// session cookie, Vouched and the password of the request. A wrong password returns the zero
// Visitor, even for a request from this host.
func (g *Gate) visitor(r *http.Request, loopbackOnly bool) (Visitor, authentication) {
	if name, groups, refused := g.proxied(r); refused != nil {
		return Visitor{}, authentication{refused: refused}
	} else if name != "" {
		return g.recognize(Identity{LoginName, name}, groups, Proxy), authentication{}
	}
	if id, s, ok := g.session(r); ok {
		return g.recognize(s.identity(), s.groups, Session), authentication{session: id}
	}
	if g.options.Vouched != nil {
		if name, via := g.options.Vouched(r); name != "" && !clean(name) {
			return Visitor{}, authentication{refused: &Refused{Status: http.StatusForbidden, Message: "the user name of your credentials contains unprintable characters or is too long",
				Hint: fmt.Sprintf("use a name of at most %d bytes of printable text", maxName)}}
		} else if name != "" {
			return g.recognize(Identity{LoginName, name}, nil, via), authentication{}
		}
	}
	if name, password, ok := r.BasicAuth(); ok && g.users != nil {
		hash, refused := g.basic(r, name, password)
		if refused != nil {
			return Visitor{}, authentication{refused: refused}
		}
		return g.recognize(Identity{LoginName, name}, nil, Password), authentication{hash: hash}
	}
	return g.anonymous(r, loopbackOnly)
}

// recognize returns the visitor with an identity, with the role and the person.
func (g *Gate) recognize(id Identity, groups []string, via Via) Visitor {
	v := Visitor{Name: id.ID, Role: g.roles.of(id.ID, groups), Via: via}
	if g.options.People == nil {
		return v
	}
	return g.options.People().Recognize(v, id)
}

// anonymous returns the visitor of a request without credentials.
func (g *Gate) anonymous(r *http.Request, loopbackOnly bool) (Visitor, authentication) {
	if g.options.Loopback == Nobody || !loopbackOnly || len(g.trusted) > 0 {
		return Visitor{}, authentication{}
	}
	if !fromLoopback(r) {
		return Visitor{}, authentication{refused: &Refused{Status: http.StatusUnauthorized,
			Message: "not logged in, and the request did not come directly from this host",
			Hint:    "log in, or open driftd at http://127.0.0.1 and its port; behind a proxy, configure server.access"}}
	}
	return Visitor{Name: onThisHost, Role: g.options.Loopback, Via: Loopback}, authentication{}
}

// Configured reports whether any authentication method is configured.
func (g *Gate) Configured() bool {
	return g.users != nil || g.openID != nil || len(g.trusted) > 0 || g.options.Vouched != nil
}

// Passwords reports whether login with a password is configured.
func (g *Gate) Passwords() bool { return g.users != nil }

// OpenID reports whether an OpenID provider is configured.
func (g *Gate) OpenID() bool { return g.openID != nil }

// Still reports whether the authentication in ctx is still valid: the session has not ended, and the
// password has not changed.
func (g *Gate) Still(ctx context.Context) bool {
	s, _ := ctx.Value(authenticationKey{}).(authentication)
	v := Of(ctx)
	switch {
	case v.Via == Session:
		_, ok := g.sessionOf(s.session)
		return ok
	case v.Via == Password && s.hash != "":
		return g.hashOf(v.Name) == s.hash
	}
	return true
}

// begin starts a session and sets its cookie. The previous session of the browser ends.
func (g *Gate) begin(w http.ResponseWriter, r *http.Request, s session) {
	if old, ok := g.cookie(r, sessionCookie); ok {
		g.sessions.end(digestOf(old))
	}
	id := rand.Text() + rand.Text()
	s.ends = g.options.Now().Add(g.options.Session)
	g.sessions.add(digestOf(id), s, g.options.Now())
	g.setCookie(w, r, sessionCookie, id, g.options.Session)
	g.options.Log.InfoContext(r.Context(), "logged in", "user", s.name, "role", g.roles.of(s.name, s.groups).String(), "address", g.client(r).String())
}

// Logout ends the session of the request and deletes its cookie.
func (g *Gate) Logout(w http.ResponseWriter, r *http.Request) {
	if id, ok := g.cookie(r, sessionCookie); ok {
		g.sessions.end(digestOf(id))
	}
	g.setCookie(w, r, sessionCookie, "", -1)
}

// session returns the session of a request, and its id.
func (g *Gate) session(r *http.Request) (digest, session, bool) {
	text, ok := g.cookie(r, sessionCookie)
	if !ok {
		return digest{}, session{}, false
	}
	id := digestOf(text)
	s, ok := g.sessionOf(id)
	return id, s, ok
}

// sessionOf returns the session with an id, unless it has expired or the user's password has
// changed since.
func (g *Gate) sessionOf(id digest) (session, bool) {
	s, ok := g.sessions.get(id, g.options.Now())
	if ok && s.hash != "" && g.hashOf(s.name) != s.hash {
		g.sessions.end(id)
		return session{}, false
	}
	return s, ok
}

// clean reports whether a name is printable and short enough for logs, pages and decisions.
func clean(name string) bool {
	return name != "" && len(name) <= maxName && strings.TrimSpace(name) == name && !strings.ContainsFunc(name, notShown)
}
