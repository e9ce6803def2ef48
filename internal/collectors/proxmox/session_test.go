package proxmox

import (
	"crypto/sha256"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/httpclient"
)

func TestTrust(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(lab())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	colons := strings.TrimSpace(strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(server.Certificate().Raw)), " ", ":"))
	for _, tc := range []struct {
		reason string
		change func(*Config)
		want   string
	}{
		{"by authority", func(c *Config) { c.CAFile = ca }, ""},
		{"by fingerprint", func(c *Config) { c.Fingerprint = colons }, ""},
		{"by fingerprint in small letters", func(c *Config) { c.Fingerprint = strings.ToLower(colons) }, ""},
		{"without trust", func(*Config) {}, "set ca_file to a copy"},
		{"another fingerprint", func(c *Config) { c.Fingerprint = strings.Repeat("00:", 31) + "00" }, "the server's certificate has the fingerprint " + colons},
		{"no certificate in the file", func(c *Config) { c.CAFile = empty }, "holds no certificate"},
		{"no such file", func(c *Config) { c.CAFile = empty + ".gone" }, "correct the path"},
	} {
		config := testConfig(t, server.URL)
		tc.change(&config)
		got := ""
		if _, err := testCluster(t, config).Collect(t.Context()); err != nil {
			got = err.Error()
		}
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

func TestScanFailures(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		fault  faults.Fault
		want   []string
	}{
		{"401", pvetest.Unauthorized(), []string{"401", "driftd@pve!ro is refused", "expiry"}},
		{"403", faults.Status(http.StatusForbidden, ""), []string{"403", "PVEAuditor"}},
		{"500", pvetest.Message(http.StatusInternalServerError, "got no worker upid"), []string{"got no worker upid", "journalctl"}},
		{"a page", faults.LoginPage(), []string{"an HTML page", "8006"}},
		{"a redirect", func(_ http.Handler, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://login.example.org/", http.StatusFound)
		}, []string{"302", "redirects"}},
		{"half an answer", faults.Truncated(), []string{"no JSON"}},
		{"no answer", faults.Hangs(), []string{"no full answer within 100ms", "raise timeout"}},
	} {
		server := lab()
		server.Break("", tc.fault)
		timeout := time.Minute
		if tc.reason == "no answer" {
			timeout = 100 * time.Millisecond
		}
		_, err := tryCollect(t, server, func(c *Config) { c.Timeout = timeout })
		var access *httpclient.Error
		if !errors.As(err, &access) || access.Hint == "" {
			t.Errorf("%s: %v is not an httpclient.Error", tc.reason, err)
			continue
		}
		wantIn(t, err.Error(), tc.want...)
		if strings.Contains(err.Error(), "0f8e") {
			t.Errorf("%s: the secret is in %q", tc.reason, err)
		}
	}
}

func TestNothingListens(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(lab())
	server.Close()
	_, err := testCluster(t, testConfig(t, server.URL)).Collect(t.Context())
	if err == nil || !strings.Contains(err.Error(), "pveproxy runs") {
		t.Errorf("Collect() = %v", err)
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	const secret = "a pass+word&more"
	var headers []string
	estate := lab()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && (r.PostFormValue("username") != "driftd@pve" || r.PostFormValue("password") != secret) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path == "/api2/json/version" {
			headers = append(headers, r.Header.Get("Authorization"))
		}
		estate.ServeHTTP(w, r)
	}))
	defer server.Close()
	config := testConfig(t, server.URL)
	file := filepath.Join(t.TempDir(), "password")
	config.TokenID, config.TokenFile, config.Username, config.PasswordFile = "", "", "driftd@pve", file
	for _, tc := range []struct{ reason, password, want string }{
		{"the right one", secret, ""},
		{"again: a ticket lasts two hours", secret, ""},
		{"a wrong one", "guess", "driftd@pve is refused"},
	} {
		if err := os.WriteFile(file, []byte(tc.password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, err := testCluster(t, config).Collect(t.Context()); err != nil {
			got = err.Error()
		}
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) || strings.Contains(got, tc.password) {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
	if len(headers) != 2 || headers[0] != "PVEAuthCookie=PVE:ticket" {
		t.Errorf("Authorization headers %q", headers)
	}
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	server := lab()
	server.Break("/access/ticket", func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":{"ticket":"PVE:!tfa!x","NeedTFA":1}}`)
	})
	_, err := tryCollect(t, server, func(c *Config) {
		c.Username, c.PasswordFile, c.TokenID, c.TokenFile = "driftd@pve", c.TokenFile, "", ""
	})
	if err == nil || !strings.Contains(err.Error(), "use an API token") {
		t.Errorf("Collect() = %v", err)
	}
}

func TestTokenIsReread(t *testing.T) {
	t.Parallel()
	estate, want := lab(), ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != want {
			t.Errorf("Authorization header %q, want %q", got, want)
		}
		estate.ServeHTTP(w, r)
	}))
	defer server.Close()
	config := testConfig(t, server.URL)
	c := testCluster(t, config)
	for _, secret := range []string{"first", "renewed"} {
		want = "PVEAPIToken=driftd@pve!ro=" + secret
		if err := os.WriteFile(config.TokenFile, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Collect(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestRetries checks that a request to a busy server is repeated, and one to a node that is
// down is not.
func TestRetries(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]int{http.StatusServiceUnavailable: 4, http.StatusGatewayTimeout: 4, http.StatusInternalServerError: 1, statusNodeDown: 1, statusNodeHangs: 1} {
		server := lab()
		server.Break("/version", faults.Status(code, ""))
		if _, err := tryCollect(t, server); httpclient.Code(err) != code || server.Count("/version", "") != want {
			t.Errorf("%d: %d requests, error %v; want %d requests", code, server.Count("/version", ""), err, want)
		}
	}
}

func TestProbe(t *testing.T) {
	t.Parallel()
	estate := lab()
	server := httptest.NewServer(estate)
	defer server.Close()
	p, err := testCluster(t, testConfig(t, server.URL)).Probe(t.Context())
	if err != nil || p.Version != "9.2.11" || p.Identity != "driftd@pve!ro" || p.Endpoint != server.URL || len(p.Coverage) == 0 {
		t.Errorf("Probe() = %+v, %v", p, err)
	}
	if n := estate.Count("/nodes/", "/pending"); n > 0 {
		t.Errorf("%d guests were read", n)
	}
}

func TestExcludedKinds(t *testing.T) {
	t.Parallel()
	server := lab()
	s := collect(t, server, func(c *Config) { c.ExcludeKinds = []string{"firewall_*", "proxmox/lxc", "storage"} })
	for _, path := range []string{"/storage", "/nodes/pve2/lxc/410/", "/cluster/firewall/"} {
		if n := server.Count(path, ""); n > 0 {
			t.Errorf("%s was requested %d times", path, n)
		}
	}
	for _, c := range s.Coverage {
		excluded := strings.HasPrefix(c.Kind, "proxmox/firewall_") || c.Kind == "proxmox/lxc" || c.Kind == "proxmox/storage"
		if excluded != (c.Reason == "left out by exclude_kinds") || excluded && (!c.Skipped || c.Complete) {
			t.Errorf("coverage %+v", c)
		}
	}
	for _, r := range s.Resources {
		if strings.HasPrefix(r.Kind, "proxmox/firewall_") || r.Kind == "proxmox/lxc" || r.Kind == "proxmox/storage" {
			t.Errorf("%s was read", r.Key)
		}
	}
}

func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	s := collect(t, lab())
	if r := must(t, &s, "metrics_server", "influx"); !r.Value.HasSecret() {
		t.Errorf("the token of %s is not sealed: %s", r.Key, r.Value)
	}
	for _, r := range s.Resources {
		if text := string(r.Value.AppendJSON(nil)); strings.Contains(text, "metrics-secret") || strings.Contains(text, "0f8e") {
			t.Errorf("%s shows a secret", r.Key)
		}
	}
}
