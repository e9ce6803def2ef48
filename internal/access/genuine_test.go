package access

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// A sender is somebody with cookies who sends a form.
type sender struct {
	h       *house
	cookies []*http.Cookie
}

// token opens a page and returns the token in it; cookies that the page sets are
// kept.
func (s *sender) token() string {
	w := httptest.NewRecorder()
	token := s.h.Token(w, s.h.identified(get(s.cookies...)))
	s.cookies = append(s.cookies, kept(w)...)
	return token
}

func (s *sender) send(method, path, body string, headers ...string) error {
	r := httptest.NewRequest(method, "http://driftd.example.org"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	for _, c := range s.cookies {
		r.AddCookie(c)
	}
	return s.h.Genuine(s.h.identified(r))
}

func TestGenuine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason  string
		headers []string
		// path is /scan unless told; body has TOKEN where the token goes.
		path, body string
		refused    string
	}{
		"form":            {reason: "a form of the page", body: "csrf=TOKEN", headers: []string{"Sec-Fetch-Site: same-origin", "Origin: http://driftd.example.org"}},
		"old browser":     {reason: "one that says nothing of itself", body: "x=1&csrf=TOKEN"},
		"header":          {reason: "a script of the page", headers: []string{"X-CSRF-Token: TOKEN", "Content-Type: application/json"}, body: "{}"},
		"no token":        {reason: "what any page may make a browser send", refused: "too old"},
		"empty token":     {reason: "nothing is no token", body: "csrf=", refused: "too old"},
		"wrong token":     {reason: "another text of the same length", body: "csrf=" + strings.Repeat("A", 86), refused: "too old"},
		"short token":     {reason: "half a token", body: "csrf=AAAA", refused: "too old"},
		"in the address":  {reason: "addresses are logged and passed on", path: "/scan?csrf=TOKEN", refused: "too old"},
		"plain text":      {reason: "a form of another kind is no form of ours", headers: []string{"Content-Type: text/plain"}, body: "csrf=TOKEN", refused: "too old"},
		"another site":    {reason: "even with a token", headers: []string{"Sec-Fetch-Site: cross-site"}, body: "csrf=TOKEN", refused: "another site"},
		"same site":       {reason: "a neighbour of the domain is another site", headers: []string{"Sec-Fetch-Site: same-site"}, body: "csrf=TOKEN", refused: "another site"},
		"another origin":  {reason: "an older browser says where from", headers: []string{"Origin: http://evil.example.org"}, body: "csrf=TOKEN", refused: "another site"},
		"opaque origin":   {reason: "a frame that hides where it is from", headers: []string{"Origin: null"}, body: "csrf=TOKEN", refused: "another site"},
		"another port":    {reason: "another program of the host", headers: []string{"Origin: http://driftd.example.org:8080"}, body: "csrf=TOKEN", refused: "another site"},
		"large":           {reason: "a form has an end", body: "x=" + strings.Repeat("a", maxForm) + "&csrf=TOKEN", refused: "too old"},
		"program by form": {reason: "the forms of people want tokens always", path: "/findings/1/decide", headers: []string{"Authorization: Basic Ym9iOnN3b3JkZmlzaA=="}, refused: "too old"},
		"with a cookie":   {reason: "a browser that has a password, too", path: "/api/v1/scan", headers: []string{"Authorization: Basic Ym9iOnN3b3JkZmlzaA=="}, refused: "too old"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := withUsers(t, Options{})
			for who, cookies := range map[string][]*http.Cookie{"a visitor": nil, "alice": h.login(get(), "alice", "open sesame")} {
				s := &sender{h: h, cookies: cookies}
				token := s.token()
				fill := strings.NewReplacer("TOKEN", token).Replace
				headers := make([]string, len(tt.headers))
				for i, header := range tt.headers {
					headers[i] = fill(header)
				}
				path := tt.path
				if path == "" {
					path = "/scan"
				}
				err := s.send(http.MethodPost, fill(path), fill(tt.body), headers...)
				if tt.refused == "" && err != nil {
					t.Errorf("%s: %s is refused: %v", tt.reason, who, err)
				}
				if tt.refused != "" {
					refused(t, err, 403, tt.refused)
				}
			}
		})
	}
}

func TestTokensAreBound(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{})
	alice := &sender{h: h, cookies: h.login(get(), "alice", "open sesame")}
	again := &sender{h: h, cookies: h.login(get(), "alice", "open sesame")}
	visitor, other := &sender{h: h}, &sender{h: h}
	token := alice.token()
	if err := alice.send(http.MethodPost, "/scan", url.Values{"csrf": {token}}.Encode()); err != nil {
		t.Fatal(err)
	}
	if second := alice.token(); second == token {
		t.Error("a token looks the same each time: its length when compressed tells it")
	}
	for name, s := range map[string]*sender{"another session of hers": again, "a visitor": visitor} {
		_ = s.token()
		refused(t, s.send(http.MethodPost, "/scan", url.Values{"csrf": {token}}.Encode()), 403, "too old")
		t.Log(name, "cannot use it")
	}
	visit := visitor.token()
	if err := visitor.send(http.MethodPost, "/login", url.Values{"csrf": {visit}}.Encode()); err != nil {
		t.Fatal(err)
	}
	_ = other.token()
	refused(t, other.send(http.MethodPost, "/login", url.Values{"csrf": {visit}}.Encode()), 403, "too old")
	// A visit that an attacker plants in a browser of alice's password is another
	// person's visit.
	planted := visitor.cookies
	r := httptest.NewRequest(http.MethodPost, "/scan", form(url.Values{"csrf": {visit}}))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("alice", "open sesame")
	for _, c := range planted {
		r.AddCookie(c)
	}
	refused(t, h.Genuine(h.identified(r)), 403, "too old")

	h.Logout(httptest.NewRecorder(), get(alice.cookies...))
	refused(t, alice.send(http.MethodPost, "/scan", url.Values{"csrf": {token}}.Encode()), 403, "too old")
}

func TestOnePageHasOneVisit(t *testing.T) {
	t.Parallel()
	h := newHouse(t, Options{})
	w, r := httptest.NewRecorder(), h.identified(get())
	first, second := h.Token(w, r), h.Token(w, r)
	cookies := kept(w)
	if len(cookies) != 1 {
		t.Fatalf("cookies = %v", cookies)
	}
	s := &sender{h: h, cookies: cookies}
	for _, token := range []string{first, second} {
		if err := s.send(http.MethodPost, "/scan", url.Values{"csrf": {token}}.Encode()); err != nil {
			t.Error(err)
		}
	}
	if w := httptest.NewRecorder(); h.Token(w, h.identified(get(cookies...))) == "" || len(kept(w)) > 0 {
		t.Error("the next page begins another visit")
	}
}

func TestProgramsNeedNoToken(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{Vouched: func(r *http.Request) (string, Via) {
		if r.Header.Get("Test-Certificate") == "" {
			return "", ""
		}
		return "backup", Certificate
	}})
	tests := map[string]struct {
		reason  string
		path    string
		headers []string
		refused bool
	}{
		"password":    {reason: "a program sends its own", path: "/api/v1/scan", headers: []string{"Authorization: Basic Ym9iOnN3b3JkZmlzaA=="}},
		"certificate": {reason: "or has a certificate", path: "/api/v1/scan", headers: []string{"Test-Certificate: yes"}},
		"neither":     {reason: "or is a browser that hides something", path: "/api/v1/scan", refused: true},
		"origin":      {reason: "a browser says where from", path: "/api/v1/scan", headers: []string{"Authorization: Basic Ym9iOnN3b3JkZmlzaA==", "Origin: http://driftd.example.org"}, refused: true},
		"site":        {reason: "or what it is to us", path: "/api/v1/scan", headers: []string{"Test-Certificate: yes", "Sec-Fetch-Site: none"}, refused: true},
		"page":        {reason: "pages are for people", path: "/scan", headers: []string{"Test-Certificate: yes"}, refused: true},
		"like one":    {reason: "a path is not the API's for beginning like one", path: "/api/v10/scan", headers: []string{"Test-Certificate: yes"}, refused: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := h.Genuine(h.identified(request(http.MethodPost, tt.path, "192.0.2.1:1", tt.headers)))
			if (err != nil) != tt.refused {
				t.Errorf("%s: Genuine() = %v", tt.reason, err)
			}
		})
	}
	local := request(http.MethodPost, "/api/v1/scan", "@", nil)
	if err := h.Genuine(local.WithContext(With(local.Context(), Visitor{"root", Approver, Local}))); err != nil {
		t.Errorf("who uses the socket: %v", err)
	}
}

// TestOriginBehindAProxy has a proxy that changes the Host of what it passes on.
func TestOriginBehindAProxy(t *testing.T) {
	t.Parallel()
	h := newHouse(t, Options{URL: "https://pages.example.org/driftd"})
	s := &sender{h: h}
	token := url.Values{"csrf": {s.token()}}.Encode()
	if err := s.send(http.MethodPost, "/scan", token, "Origin: https://pages.example.org"); err != nil {
		t.Error(err)
	}
	refused(t, s.send(http.MethodPost, "/scan", token, "Origin: https://other.example.org"), 403, "another site")
}
