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

// maxForm is the maximum size of a form with a CSRF token, in bytes.
const maxForm = 64 << 10

// Token returns a CSRF token, which the forms of a page send as "csrf". It must be called before the page
// is written, because it may set a cookie. Each call masks the token with different random bytes, so that
// the size of a compressed page does not reveal it.
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

// visitOf returns the visit id that this response sets, or sets a new one.
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

// expected returns the unmasked CSRF token of the visitor. It is bound to their session, or
// without one to their name and the visit id of their browser.
func (g *Gate) expected(r *http.Request) (want [sha256.Size]byte, ok bool) {
	if s, _ := r.Context().Value(authenticationKey{}).(authentication); Of(r.Context()).Via == Session {
		return g.mac("session", string(s.session[:])), true
	}
	visit, ok := g.cookie(r, visitCookie)
	return g.mac("visit", visit, Of(r.Context()).Name), ok
}

// Genuine returns a *Refused if a request that changes state may be a cross-site request forgery. It
// accepts requests from a page of driftd, which contain a token as "csrf" in the form or in the header
// X-CSRF-Token, and API requests that do not come from a browser. It does not check the role.
func (g *Gate) Genuine(r *http.Request) error {
	if Of(r.Context()).Via == Local || isProgram(r) {
		return nil
	}
	if err := g.origins.Check(r); err != nil {
		return &Refused{Status: http.StatusForbidden, Message: "the request came from a page of another site",
			Hint: "repeat it on a page of driftd"}
	}
	if want, ok := g.expected(r); ok {
		if got, err := base64.RawURLEncoding.DecodeString(sentToken(r)); err == nil && len(got) == 2*sha256.Size {
			subtle.XORBytes(got, got[:sha256.Size], got[sha256.Size:])
			if hmac.Equal(got[:sha256.Size], want[:]) {
				return nil
			}
		}
	}
	return &Refused{Status: http.StatusForbidden, Message: "the page has expired",
		Hint: "reload it and try again; programs use /api/v1/, with a user name and a password, and send no cookie"}
}

// isProgram reports whether a request to the API cannot be a forgery: browsers add an Origin
// to the requests that a page of another site sends to change state.
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

// sentToken returns the CSRF token of a request, from the header or the form.
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
