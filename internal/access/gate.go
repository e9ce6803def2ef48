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

// Options say who may come in, and how. The zero Options let nobody in.
type Options struct {
	// Loopback is what whoever reaches an address of this host alone may do
	// without saying who they are.
	Loopback Role
	// UsersFile holds names and bcrypt hashes; "" means that nobody logs in with
	// a password.
	UsersFile string
	// OpenID is a provider at which people log in; without an issuer there is
	// none.
	OpenID OpenIDClient
	// Proxy is a reverse proxy that says who asks; without a trusted address
	// there is none.
	Proxy ReverseProxy
	Roles Roles
	// Session is how long a login holds; 0 means 12 hours.
	Session time.Duration
	// URL is where people reach the pages; an OpenID provider sends them back
	// there.
	URL string
	// Vouched names whom the server in front has already verified, and how; ""
	// where it has not. It may be nil.
	Vouched func(*http.Request) (name string, via Via)
	Now     func() time.Time
	Log     *slog.Logger
}

// DefaultSession is how long a login holds where nothing is said of it.
const DefaultSession = 12 * time.Hour

// A Gate finds out who asks, and lets them log in and out. It is safe for
// concurrent use, and starts nothing in the background.
type Gate struct {
	options Options
	// key is of everything that is signed; it lives as long as the Gate.
	key      []byte
	roles    roleTable
	trusted  []netip.Prefix
	users    *users
	verified verified
	sessions sessions
	failures failures
	// hashing is for everybody, hashingKnown for browsers that are known.
	hashing, hashingKnown queue
	openID                *openID
	public                *url.URL
	origins               *http.CrossOriginProtection
}

// New returns a Gate. It reads the users' file and the files of the OpenID
// client, and reaches nobody.
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

// publicURL reads the address of the pages; "" gives an empty one.
func publicURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || text != "" && (u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("read the address of the pages: want one such as https://driftd.example.org")
	}
	return u, nil
}

// A Refused says to people why they may not.
type Refused struct {
	// Status is the HTTP status code: 401, 403, 429, or 503 where the OpenID
	// provider does not answer.
	Status        int
	Message, Hint string
	// RetryAfter is how long to wait where Status is 429 or 503.
	RetryAfter time.Duration
}

// Error returns message and hint on one line.
func (r *Refused) Error() string { return r.Message + ": " + r.Hint }

// Seconds is how long to wait, in whole seconds; 0 where nobody knows.
func (r *Refused) Seconds() int { return int(math.Ceil(r.RetryAfter.Seconds())) }

// A standing is what a request's context carries beside the Visitor.
type standing struct {
	// session is the visitor's, where they are known by one, and hash that of
	// the password, where they are known by it.
	session digest
	hash    string
	// refused says why the visitor is nobody, where there is more to say than
	// that nobody is logged in.
	refused *Refused
}

type standingKey struct{}

// Why tells why the visitor of a context is nobody, or whoever they would be
// without what was wrong with their request; nil where there is no more to say
// than that nobody is logged in.
func Why(ctx context.Context) *Refused {
	s, _ := ctx.Value(standingKey{}).(standing)
	return s.refused
}

// Identify serves next with the Visitor in the request's context. LoopbackOnly
// tells that the listener has an address which only this host reaches. Whoever
// is not known is nobody; next decides what nobody may do.
func (g *Gate) Identify(loopbackOnly bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, s := g.visitor(r, loopbackOnly)
		next.ServeHTTP(w, r.WithContext(context.WithValue(With(r.Context(), v), standingKey{}, s)))
	})
}

// visitor finds out who asks: who a proxy says, then whose session it is, then
// who the server in front has verified, then whose password comes with it. A
// password that is wrong makes nobody, even on this host.
func (g *Gate) visitor(r *http.Request, loopbackOnly bool) (Visitor, standing) {
	if name, groups, refused := g.proxied(r); refused != nil {
		return Visitor{}, standing{refused: refused}
	} else if name != "" {
		return Visitor{Name: name, Role: g.roles.of(name, groups), Via: Proxy}, standing{}
	}
	if id, s, ok := g.session(r); ok {
		return Visitor{Name: s.name, Role: g.roles.of(s.name, s.groups), Via: Session}, standing{session: id}
	}
	if g.options.Vouched != nil {
		if name, via := g.options.Vouched(r); name != "" && !clean(name) {
			return Visitor{}, standing{refused: &Refused{Status: http.StatusForbidden, Message: "the name that you are verified by cannot be shown",
				Hint: fmt.Sprintf("take one of at most %d bytes of printable text", maxName)}}
		} else if name != "" {
			return Visitor{Name: name, Role: g.roles.of(name, nil), Via: via}, standing{}
		}
	}
	if name, password, ok := r.BasicAuth(); ok && g.users != nil {
		hash, refused := g.basic(r, name, password)
		if refused != nil {
			return Visitor{}, standing{refused: refused}
		}
		return Visitor{Name: name, Role: g.roles.of(name, nil), Via: Password}, standing{hash: hash}
	}
	return g.anonymous(r, loopbackOnly)
}

// anonymous is who asks without saying who they are.
func (g *Gate) anonymous(r *http.Request, loopbackOnly bool) (Visitor, standing) {
	if g.options.Loopback == Nobody || !loopbackOnly || len(g.trusted) > 0 {
		return Visitor{}, standing{}
	}
	if !fromLoopback(r) {
		return Visitor{}, standing{refused: &Refused{Status: http.StatusUnauthorized,
			Message: "nobody is logged in, and this did not come straight from this host",
			Hint:    "open driftd by an address such as http://127.0.0.1 with its port, or log in; behind a proxy see server.access"}}
	}
	return Visitor{Name: "somebody on this host", Role: g.options.Loopback, Via: Loopback}, standing{}
}

// Knows tells whether there is a way for anybody to be known.
func (g *Gate) Knows() bool {
	return g.users != nil || g.openID != nil || len(g.trusted) > 0 || g.options.Vouched != nil
}

// Passwords tells whether people log in with a password.
func (g *Gate) Passwords() bool { return g.users != nil }

// OpenID tells whether people log in at an OpenID provider.
func (g *Gate) OpenID() bool { return g.openID != nil }

// Still tells whether the visitor of a context is who they were: whether their
// session goes on, and their password is what it was.
func (g *Gate) Still(ctx context.Context) bool {
	s, _ := ctx.Value(standingKey{}).(standing)
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

// begin begins a session: with the hash of the password where it was one. What
// session the browser had before ends.
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

// Logout ends the request's session, for every holder of its cookie.
func (g *Gate) Logout(w http.ResponseWriter, r *http.Request) {
	if id, ok := g.cookie(r, sessionCookie); ok {
		g.sessions.end(digestOf(id))
	}
	g.setCookie(w, r, sessionCookie, "", -1)
}

// session returns the session that goes with a request.
func (g *Gate) session(r *http.Request) (digest, session, bool) {
	text, ok := g.cookie(r, sessionCookie)
	if !ok {
		return digest{}, session{}, false
	}
	id := digestOf(text)
	s, ok := g.sessionOf(id)
	return id, s, ok
}

// sessionOf returns a session that goes on: in time, and of somebody whose
// password is what it was.
func (g *Gate) sessionOf(id digest) (session, bool) {
	s, ok := g.sessions.get(id, g.options.Now())
	if ok && s.hash != "" && g.hashOf(s.name) != s.hash {
		g.sessions.end(id)
		return session{}, false
	}
	return s, ok
}

// clean tells a name that can stand in logs, pages and decisions.
func clean(name string) bool {
	return name != "" && len(name) <= maxName && strings.TrimSpace(name) == name && !strings.ContainsFunc(name, notShown)
}
