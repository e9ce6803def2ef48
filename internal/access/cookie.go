package access

import (
	"net/http"
	"strings"
	"time"
)

// The names of the cookies, without the prefix that they have over TLS.
const (
	sessionCookie = "driftd-session"
	visitCookie   = "driftd-visit"
	openIDCookie  = "driftd-openid"
	knownCookie   = "driftd-known"
)

// hostPrefix prevents other hosts of the domain, and plain HTTP, from setting a cookie (RFC
// 6265bis, section 4.1.3).
const hostPrefix = "__Host-"

// maxCookie is the maximum size of a cookie's value, in bytes.
const maxCookie = 3500

// secure reports whether the visitor's browser uses TLS: to this server, to a trusted proxy, or
// to the host of the https address of the pages.
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

// cookie returns the value of a cookie of a request.
func (g *Gate) cookie(r *http.Request, name string) (value string, ok bool) {
	c, err := r.Cookie(g.cookieName(r, name))
	if err != nil || c.Value == "" || len(c.Value) > maxCookie {
		return "", false
	}
	return c.Value, true
}

// setCookie sets a cookie for the given duration. A negative duration removes it; 0 sets a
// cookie that the browser removes when it exits.
func (g *Gate) setCookie(w http.ResponseWriter, r *http.Request, name, value string, length time.Duration) {
	age := int(length / time.Second)
	if length < 0 {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{Name: g.cookieName(r, name), Value: value, Path: "/", MaxAge: age,
		Secure: g.secure(r), HttpOnly: true, SameSite: http.SameSiteLaxMode})
}
