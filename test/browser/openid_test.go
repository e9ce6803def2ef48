//go:build e2e

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/driftd/driftd/test/process"
)

// A provider is an OpenID provider, with alice as its user.
type provider struct {
	issuer, dir string
	port        int
}

// newProvider returns a provider that does not run yet.
func newProvider(t *testing.T) provider {
	t.Helper()
	ports, err := process.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	return provider{fmt.Sprintf("http://localhost:%d/", ports[0]), t.TempDir(), ports[0]}
}

// start starts the provider for the clients of a daemon.
func (o provider) start(t *testing.T, d *daemon) {
	t.Helper()
	folder := os.Getenv("DRIFTD_TEST_OIDC_BIN")
	if folder == "" {
		out, err := exec.CommandContext(t.Context(), "sh", "../../tools/build.sh", "oidc").Output()
		if err != nil {
			t.Fatalf("build the OpenID provider: %v", err)
		}
		folder = strings.TrimSpace(string(out))
	}
	users, err := json.Marshal(map[string]any{"id1": map[string]any{"ID": "id1", "Username": "alice", "Password": "verysecure",
		"FirstName": "Alice", "LastName": "Example", "Email": "alice@example.org", "EmailVerified": true, "PreferredLanguage": "en"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := writeFiles(o.dir, map[string]string{"users.json": string(users)}); err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(process.Options{Program: filepath.Join(folder, "server"), Log: filepath.Join(o.dir, "log"),
		Env: []string{"PORT=" + strconv.Itoa(o.port), "REDIRECT_URI=" + d.base + "/login/oidc/callback", "USERS_FILE=" + filepath.Join(o.dir, "users.json")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
}

// TestLoginElsewhere logs in with an OpenID provider that does not respond at first, and
// returns to the requested page.
func TestLoginElsewhere(t *testing.T) {
	t.Parallel()
	o := newProvider(t)
	e := drifted(2)
	e.access = fmt.Sprintf(`{loopback: nobody, oidc: {issuer: %q, client_id: web, client_secret_file: secret}, roles: {operator: [alice]}}`, o.issuer)
	e.more = "notify: {url: \"http://$ADDRESS\"}\n"
	files := e.files(t)
	files["secret"] = "secret\n"
	d := serve(t, files, "")
	p := chrome.visit(t, d.base)
	p.expect("503")
	p.open("/?q=config-001")
	p.find("link", "Sign in with OpenID").follow()
	p.find("alert", "")
	p.expect(o.issuer)
	o.start(t, d)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if !eventually(t.Context(), func(ctx context.Context) bool {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base+"/login/oidc", http.NoBody)
		if err != nil {
			return false
		}
		status, _, err := answerOf(client, r)
		return err == nil && status/100 == 3
	}) {
		t.Fatal("nobody is sent to the provider, though it answers now")
	}
	p.open("/?q=config-001")
	p.find("link", "Sign in with OpenID").follow()
	p.await(jsf(`location.href.startsWith(%q)`, o.issuer))
	eval[chromedp.Void](p, `document.querySelector("[name=username]").value = "alice"; document.querySelector("[name=password]").value = "verysecure"; document.querySelector("form").submit()`)
	p.await(jsf(`location.origin === %q && location.search === "?q=config-001"`, d.base))
	p.find("link", "config-001")
	p.awaitText("alice")
	p.awaitLive()
}
