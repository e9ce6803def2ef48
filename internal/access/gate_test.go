package access

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestVisitor(t *testing.T) {
	t.Parallel()
	roles := Roles{Viewer: []string{"*"}, Operator: []string{"alice", "group:sre"}, Approver: []string{"bob"}}
	proxy := ReverseProxy{Trusted: []string{"10.0.0.0/24", "fd00::/64"}, UserHeader: "X-Forwarded-User", GroupsHeader: "X-Forwarded-Groups", GroupsSeparator: ","}
	authentik := proxy
	authentik.GroupsSeparator = "|"
	anonymous := Visitor{Name: "somebody on this host", Role: Viewer, Via: Loopback}
	tests := map[string]struct {
		reason  string
		options Options
		from    string
		headers []string
		// elsewhere reports whether the listener has another address than loopback.
		elsewhere bool
		want      Visitor
		why       int
	}{
		"this host":            {reason: "reading is open on loopback", from: here, headers: []string{"Host: 127.0.0.1:9797"}, want: anonymous},
		"IPv6 loopback":        {reason: "::1 is this host, too", from: "[::1]:4000", headers: []string{"Host: [::1]:9797"}, want: anonymous},
		"localhost":            {reason: "localhost names this host", from: here, headers: []string{"Host: LocalHost:9797"}, want: anonymous},
		"all of 127":           {reason: "127.0.0.0/8 is this host", from: here, headers: []string{"Host: 127.8.9.1"}, want: anonymous},
		"listener for all":     {reason: "a listener on 0.0.0.0 accepts requests from other hosts", from: here, headers: []string{"Host: 127.0.0.1:9797"}, elsewhere: true},
		"DNS rebinding":        {reason: "evil.example.org resolves to 127.0.0.1", from: here, headers: []string{"Host: evil.example.org:9797"}, why: 401},
		"name that begins so":  {reason: "a name that begins like an address is not loopback", from: here, headers: []string{"Host: 127.0.0.1.evil.example.org"}, why: 401},
		"local name":           {reason: "a name that begins with localhost is not loopback", from: here, headers: []string{"Host: localhost.evil.example.org"}, why: 401},
		"X-Forwarded-For":      {reason: "a proxy on this host forwards requests from anywhere", from: here, headers: []string{"Host: 127.0.0.1:9797", "X-Forwarded-For: 198.51.100.1"}, why: 401},
		"X-Forwarded-Proto":    {reason: "any X-Forwarded header counts", from: here, headers: []string{"Host: 127.0.0.1:9797", "x-forwarded-proto: https"}, why: 401},
		"Forwarded":            {reason: "the standard header (RFC 7239)", from: here, headers: []string{"Host: 127.0.0.1:9797", "Forwarded: for=198.51.100.1"}, why: 401},
		"Via":                  {reason: "the header of RFC 9110", from: here, headers: []string{"Host: localhost", "Via: 1.1 squid"}, why: 401},
		"loopback is nobody":   {reason: "loopback access can be disabled", options: Options{Loopback: Nobody, Session: time.Hour}, from: here, headers: []string{"Host: 127.0.0.1:9797"}},
		"loopback is approver": {reason: "loopback can have any role", options: Options{Loopback: Approver}, from: here, headers: []string{"Host: 127.0.0.1:9797"}, want: Visitor{Name: anonymous.Name, Role: Approver, Via: Loopback}},

		"trusted proxy":     {reason: "the proxy sends the name", options: Options{Proxy: proxy, Roles: roles}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: bob"}, elsewhere: true, want: Visitor{Name: "bob", Role: Approver, Via: Proxy}},
		"over IPv6":         {reason: "the proxy's address is IPv6", options: Options{Proxy: proxy, Roles: roles}, from: "[fd00::1%eth0]:1", headers: []string{"X-Forwarded-User: bob"}, elsewhere: true, want: Visitor{Name: "bob", Role: Approver, Via: Proxy}},
		"mapped":            {reason: "an IPv4-mapped IPv6 address", options: Options{Proxy: proxy, Roles: roles}, from: "[::ffff:10.0.0.7]:1", headers: []string{"X-Forwarded-User: bob"}, elsewhere: true, want: Visitor{Name: "bob", Role: Approver, Via: Proxy}},
		"groups":            {reason: "groups give roles", options: Options{Proxy: proxy, Roles: roles}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: carol", "X-Forwarded-Groups: dev, sre"}, elsewhere: true, want: Visitor{Name: "carol", Role: Operator, Via: Proxy}},
		"groups by pipes":   {reason: "Authentik separates groups by pipes", options: Options{Proxy: authentik, Roles: roles}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: carol", "X-Forwarded-Groups: dev|sre"}, elsewhere: true, want: Visitor{Name: "carol", Role: Operator, Via: Proxy}},
		"comma in a name":   {reason: "a group is called x,sre", options: Options{Proxy: authentik, Roles: roles}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: carol", "X-Forwarded-Groups: x,sre"}, elsewhere: true, want: Visitor{Name: "carol", Role: Viewer, Via: Proxy}},
		"name of a group":   {reason: "a user who is called group:sre is in no group", options: Options{Proxy: proxy, Roles: roles}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: group:sre"}, elsewhere: true, want: Visitor{Name: "group:sre", Role: Viewer, Via: Proxy}},
		"spoofed header":    {reason: "the header of an untrusted address is ignored", options: Options{Proxy: proxy, Roles: roles}, from: "10.0.1.7:1", headers: []string{"X-Forwarded-User: bob"}, elsewhere: true},
		"spoofed on host":   {reason: "loopback is not a trusted proxy, and a proxy disables loopback access", options: Options{Loopback: Viewer, Proxy: proxy, Roles: roles}, from: here, headers: []string{"Host: 127.0.0.1", "X-Forwarded-User: bob"}},
		"proxy and no name": {reason: "a proxy disables loopback access", options: Options{Loopback: Approver, Proxy: proxy}, from: here, headers: []string{"Host: 127.0.0.1:9797"}},
		"empty name":        {reason: "an empty name authenticates no user", options: Options{Proxy: proxy}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: "}, elsewhere: true},
		"two names":         {reason: "one of two headers may be the visitor's own", options: Options{Proxy: proxy}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: eve", "X-Forwarded-User: bob"}, elsewhere: true, why: 403},
		"two lists":         {reason: "one of two group headers may be the visitor's own", options: Options{Proxy: proxy}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: eve", "X-Forwarded-Groups: dev", "X-Forwarded-Groups: sre"}, elsewhere: true, why: 403},
		"odd name":          {reason: "a name with a change of text direction is refused", options: Options{Proxy: proxy}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: \u202eecila"}, elsewhere: true, why: 403},
		"long name":         {reason: "a name over the maximum length is refused", options: Options{Proxy: proxy}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: " + strings.Repeat("a", 201)}, elsewhere: true, why: 403},

		"no fitting role":   {reason: "a user without a matching role has none", options: Options{Proxy: proxy, Roles: Roles{Operator: []string{"alice"}}}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: carol"}, elsewhere: true, want: Visitor{Name: "carol", Role: Nobody, Via: Proxy}},
		"no roles":          {reason: "without roles all authenticated users are viewers", options: Options{Proxy: proxy}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: carol"}, elsewhere: true, want: Visitor{Name: "carol", Role: Viewer, Via: Proxy}},
		"highest role":      {reason: "the highest matching role applies", options: Options{Proxy: proxy, Roles: Roles{Viewer: []string{"dave"}, Approver: []string{"group:lead"}, Operator: []string{"*"}}}, from: "10.0.0.7:1", headers: []string{"X-Forwarded-User: dave", "X-Forwarded-Groups: lead"}, elsewhere: true, want: Visitor{Name: "dave", Role: Approver, Via: Proxy}},
		"vouched for":       {reason: "the server has authenticated the visitor", options: Options{Roles: roles, Vouched: vouch("bob", Certificate)}, from: "192.0.2.1:1", elsewhere: true, want: Visitor{Name: "bob", Role: Approver, Via: Certificate}},
		"vouched for whom":  {reason: "a certificate's name with a change of text direction is refused", options: Options{Roles: roles, Vouched: vouch("bo\u202eb", Certificate)}, from: "192.0.2.1:1", elsewhere: true, why: 403},
		"vouched for none":  {reason: "the server has not authenticated the visitor", options: Options{Roles: roles, Vouched: vouch("", "")}, from: "192.0.2.1:1", elsewhere: true},
		"password unasked":  {reason: "without a users file passwords are ignored", options: Options{Roles: roles}, from: "192.0.2.1:1", headers: []string{"Authorization: Basic Ym9iOnN3b3JkZmlzaA=="}, elsewhere: true},
		"no address at all": {reason: "an invalid peer address is not trusted", options: Options{Proxy: proxy}, from: "@", headers: []string{"X-Forwarded-User: bob"}, elsewhere: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if len(tt.options.Proxy.Trusted) == 0 && tt.options.Loopback == Nobody && tt.options.Session == 0 {
				tt.options.Loopback = Viewer
			}
			got, why := newFixture(t, tt.options).who(request(http.MethodGet, "/", tt.from, tt.headers), !tt.elsewhere)
			if got != tt.want {
				t.Errorf("%s: visitor = %+v, want %+v", tt.reason, got, tt.want)
			}
			if status := statusOf(why); status != tt.why {
				t.Errorf("%s: why = %d %v, want %d", tt.reason, status, why, tt.why)
			}
		})
	}
}

func vouch(name string, via Via) func(*http.Request) (string, Via) {
	return func(*http.Request) (string, Via) { return name, via }
}

func statusOf(r *Refused) int {
	if r == nil {
		return 0
	}
	return r.Status
}

func TestSession(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{Loopback: Viewer, Session: 8 * time.Hour, Roles: Roles{Operator: []string{"alice"}, Viewer: []string{"bob"}}})
	cookies := h.login(get(), "alice", "open sesame")
	c := named(t, cookies, sessionCookie)
	if !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Secure || c.MaxAge != 8*3600 || len(c.Value) < 43 {
		t.Errorf("cookie = %+v", c)
	}
	alice := Visitor{Name: "alice", Role: Operator, Via: Session}
	if got, _ := h.who(get(c), false); got != alice {
		t.Errorf("visitor = %+v, want %+v", got, alice)
	}
	seen := h.identified(get(c))
	h.clock.pass(8*time.Hour - time.Nanosecond)
	if got, _ := h.who(get(c), false); got != alice || !h.Still(seen.Context()) {
		t.Errorf("visitor in time = %+v", got)
	}
	h.clock.pass(time.Nanosecond)
	if got, _ := h.who(get(c), false); got != (Visitor{}) {
		t.Errorf("visitor after the end of a session in use = %+v, want none", got)
	}
	if h.Still(seen.Context()) {
		t.Error("Still() = true after the end of the session")
	}
	if strings.Contains(h.log.String(), c.Value) || strings.Contains(h.log.String(), "sesame") {
		t.Errorf("the log shows a secret: %s", h.log)
	}
}

func TestStolenCookieAfterLogout(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{})
	stolen := named(t, h.login(get(), "alice", "open sesame"), sessionCookie)
	other := named(t, h.login(get(), "alice", "open sesame"), sessionCookie)
	seen := h.identified(get(stolen))
	w := httptest.NewRecorder()
	h.Logout(w, get(stolen))
	if c := named(t, w.Result().Cookies(), sessionCookie); c.MaxAge >= 0 || c.Value != "" {
		t.Errorf("the browser keeps %+v", c)
	}
	if got, _ := h.who(get(stolen), false); got != (Visitor{}) || h.Still(seen.Context()) {
		t.Errorf("the stolen cookie still authenticates %+v", got)
	}
	if got, _ := h.who(get(other), false); got.Name != "alice" {
		t.Errorf("visitor with the other session = %+v, want alice", got)
	}
}

func TestLoginEndsPreviousSession(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{})
	first := named(t, h.login(get(), "alice", "open sesame"), sessionCookie)
	second := named(t, h.login(get(first), "bob", "swordfish"), sessionCookie)
	if got, _ := h.who(get(first), false); got != (Visitor{}) || first.Value == second.Value {
		t.Errorf("the first session still authenticates %+v", got)
	}
	// A session id of the browser is never used for a new session.
	forged := &http.Cookie{Name: sessionCookie, Value: strings.Repeat("A", 52)}
	if third := named(t, h.login(get(forged), "bob", "swordfish"), sessionCookie); third.Value == forged.Value {
		t.Error("session fixation: the id of the browser was used")
	}
}

func TestCookiesOverTLS(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason  string
		options Options
		request func(*http.Request)
		want    bool
	}{
		"plain":           {reason: "browsers reject secure cookies over plain HTTP", request: func(*http.Request) {}},
		"TLS":             {reason: "the connection uses TLS", request: func(r *http.Request) { r.TLS = &tls.ConnectionState{} }, want: true},
		"trusted proxy":   {reason: "a trusted proxy terminates TLS", options: Options{Proxy: ReverseProxy{Trusted: []string{"192.0.2.1"}, UserHeader: "A", GroupsHeader: "B"}}, request: func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") }, want: true},
		"any proxy":       {reason: "the header of an untrusted address is ignored", request: func(r *http.Request) { r.Header.Set("X-Forwarded-Proto", "https") }},
		"public address":  {reason: "the public address is https", options: Options{URL: "https://driftd.example.org"}, request: func(*http.Request) {}, want: true},
		"another address": {reason: "the Host is not that of the public address", options: Options{URL: "https://driftd.example.org"}, request: func(r *http.Request) { r.Host = "10.1.1.1:9797" }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := withUsers(t, tt.options)
			r := get()
			tt.request(r)
			cookies := h.login(r, "alice", "open sesame")
			h.Token(httptest.NewRecorder(), h.identified(r))
			for _, c := range cookies {
				if c.Secure != tt.want || strings.HasPrefix(c.Name, "__Host-") != tt.want || c.Path != "/" || c.Domain != "" || !c.HttpOnly {
					t.Errorf("%s: cookie %+v, want secure %v", tt.reason, c, tt.want)
				}
			}
			again := get(cookies...)
			tt.request(again)
			if got, _ := h.who(again, false); got.Name != "alice" {
				t.Errorf("%s: visitor = %+v", tt.reason, got)
			}
			// A cookie that plain HTTP could have set is ignored over TLS.
			if planted := get(&http.Cookie{Name: sessionCookie, Value: cookies[0].Value}); tt.want {
				tt.request(planted)
				if got, _ := h.who(planted, false); got.Name != "" {
					t.Errorf("%s: a planted cookie authenticates %+v", tt.reason, got)
				}
			}
		})
	}
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	now := newClock().now()
	s := sessions{all: map[digest]session{}}
	add := func(i int, name string) digest {
		id := digestOf(name + time.Duration(i).String())
		s.add(id, session{name: name, ends: now.Add(time.Duration(i) * time.Second)}, now)
		return id
	}
	first := add(1, "alice")
	for i := 2; i <= maxOfOne+1; i++ {
		add(i, "alice")
	}
	if _, ok := s.get(first, now); ok || len(s.all) != maxOfOne {
		t.Errorf("alice has %d sessions, the first among them: %v", len(s.all), ok)
	}
	for i := len(s.all); i < maxSessions; i++ {
		s.all[digestOf(time.Duration(i).String())] = session{name: "bob", ends: now.Add(time.Hour)}
	}
	last := add(5, "carol")
	if _, ok := s.get(last, now); !ok || len(s.all) != maxSessions {
		t.Errorf("there are %d sessions, the last among them: %v", len(s.all), ok)
	}
	later := now.Add(2 * time.Hour)
	s.add(digestOf("x"), session{name: "dave", ends: later.Add(time.Hour)}, later)
	if len(s.all) != 1 {
		t.Errorf("%d sessions are kept, want only the current one", len(s.all))
	}
}

// TestConcurrent runs many logins, requests and logouts at once, each from its own network, for
// the race detector.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{Roles: Roles{Operator: []string{"alice"}}})
	h.hashing = newQueue(2, 100)
	var group sync.WaitGroup
	for i := range 20 {
		from := func(cookies ...*http.Cookie) *http.Request {
			r := get(cookies...)
			r.RemoteAddr = fmt.Sprintf("198.51.100.%d:1", i)
			return r
		}
		group.Go(func() {
			w := httptest.NewRecorder()
			if err := h.Login(w, from(), "alice", "open sesame"); err != nil {
				t.Errorf("login: %v", err)
				return
			}
			cookies := kept(w)
			for range 20 {
				if got, _ := h.who(from(cookies...), false); got.Role != Operator {
					t.Errorf("visitor = %+v", got)
				}
				h.Token(httptest.NewRecorder(), h.identified(from(cookies...)))
			}
			h.clock.pass(time.Second)
			h.Logout(httptest.NewRecorder(), from(cookies...))
			r := from()
			r.SetBasicAuth("bob", "swordfish")
			if got, why := h.who(r, false); got.Name != "bob" {
				t.Errorf("visitor by password = %+v %v", got, why)
			}
		})
	}
	group.Wait()
	if len(h.sessions.all) != 0 {
		t.Errorf("%d sessions are left", len(h.sessions.all))
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason  string
		options Options
		want    string
	}{
		"no file":        {reason: "the users file does not exist", options: Options{UsersFile: "/nowhere/users"}, want: "read users_file /nowhere/users: no such file"},
		"proxy":          {reason: "not an address", options: Options{Proxy: ReverseProxy{Trusted: []string{"proxy"}}}, want: "read the trusted proxies"},
		"everybody":      {reason: "every address, written as IPv6", options: Options{Proxy: ReverseProxy{Trusted: []string{"::ffff:0.0.0.0/96"}}}, want: "any client could claim any name"},
		"pages":          {reason: "an address without a scheme", options: Options{URL: "driftd.example.org"}, want: "want one such as https://"},
		"no pages":       {reason: "the provider needs a redirect address", options: Options{OpenID: OpenIDClient{Issuer: "https://login.example.org"}}, want: "set notify.url"},
		"open issuer":    {reason: "plain HTTP would expose codes and secrets", options: Options{URL: "http://a.example.org", OpenID: OpenIDClient{Issuer: "http://login.example.org"}}, want: "https address"},
		"no secret":      {reason: "the secret file does not exist", options: Options{URL: "http://a.example.org", OpenID: OpenIDClient{Issuer: "https://login.example.org", ClientSecretFile: "/nowhere/secret"}}, want: "read client_secret_file: read secret file /nowhere/secret"},
		"no authorities": {reason: "the CA file does not exist", options: Options{URL: "http://a.example.org", OpenID: OpenIDClient{Issuer: "https://login.example.org", CAFile: "/nowhere/ca"}}, want: "/nowhere/ca"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := New(tt.options); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: New() error = %v, want %q", tt.reason, err, tt.want)
			}
		})
	}
}
