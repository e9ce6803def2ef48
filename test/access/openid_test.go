//go:build e2e

package access

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/test/process"
)

// program returns the path of the provider's program.
func program(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("DRIFTD_TEST_OIDC_BIN")
	if folder == "" {
		out, err := exec.CommandContext(t.Context(), "sh", "../../tools/build.sh", "oidc").Output()
		if err != nil {
			t.Fatalf("build the OpenID provider: %v", err)
		}
		folder = strings.TrimSpace(string(out))
	}
	return filepath.Join(folder, "server")
}

// startProvider starts a provider with one user and a redirect address.
func startProvider(t *testing.T, port int, back string) *process.Process {
	t.Helper()
	folder := t.TempDir()
	users, err := json.Marshal(map[string]any{"id1": map[string]any{"ID": "id1", "Username": "alice", "Password": "verysecure",
		"FirstName": "Alice", "LastName": "Example", "Email": "alice@example.org", "EmailVerified": true, "PreferredLanguage": "en"}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "users.json")
	if err := os.WriteFile(file, users, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(process.Options{Program: program(t), Log: filepath.Join(folder, "log"),
		Env: []string{"PORT=" + strconv.Itoa(port), "REDIRECT_URI=" + back, "USERS_FILE=" + file}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for !answers(ctx, port) {
		if ctx.Err() != nil || p.Exited() {
			t.Fatalf("the provider does not answer: %s", p.Log())
		}
	}
	return p
}

// answers reports whether a server listens, and waits a little if none does.
func answers(ctx context.Context, port int) bool {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("localhost", strconv.Itoa(port)))
	if err == nil {
		return conn.Close() == nil
	}
	tick := time.NewTimer(50 * time.Millisecond)
	defer tick.Stop()
	select {
	case <-tick.C:
	case <-ctx.Done():
	}
	return false
}

// pages is a minimal server with a page and the login.
func pages(g *access.Gate) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login/oidc", func(w http.ResponseWriter, r *http.Request) {
		if err := g.BeginOpenID(w, r, r.FormValue("next")); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET "+access.Callback, func(w http.ResponseWriter, r *http.Request) {
		next, err := g.EndOpenID(w, r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	})
	mux.HandleFunc("POST /logout", func(w http.ResponseWriter, r *http.Request) { g.Logout(w, r) })
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {
		v := access.Of(r.Context())
		fmt.Fprintf(w, "%s %q %s via %q", r.URL.RequestURI(), v.Name, v.Role, v.Via)
	})
	return g.Identify(false, mux)
}

// A browser is a client with cookies.
type browser struct {
	*http.Client
	t *testing.T
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{&http.Client{Jar: jar, Timeout: 30 * time.Second}, t}
}

// ask returns the page at the end of a request's redirects, and its address.
func (b *browser) ask(method, address string, form url.Values) (status int, page string, at *url.URL) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := b.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		b.t.Fatal(err)
	}
	return answer.StatusCode, string(body), answer.Request.URL
}

// TestLogInAtAProvider starts before the provider does, like a node that boots without a
// network.
func TestLogInAtAProvider(t *testing.T) {
	t.Parallel()
	ports, err := process.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	port := ports[0]
	issuer := fmt.Sprintf("http://localhost:%d/", port)
	folder := t.TempDir()
	secret := filepath.Join(folder, "secret")
	if err := os.WriteFile(secret, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	here := "http://" + server.Listener.Addr().String()
	// The test advances its clock itself.
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	gate, err := access.New(access.Options{URL: here, Now: now, Log: slog.New(slog.DiscardHandler), Roles: access.Roles{Operator: []string{"alice"}},
		OpenID: access.OpenIDClient{Issuer: issuer, ClientID: "web", ClientSecretFile: secret, Scopes: []string{"openid", "profile", "email"},
			NameClaim: "preferred_username", GroupsClaim: "groups"}})
	if err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = pages(gate)
	server.Start()
	t.Cleanup(server.Close)

	b := newBrowser(t)
	if status, page, _ := b.ask(http.MethodGet, here+"/login/oidc?next=/findings", nil); status != http.StatusServiceUnavailable || !strings.Contains(page, "currently unavailable") {
		t.Fatalf("login without a provider = %d %s", status, page)
	}
	p := startProvider(t, port, here+access.Callback)
	ahead.Store(int64(10 * time.Second))
	page := logIn(b, here, "wrong")
	if !strings.Contains(page, "password") || strings.Contains(page, "session") {
		t.Fatalf("page after a wrong password = %s", page)
	}
	if page = logIn(b, here, "verysecure"); page != `/findings?x=1 "alice" operator via "session"` {
		t.Fatalf("page after the login = %s\n%s", page, p.Log())
	}
	if _, page, _ := b.ask(http.MethodGet, here+"/", nil); page != `/ "alice" operator via "session"` {
		t.Errorf("the next page = %s", page)
	}
	if _, page, _ := newBrowser(t).ask(http.MethodGet, here+"/", nil); page != `/ "" nobody via ""` {
		t.Errorf("the page of another browser = %s", page)
	}
	if status, _, _ := b.ask(http.MethodPost, here+"/logout", nil); status != http.StatusOK {
		t.Errorf("logout = %d", status)
	}
	if _, page, _ := b.ask(http.MethodGet, here+"/", nil); page != `/ "" nobody via ""` {
		t.Errorf("the page after the logout = %s", page)
	}
	if status, page, _ := b.ask(http.MethodGet, here+access.Callback+"?code=x&state=y", nil); status != http.StatusForbidden || !strings.Contains(page, "not started in this browser") {
		t.Errorf("a made up way back = %d %s", status, page)
	}
}

// logIn submits the form of the provider, and returns the page at the end.
func logIn(b *browser, here, password string) string {
	b.t.Helper()
	_, page, at := b.ask(http.MethodGet, here+"/login/oidc?next="+url.QueryEscape("/findings?x=1"), nil)
	id := regexp.MustCompile(`name="id" value="([^"]+)"`).FindStringSubmatch(page)
	if id == nil {
		b.t.Fatalf("no form of the provider's at %s: %s", at, page)
	}
	_, page, _ = b.ask(http.MethodPost, at.ResolveReference(&url.URL{Path: "/login/username"}).String(),
		url.Values{"id": {id[1]}, "username": {"alice"}, "password": {password}})
	return page
}
