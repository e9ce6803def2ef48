package access

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// A sender sends forms with cookies.
type sender struct {
	h       *fixture
	cookies []*http.Cookie
}

// token requests a page and returns its token. It keeps the cookies that the page sets.
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
		// path is /scan if empty. TOKEN in the path, body and headers is replaced by the token.
		path, body string
		refused    string
	}{
		"form":            {reason: "a form of the page", body: "csrf=TOKEN", headers: []string{"Sec-Fetch-Site: same-origin", "Origin: http://driftd.example.org"}},
		"old browser":     {reason: "a browser that sends neither Origin nor Sec-Fetch-Site", body: "x=1&csrf=TOKEN"},
		"header":          {reason: "a script of the page", headers: []string{"X-CSRF-Token: TOKEN", "Content-Type: application/json"}, body: "{}"},
		"no token":        {reason: "a form without a token", refused: "page has expired"},
		"empty token":     {reason: "an empty token", body: "csrf=", refused: "page has expired"},
		"wrong token":     {reason: "another text of the same length", body: "csrf=" + strings.Repeat("A", 86), refused: "page has expired"},
		"short token":     {reason: "half a token", body: "csrf=AAAA", refused: "page has expired"},
		"in the address":  {reason: "a token in the URL is ignored: URLs are logged", path: "/scan?csrf=TOKEN", refused: "page has expired"},
		"plain text":      {reason: "only urlencoded forms are read", headers: []string{"Content-Type: text/plain"}, body: "csrf=TOKEN", refused: "page has expired"},
		"another site":    {reason: "a request of another site, with a valid token", headers: []string{"Sec-Fetch-Site: cross-site"}, body: "csrf=TOKEN", refused: "another site"},
		"same site":       {reason: "another host of the same site", headers: []string{"Sec-Fetch-Site: same-site"}, body: "csrf=TOKEN", refused: "another site"},
		"another origin":  {reason: "an older browser sends only the Origin", headers: []string{"Origin: http://evil.example.org"}, body: "csrf=TOKEN", refused: "another site"},
		"opaque origin":   {reason: "a sandboxed frame has the Origin null", headers: []string{"Origin: null"}, body: "csrf=TOKEN", refused: "another site"},
		"another port":    {reason: "another server on the same host", headers: []string{"Origin: http://driftd.example.org:8080"}, body: "csrf=TOKEN", refused: "another site"},
		"large":           {reason: "the form exceeds the maximum size", body: "x=" + strings.Repeat("a", maxForm) + "&csrf=TOKEN", refused: "page has expired"},
		"program by form": {reason: "pages always require a token", path: "/findings/1/decide", headers: []string{"Authorization: Basic Ym9iOnN3b3JkZmlzaA=="}, refused: "page has expired"},
		"with a cookie":   {reason: "a browser with a cookie and a password", path: "/api/v1/scan", headers: []string{"Authorization: Basic Ym9iOnN3b3JkZmlzaA=="}, refused: "page has expired"},
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
		t.Error("the token is not masked anew on each call")
	}
	for name, s := range map[string]*sender{"another session of hers": again, "a visitor": visitor} {
		_ = s.token()
		refused(t, s.send(http.MethodPost, "/scan", url.Values{"csrf": {token}}.Encode()), 403, "page has expired")
		t.Log(name, "cannot use it")
	}
	visit := visitor.token()
	if err := visitor.send(http.MethodPost, "/login", url.Values{"csrf": {visit}}.Encode()); err != nil {
		t.Fatal(err)
	}
	_ = other.token()
	refused(t, other.send(http.MethodPost, "/login", url.Values{"csrf": {visit}}.Encode()), 403, "page has expired")
	// A visit cookie that an attacker plants in alice's browser does not make the attacker's
	// token valid.
	planted := visitor.cookies
	r := httptest.NewRequest(http.MethodPost, "/scan", form(url.Values{"csrf": {visit}}))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth("alice", "open sesame")
	for _, c := range planted {
		r.AddCookie(c)
	}
	refused(t, h.Genuine(h.identified(r)), 403, "page has expired")

	h.Logout(httptest.NewRecorder(), get(alice.cookies...))
	refused(t, alice.send(http.MethodPost, "/scan", url.Values{"csrf": {token}}.Encode()), 403, "page has expired")
}

func TestOnePageHasOneVisit(t *testing.T) {
	t.Parallel()
	h := newFixture(t, Options{})
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
		t.Error("the next page sets another visit cookie")
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
		"password":    {reason: "a program sends a password", path: "/api/v1/scan", headers: []string{"Authorization: Basic Ym9iOnN3b3JkZmlzaA=="}},
		"certificate": {reason: "a program has a certificate", path: "/api/v1/scan", headers: []string{"Test-Certificate: yes"}},
		"neither":     {reason: "no credentials", path: "/api/v1/scan", refused: true},
		"origin":      {reason: "an Origin means that a browser sent the request", path: "/api/v1/scan", headers: []string{"Authorization: Basic Ym9iOnN3b3JkZmlzaA==", "Origin: http://driftd.example.org"}, refused: true},
		"site":        {reason: "Sec-Fetch-Site means that a browser sent the request", path: "/api/v1/scan", headers: []string{"Test-Certificate: yes", "Sec-Fetch-Site: none"}, refused: true},
		"page":        {reason: "pages always require a token", path: "/scan", headers: []string{"Test-Certificate: yes"}, refused: true},
		"like one":    {reason: "a path that only begins like that of the API", path: "/api/v10/scan", headers: []string{"Test-Certificate: yes"}, refused: true},
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
	if err := h.Genuine(local.WithContext(With(local.Context(), Visitor{Name: "root", Role: Approver, Via: Local}))); err != nil {
		t.Errorf("request by the unix socket: %v", err)
	}
}

// TestOriginBehindAProxy checks the Origin behind a proxy that changes the Host.
func TestOriginBehindAProxy(t *testing.T) {
	t.Parallel()
	h := newFixture(t, Options{URL: "https://pages.example.org/driftd"})
	s := &sender{h: h}
	token := url.Values{"csrf": {s.token()}}.Encode()
	if err := s.send(http.MethodPost, "/scan", token, "Origin: https://pages.example.org"); err != nil {
		t.Error(err)
	}
	refused(t, s.send(http.MethodPost, "/scan", token, "Origin: https://other.example.org"), 403, "another site")
}
