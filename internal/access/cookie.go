package access

import (
	"net/http"
	"strings"
	"time"
)

// The cookies, without the prefix that they have over TLS.
const (
	sessionCookie = "driftd-session"
	visitCookie   = "driftd-visit"
	openIDCookie  = "driftd-openid"
	knownCookie   = "driftd-known"
)

// hostPrefix keeps other hosts of the domain, and plain HTTP, from setting a
// cookie (RFC 6265bis, section 4.1.3).
const hostPrefix = "__Host-"

// maxCookie bounds a cookie's value, in bytes.
const maxCookie = 3500

// secure tells whether the visitor's browser speaks TLS: to us, to a trusted
// proxy, or to whatever has the host name of the pages' https address.
func (g *Gate) secure(r *http.Request) bool {
	if r.TLS != nil || g.isTrusted(peer(r)) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		return true
	}
	return g.public.Scheme == "https" && strings.EqualFold(r.Host, g.public.Host)
}

func (g *Gate) cookieName(r *http.Request, name string) string {
	if g.secure(r) {
		return hostPrefix + name
	}
	return name
}

// cookie returns a cookie of a request.
func (g *Gate) cookie(r *http.Request, name string) (value string, ok bool) {
	c, err := r.Cookie(g.cookieName(r, name))
	if err != nil || c.Value == "" || len(c.Value) > maxCookie {
		return "", false
	}
	return c.Value, true
}

// setCookie sets a cookie for a time, or removes it with a negative one. A time
// of 0 is as long as the browser runs.
func (g *Gate) setCookie(w http.ResponseWriter, r *http.Request, name, value string, length time.Duration) {
	age := int(length / time.Second)
	if length < 0 {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookieName(r, name), Value: value, Path: "/", MaxAge: age,
		Secure: g.secure(r), HttpOnly: true, SameSite: http.SameSiteLaxMode})
}
