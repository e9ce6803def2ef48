package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"mime"
	"net/http"
	"strings"
)

// maxForm bounds the form in which a token comes, in bytes.
const maxForm = 64 << 10

// Token returns what a form of the visitor's page must send along as "csrf" to
// be genuine. It may set a cookie: it is called before the page is written. Each
// call returns another text for the same, so that a compressed page tells nobody
// what it is by its length.
func (g *Gate) Token(w http.ResponseWriter, r *http.Request) string {
	want, ok := g.expected(r)
	if !ok {
		visit := g.visitOf(w, r)
		want = g.mac("visit", visit, Of(r.Context()).Name)
	}
	pad := make([]byte, sha256.Size, 2*sha256.Size)
	_, _ = rand.Read(pad) // it never fails
	masked := make([]byte, sha256.Size)
	subtle.XORBytes(masked, pad, want[:])
	return base64.RawURLEncoding.EncodeToString(append(pad, masked...))
}

// visitOf returns the visit that this answer has begun already, or begins one.
func (g *Gate) visitOf(w http.ResponseWriter, r *http.Request) string {
	for _, c := range (&http.Response{Header: w.Header()}).Cookies() {
		if c.Name == g.cookieName(r, visitCookie) {
			return c.Value
		}
	}
	visit := rand.Text()
	g.setCookie(w, r, visitCookie, visit, 0)
	return visit
}

// expected returns what a token of the visitor's says: it is bound to their
// session, or else to the visit of their browser and to their name.
func (g *Gate) expected(r *http.Request) (want [sha256.Size]byte, ok bool) {
	if s, _ := r.Context().Value(standingKey{}).(standing); Of(r.Context()).Via == Session {
		return g.mac("session", string(s.session[:])), true
	}
	visit, ok := g.cookie(r, visitCookie)
	return g.mac("visit", visit, Of(r.Context()).Name), ok
}

// Genuine tells whether a request that changes something was meant by its
// visitor. It comes from a page of driftd, with a token as "csrf" in its form or
// in X-CSRF-Token; or, for the API, from a program, which no browser made send
// it. It does not ask what the visitor may do. The error is a *Refused.
func (g *Gate) Genuine(r *http.Request) error {
	if Of(r.Context()).Via == Local || isProgram(r) {
		return nil
	}
	if err := g.origins.Check(r); err != nil {
		return &Refused{Status: http.StatusForbidden, Message: "another site has asked for this",
			Hint: "do it on driftd's own page"}
	}
	if want, ok := g.expected(r); ok {
		if got, err := base64.RawURLEncoding.DecodeString(sentToken(r)); err == nil && len(got) == 2*sha256.Size {
			subtle.XORBytes(got, got[:sha256.Size], got[sha256.Size:])
			if hmac.Equal(got[:sha256.Size], want[:]) {
				return nil
			}
		}
	}
	return &Refused{Status: http.StatusForbidden, Message: "the page is too old to act on",
		Hint: "load it again and repeat it; programs send a user's name and password, and no cookie"}
}

// isProgram tells a request to the API that no page of another site can make a
// browser send unnoticed: those that change something have an Origin.
func isProgram(r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, "/api/v1/") {
		return false
	}
	for _, name := range []string{"Cookie", "Origin", "Sec-Fetch-Site"} {
		if len(r.Header.Values(name)) > 0 {
			return false
		}
	}
	return r.Header.Get("Authorization") != "" || Of(r.Context()).Via == Certificate
}

// sentToken returns the token that comes with a request.
func sentToken(r *http.Request) string {
	if token := r.Header.Get("X-CSRF-Token"); token != "" {
		return token
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return ""
	}
	if r.PostForm == nil {
		r.Body = http.MaxBytesReader(nil, r.Body, maxForm)
	}
	return r.PostFormValue("csrf")
}
