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

// MaxPassword is how long a password may be, in bytes: bcrypt takes no more.
const MaxPassword = 72

// Bounds of what is remembered of passwords that came with a request: a program
// that asks every few seconds costs one comparison.
const (
	rememberVerified = 5 * time.Minute
	maxVerified      = 1000
)

// verified are passwords that were right a short while ago, as keyed digests.
type verified struct {
	mu    sync.Mutex
	until map[digest]time.Time
}

// has tells whether a password was right a short while ago. Asking counts as
// another time that it was: a program that goes on asking is not compared again
// until the users' file changes.
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

// Login begins a session. The error is a *Refused.
func (g *Gate) Login(w http.ResponseWriter, r *http.Request, name, password string) error {
	if g.users == nil {
		return &Refused{Status: http.StatusForbidden, Message: "nobody logs in with a password here",
			Hint: "see server.access.users_file of the configuration"}
	}
	hash, refused := g.compare(r, g.laneOf(r, name), name, password)
	if refused != nil {
		return refused
	}
	g.begin(w, r, session{name: name, hash: hash})
	g.setKnown(w, r, name)
	return nil
}

// basic verifies the password that comes with a request, and returns its hash.
func (g *Gate) basic(r *http.Request, name, password string) (hash string, refused *Refused) {
	hash = g.hashOf(name)
	d := digest(g.mac("basic", name, password, hash))
	if now := g.options.Now(); hash != "" && g.verified.has(d, now) {
		return hash, nil
	}
	compared, refused := g.compare(r, g.publicLane(r), name, password)
	if refused != nil {
		return "", refused
	}
	if compared == hash {
		g.verified.add(d, g.options.Now())
	}
	return compared, nil
}

// compare returns the hash of the name's password, where it is that. Names that
// there are not take as long.
func (g *Gate) compare(r *http.Request, l lane, name, password string) (hash string, refused *Refused) {
	if len(password) > MaxPassword {
		return "", &Refused{Status: http.StatusUnauthorized, Message: "the password is longer than 72 bytes",
			Hint: "bcrypt takes no more: choose a shorter one"}
	}
	leave, refused := g.enter(r, l)
	if refused != nil {
		return "", refused
	}
	defer leave()
	hash, isUser := g.hashOrOther(name)
	right := bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil
	switch {
	case right && isUser:
		g.failures.give(l.name, g.options.Now())
		return hash, nil
	case isUser:
		g.options.Log.WarnContext(r.Context(), "login refused: wrong password", "user", name, "address", g.client(r).String())
	default:
		// A name that there is not may be a password in the wrong field.
		g.options.Log.WarnContext(r.Context(), "login refused: no such user", "address", g.client(r).String())
	}
	return "", &Refused{Status: http.StatusUnauthorized, Message: "name or password is wrong",
		Hint: "try again; whoever keeps the users' file can set a new one"}
}

// hashOf returns the hash of a user's password; "" for a name that there is not.
func (g *Gate) hashOf(name string) string {
	if g.users == nil {
		return ""
	}
	g.renew()
	return g.users.find(name)
}

// hashOrOther returns the hash of a user's password, or one that costs as much.
func (g *Gate) hashOrOther(name string) (hash string, isUser bool) {
	if hash = g.hashOf(name); hash != "" {
		return hash, true
	}
	return g.users.other(g.mac("other", name)), false
}

// renew reads the users' file again where it changed, and ends the sessions of
// those who are gone or have another password.
func (g *Gate) renew() {
	if !g.users.renew(g.options.Now()) {
		return
	}
	g.verified.clear()
	g.sessions.endUnless(func(s session) bool {
		return s.hash == "" || s.hash == g.users.find(s.name)
	})
}

// mac signs parts for one purpose. Parts with other borders have another
// signature.
func (g *Gate) mac(purpose string, parts ...string) [sha256.Size]byte {
	h := hmac.New(sha256.New, g.key)
	for _, part := range append([]string{purpose}, parts...) {
		sum := sha256.Sum256([]byte(part))
		_, _ = h.Write(sum[:]) // it never fails
	}
	return [sha256.Size]byte(h.Sum(nil))
}
