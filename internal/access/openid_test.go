package access

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"
)

func TestOpenID(t *testing.T) {
	t.Parallel()
	p := newProvider(t, httptest.NewTLSServer)
	h := withProvider(t, p, nil)
	location, cookies := h.beginOpenID("/findings/abc?x=1")
	u, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get("redirect_uri") != "https://driftd.example.org/login/oidc/callback" || q.Get("scope") != "openid profile" || q.Get("response_type") != "code" ||
		q.Get("client_id") != "driftd" || q.Get("code_challenge_method") != "S256" || len(q.Get("state")) < 26 || len(q.Get("nonce")) < 26 {
		t.Errorf("the redirect to the provider is %s", location)
	}
	if c := named(t, cookies, "__Host-"+openIDCookie); !c.HttpOnly || !c.Secure || c.MaxAge != 600 || c.SameSite != http.SameSiteLaxMode {
		t.Errorf("cookie = %+v", c)
	}
	next, session, err := h.endOpenID(p.authorize(location), cookies)
	if err != nil || next != "/findings/abc?x=1" {
		t.Fatalf("next = %q, %v", next, err)
	}
	if got, _ := h.who(get(session...), false); got != (Visitor{Name: "alice", Role: Operator, Via: Session}) {
		t.Errorf("visitor = %+v", got)
	}
	// The same redirect again: the code was used.
	again, cookies := h.beginOpenID("/")
	back := p.authorize(again)
	if _, _, err := h.endOpenID(back, cookies); err != nil {
		t.Fatal(err)
	}
	_, session, err = h.endOpenID(back, cookies)
	refused(t, err, 403, "invalid_grant")
	if len(session) > 0 {
		t.Errorf("cookies of a refusal = %v", session)
	}
	if p.discoveries.Load() != 1 {
		t.Errorf("%d requests for the discovery document, want 1", p.discoveries.Load())
	}
}

func TestOpenIDClaims(t *testing.T) {
	t.Parallel()
	type any_ = map[string]any
	tests := map[string]struct {
		reason       string
		claims, info any_
		change       func(*Options)
		want         Visitor
		refused      string
	}{
		"one group":      {reason: "a single group may be a string", claims: any_{"preferred_username": "alice", "groups": "sre"}, want: Visitor{Name: "alice", Role: Operator, Via: Session}},
		"no groups":      {reason: "the groups claim is optional", claims: any_{"preferred_username": "alice"}, want: Visitor{Name: "alice", Role: Viewer, Via: Session}},
		"odd groups":     {reason: "groups of an unsupported type are ignored", claims: any_{"preferred_username": "alice", "groups": any_{"sre": true}}, want: Visitor{Name: "alice", Role: Viewer, Via: Session}},
		"nested":         {reason: "roles of a realm", claims: any_{"preferred_username": "alice", "realm_access": any_{"roles": []string{"sre"}}}, change: func(o *Options) { o.OpenID.GroupsClaim = "realm_access.roles" }, want: Visitor{Name: "alice", Role: Operator, Via: Session}},
		"with dots":      {reason: "a claim may be named by an address", claims: any_{"preferred_username": "alice", "https://example.org/groups": []string{"sre"}}, change: func(o *Options) { o.OpenID.GroupsClaim = "https://example.org/groups" }, want: Visitor{Name: "alice", Role: Operator, Via: Session}},
		"userinfo":       {reason: "some providers send claims only in userinfo", claims: any_{}, info: any_{"sub": "42", "preferred_username": "alice", "groups": []string{"sre"}}, want: Visitor{Name: "alice", Role: Operator, Via: Session}},
		"signed first":   {reason: "claims of the token have precedence", claims: any_{"preferred_username": "alice"}, info: any_{"sub": "42", "preferred_username": "bob", "groups": []string{"sre"}}, want: Visitor{Name: "alice", Role: Operator, Via: Session}},
		"somebody else":  {reason: "userinfo of another user", claims: any_{}, info: any_{"sub": "43", "preferred_username": "bob"}, refused: "belongs to another user"},
		"nobody":         {reason: "the name claim is missing", claims: any_{"email": "a@example.org"}, refused: `no printable user name in the claim "preferred_username"`},
		"number":         {reason: "the name is not a string", claims: any_{"preferred_username": 7}, refused: "no printable user name in the claim"},
		"odd name":       {reason: "the name is not printable", claims: any_{"preferred_username": "a\nb"}, refused: "no printable user name in the claim"},
		"email":          {reason: "a verified email address", claims: any_{"email": "a@example.org", "email_verified": true}, change: byEmail, want: Visitor{Name: "a@example.org", Role: Viewer, Via: Session}},
		"unsaid":         {reason: "email_verified is optional", claims: any_{"email": "a@example.org"}, change: byEmail, want: Visitor{Name: "a@example.org", Role: Viewer, Via: Session}},
		"unverified":     {reason: "an email address that is not verified", claims: any_{"email": "bob@example.org", "email_verified": false}, change: byEmail, refused: "has not verified"},
		"another name":   {reason: "email_verified matters only for the claim email", claims: any_{"preferred_username": "alice", "email_verified": false}, want: Visitor{Name: "alice", Role: Viewer, Via: Session}},
		"unverified too": {reason: "some providers send the boolean as text", claims: any_{"email": "bob@example.org", "email_verified": "false"}, change: byEmail, refused: "has not verified"},
		"no fitting":     {reason: "a user without a matching role has none", claims: any_{"preferred_username": "eve"}, change: func(o *Options) { o.Roles = Roles{Viewer: []string{"alice"}} }, want: Visitor{Name: "eve", Role: Nobody, Via: Session}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, httptest.NewServer)
			p.claims, p.info = tt.claims, tt.info
			h := withProvider(t, p, tt.change)
			location, cookies := h.beginOpenID("/")
			_, session, err := h.endOpenID(p.authorize(location), cookies)
			if tt.refused != "" {
				refused(t, err, 403, tt.refused)
				if len(session) > 0 {
					t.Errorf("%s: cookies = %v", tt.reason, session)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			if got, _ := h.who(get(session...), false); got != tt.want {
				t.Errorf("%s: visitor = %+v, want %+v", tt.reason, got, tt.want)
			}
		})
	}
}

func byEmail(o *Options) { o.OpenID.NameClaim = "email" }

func TestOpenIDForged(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		forge  func(map[string]any)
		// back changes the query of the redirect, and wait is the time before it.
		back func(url.Values)
		wait time.Duration
		// stolen sends the redirect in another browser.
		stolen, badKey bool
		refused        string
	}{
		"nonce":     {reason: "a token of another login", forge: func(m map[string]any) { m["nonce"] = "other" }, refused: "belongs to another login"},
		"no nonce":  {reason: "a token without a nonce", forge: func(m map[string]any) { delete(m, "nonce") }, refused: "belongs to another login"},
		"audience":  {reason: "a token for another client", forge: func(m map[string]any) { m["aud"] = "other" }, refused: "audience"},
		"issuer":    {reason: "a token of another provider", forge: func(m map[string]any) { m["iss"] = "https://evil.example.org" }, refused: "issued by a different provider"},
		"expired":   {reason: "an expired token", forge: func(m map[string]any) { m["exp"] = 1 }, refused: "token is expired"},
		"signature": {reason: "a token signed with an unknown key", badKey: true, refused: "signature"},
		"state":     {reason: "the state of another login", back: func(q url.Values) { q.Set("state", "other") }, refused: "not started in this browser"},
		"no state":  {reason: "no state", back: func(q url.Values) { q.Del("state") }, refused: "not started in this browser"},
		"browser":   {reason: "a redirect opened in another browser", stolen: true, refused: "not started in this browser"},
		"late":      {reason: "a redirect after openIDTime", wait: openIDTime, refused: "not started in this browser"},
		"mix-up":    {reason: "a response of another provider (RFC 9207)", back: func(q url.Values) { q.Set("iss", "https://evil.example.org") }, refused: "from another OpenID provider"},
		"code":      {reason: "an invalid code", back: func(q url.Values) { q.Set("code", "other") }, refused: "invalid_grant"},
		"denied":    {reason: "the provider refuses, with unprintable characters", back: func(q url.Values) { q.Set("error", "access_denied\n\u202e") }, refused: "refused the login: access_denied  "},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, httptest.NewServer)
			p.forge = tt.forge
			h := withProvider(t, p, nil)
			location, cookies := h.beginOpenID("/")
			back := p.authorize(location)
			if q := back.Query(); tt.back != nil {
				tt.back(q)
				back.RawQuery = q.Encode()
			}
			if tt.stolen {
				_, cookies = h.beginOpenID("/")
			}
			if tt.badKey {
				p.signer = newKey(t)
			}
			h.clock.pass(tt.wait)
			_, session, err := h.endOpenID(back, cookies)
			refused(t, err, 403, tt.refused)
			if len(session) > 0 {
				t.Errorf("%s: cookies = %v", tt.reason, session)
			}
			if strings.Contains(err.Error()+h.log.String(), "hunter2") || strings.Contains(h.log.String(), "shared") {
				t.Errorf("%s: a secret is exposed: %v\n%s", tt.reason, err, h.log)
			}
		})
	}
}

func TestOpenIDSecretIsRenewed(t *testing.T) {
	t.Parallel()
	p := newProvider(t, httptest.NewServer)
	h := withProvider(t, p, nil)
	p.secret = "another"
	location, cookies := h.beginOpenID("/")
	_, _, err := h.endOpenID(p.authorize(location), cookies)
	if r := refusal(t, err, 403, "invalid_client"); strings.Contains(r.Error(), "hunter2") {
		t.Errorf("the error contains the provider's response: %v", r)
	}
	if err := os.WriteFile(h.openID.ClientSecretFile, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	location, cookies = h.beginOpenID("/")
	if _, _, err := h.endOpenID(p.authorize(location), cookies); err != nil {
		t.Error(err)
	}
	// Without the file logins fail, and the log contains the reason.
	if err := os.Remove(h.openID.ClientSecretFile); err != nil {
		t.Fatal(err)
	}
	h.away(h.BeginOpenID(httptest.NewRecorder(), get(), "/"), "no such file")
}

func TestOpenIDProviderRecovers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<p>hunter2</p>", 1<<17)
	tests := map[string]struct {
		reason string
		answer http.HandlerFunc
		want   string
	}{
		"broken":   {reason: "the error page of a proxy", answer: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>hunter2", http.StatusBadGateway) }, want: "the provider answered 502 Bad Gateway"},
		"mismatch": {reason: "the issuer differs", answer: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"issuer":"https://other.example.org"}`) }, want: `the provider's issuer is "https://other.example.org": set issuer to that`},
		"no JSON":  {reason: "the response is not JSON", answer: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, want: "decode provider discovery"},
		"endless":  {reason: "the response exceeds the maximum size", answer: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, long) }, want: "too large"},
		"elsewhere": {reason: "a redirect to plain HTTP", answer: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		}, want: "redirects to another address"},
		"in the open": {reason: "endpoints with plain HTTP", answer: func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"issuer":"http://%s","authorization_endpoint":"http://192.0.2.1/","token_endpoint":"http://192.0.2.1/"}`, r.Host)
		}, want: "an endpoint that is not https"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, httptest.NewServer)
			p.discovery = tt.answer
			h := withProvider(t, p, nil) // New succeeds without the provider
			for range 3 {
				h.away(h.BeginOpenID(httptest.NewRecorder(), get(), "/"), tt.want)
				if log := h.log.String(); strings.Contains(log, "hunter2") || len(log) > 1000 {
					t.Errorf("%s: log = %s", tt.reason, log)
				}
			}
			if p.discoveries.Load() != 1 {
				t.Errorf("%s: %d requests for the discovery document, want 1", tt.reason, p.discoveries.Load())
			}
			p.discovery = nil
			h.clock.pass(discoveryRetry)
			location, cookies := h.beginOpenID("/")
			if _, _, err := h.endOpenID(p.authorize(location), cookies); err != nil {
				t.Errorf("%s: after the provider recovered: %v", tt.reason, err)
			}
		})
	}
}

// TestDiscoveryQueueIsBounded checks that logins are refused at once while too many others wait
// for a slow provider.
func TestDiscoveryQueueIsBounded(t *testing.T) {
	t.Parallel()
	p := newProvider(t, httptest.NewServer)
	h := withProvider(t, p, nil)
	for range cap(h.openID.discovery.waiting) {
		h.openID.discovery.waiting <- struct{}{}
	}
	for range 100 {
		h.away(h.BeginOpenID(httptest.NewRecorder(), get(), "/"), "too many logins are waiting")
	}
	for range cap(h.openID.discovery.waiting) {
		<-h.openID.discovery.waiting
	}
	h.beginOpenID("/")
	if p.discoveries.Load() != 1 {
		t.Errorf("%d requests for the discovery document, want 1", p.discoveries.Load())
	}
}

func TestOpenIDUnreachable(t *testing.T) {
	t.Parallel()
	p := newProvider(t, httptest.NewTLSServer)
	h := withProvider(t, p, func(o *Options) { o.OpenID.CAFile = "" })
	h.away(h.BeginOpenID(httptest.NewRecorder(), get(), "/"), "set ca_file to the certificate authority")
	p.Close()
	h.clock.pass(discoveryRetry)
	h.away(h.BeginOpenID(httptest.NewRecorder(), get(), "/"), "nothing listens there")
	none := newFixture(t, Options{})
	refused(t, none.BeginOpenID(httptest.NewRecorder(), get(), "/"), 403, "login at an OpenID provider is not configured")
	_, err := none.EndOpenID(httptest.NewRecorder(), get())
	refused(t, err, 403, "login at an OpenID provider is not configured")
}

func TestOpenIDRejectsForeignPaths(t *testing.T) {
	t.Parallel()
	p := newProvider(t, httptest.NewServer)
	h := withProvider(t, p, nil)
	for _, next := range []string{"//evil.example.org", `/\evil.example.org`, "https://evil.example.org", "/login", "", "/?" + strings.Repeat("&", maxPath-2)} {
		location, cookies := h.beginOpenID(next)
		if got, _, err := h.endOpenID(p.authorize(location), cookies); err != nil || got != "/" {
			t.Errorf("next %q leads to %q, %v", next, got, err)
		}
	}
	long := "/?" + strings.Repeat("a", maxPath-2)
	location, cookies := h.beginOpenID(long)
	if got, _, err := h.endOpenID(p.authorize(location), cookies); err != nil || got != long {
		t.Errorf("the longest path leads to %q, %v", got, err)
	}
	// A changed cookie is refused.
	location, cookies = h.beginOpenID("/")
	body, sum, _ := strings.Cut(cookies[0].Value, ".")
	for _, value := range []string{body + "A." + sum, "A" + body[1:] + "." + sum, body, "." + sum, "..", strings.Repeat("A", 5000)} {
		_, _, err := h.endOpenID(p.authorize(location), []*http.Cookie{{Name: cookies[0].Name, Value: value}})
		refused(t, err, 403, "not started in this browser")
	}
}

func TestOpenIDFailuresAreBounded(t *testing.T) {
	t.Parallel()
	p := newProvider(t, httptest.NewServer)
	h := withProvider(t, p, nil)
	for range burst {
		location, cookies := h.beginOpenID("/")
		back := p.authorize(location)
		q := back.Query()
		q.Set("code", "guess")
		back.RawQuery = q.Encode()
		_, _, err := h.endOpenID(back, cookies)
		refused(t, err, 403, "invalid_grant")
	}
	location, cookies := h.beginOpenID("/")
	_, _, err := h.endOpenID(p.authorize(location), cookies)
	h.clock.pass(refusal(t, err, 429, "too many").RetryAfter)
	location, cookies = h.beginOpenID("/")
	if _, _, err := h.endOpenID(p.authorize(location), cookies); err != nil {
		t.Error(err)
	}
}

func TestCheckIssuer(t *testing.T) {
	t.Parallel()
	for _, issuer := range []string{"https://login.example.org", "https://login.example.org/realms/ops", "https://login.example.org:8443/", "http://127.0.0.1:9998/", "http://localhost:9998"} {
		if err := CheckIssuer(issuer); err != nil {
			t.Errorf("CheckIssuer(%q) = %v", issuer, err)
		}
	}
	for _, issuer := range []string{"", "login.example.org", "http://login.example.org", "https://", "https://u:p@login.example.org", "https://login.example.org?x", "https://login.example.org#x", "ftp://127.0.0.1"} {
		if CheckIssuer(issuer) == nil {
			t.Errorf("CheckIssuer(%q) is no error", issuer)
		}
	}
}
