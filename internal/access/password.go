package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"maps"
	"net/http"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// MaxPassword is the maximum length of a password in bytes, which is the limit of bcrypt.
const MaxPassword = 72

// Limits of the cache of verified passwords. With it, a program that sends a request every few
// seconds needs only one bcrypt comparison.
const (
	rememberVerified = 5 * time.Minute
	maxVerified      = 1000
)

// verified caches passwords that were recently verified, as keyed digests.
type verified struct {
	mu    sync.Mutex
	until map[digest]time.Time
}

// has reports whether a password was recently verified, and extends its lifetime in the cache.
// The password of a program that keeps sending requests is not compared again until the users
// file changes.
func (v *verified) has(d digest, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !now.Before(v.until[d]) {
		return false
	}
	v.until[d] = now.Add(rememberVerified)
	return true
}

func (v *verified) add(d digest, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.until) >= maxVerified {
		maps.DeleteFunc(v.until, func(_ digest, ends time.Time) bool { return !now.Before(ends) })
	}
	if len(v.until) >= maxVerified {
		clear(v.until)
	}
	v.until[d] = now.Add(rememberVerified)
}

func (v *verified) clear() {
	v.mu.Lock()
	defer v.mu.Unlock()
	clear(v.until)
}

// Login verifies a password and starts a session. If the login is refused, it returns a *Refused.
func (g *Gate) Login(w http.ResponseWriter, r *http.Request, name, password string) error {
	if g.users == nil {
		return &Refused{Status: http.StatusForbidden, Message: "login with a password is not configured",
			Hint: "set server.access.users_file in the configuration"}
	}
	hash, refused := g.compare(r, g.limiterOf(r, name), name, password)
	if refused != nil {
		return refused
	}
	g.begin(w, r, session{name: name, hash: hash})
	g.setKnown(w, r, name)
	return nil
}

// basic verifies the password in the Authorization header of a request, and returns its hash.
func (g *Gate) basic(r *http.Request, name, password string) (hash string, refused *Refused) {
	hash = g.hashOf(name)
	d := digest(g.mac("basic", name, password, hash))
	if now := g.options.Now(); hash != "" && g.verified.has(d, now) {
		return hash, nil
	}
	compared, refused := g.compare(r, g.networkLimiter(r), name, password)
	if refused != nil {
		return "", refused
	}
	if compared == hash {
		g.verified.add(d, g.options.Now())
	}
	return compared, nil
}

// compare verifies a password and returns its hash. It takes as long for unknown users.
func (g *Gate) compare(r *http.Request, l limiter, name, password string) (hash string, refused *Refused) {
	if len(password) > MaxPassword {
		return "", &Refused{Status: http.StatusUnauthorized, Message: "the password is longer than 72 bytes",
			Hint: "this is the limit of bcrypt: choose a shorter one"}
	}
	leave, refused := g.enter(r, l)
	if refused != nil {
		return "", refused
	}
	defer leave()
	hash, isUser := g.hashOrDummy(name)
	right := bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
	switch {
	case right && isUser:
		g.failures.give(l.bucket, g.options.Now())
		return hash, nil
	case isUser:
		g.options.Log.WarnContext(r.Context(), "login refused: wrong password", "user", name, "address", g.client(r).String())
	default:
		// An unknown name is not logged: it may be a password in the wrong field.
		g.options.Log.WarnContext(r.Context(), "login refused: unknown user", "address", g.client(r).String())
	}
	return "", &Refused{Status: http.StatusUnauthorized, Message: "wrong user name or password",
		Hint: "try again; the administrator of the users file can set a new password"}
}

// hashOf returns the hash of a user's password, or "" for an unknown user.
func (g *Gate) hashOf(name string) string {
	if g.users == nil {
		return ""
	}
	g.renew()
	return g.users.find(name)
}

// hashOrDummy returns the hash of a user's password, or for an unknown user one that costs as
// much and matches no password.
func (g *Gate) hashOrDummy(name string) (hash string, isUser bool) {
	if hash = g.hashOf(name); hash != "" {
		return hash, true
	}
	return g.users.dummy(g.mac("other", name)), false
}

// renew reads the users file again if it has changed, and ends the sessions of users who were
// removed or have a new password.
func (g *Gate) renew() {
	if !g.users.renew(g.options.Now()) {
		return
	}
	g.verified.clear()
	g.sessions.endUnless(func(s session) bool {
		return s.hash == "" || s.hash == g.users.find(s.name)
	})
}

// mac returns the HMAC of a purpose and parts. Each part is hashed separately, so that the
// boundaries between parts are signed as well.
func (g *Gate) mac(purpose string, parts ...string) [sha256.Size]byte {
	h := hmac.New(sha256.New, g.key)
	for _, part := range append([]string{purpose}, parts...) {
		sum := sha256.Sum256([]byte(part))
		_, _ = h.Write(sum[:]) // it never fails
	}
	return [sha256.Size]byte(h.Sum(nil))
}
