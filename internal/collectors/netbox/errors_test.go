package netbox

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/netboxapi"
)

func TestAnswersThatFailTheScan(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the token went to %s: %q", r.URL, r.Header.Get("Authorization"))
	}))
	defer elsewhere.Close()
	for _, tc := range []struct {
		reason string
		fault  faults.Fault
		want   []string
	}{
		{"a token that is wrong", faults.Status(403, `{"detail":"Invalid v1 token"}`), []string{"403 Forbidden: Invalid v1 token", "rejects the token"}},
		{"a token that is wrong, before 4.5", faults.Status(403, `{"detail":"Invalid token"}`), []string{"rejects the token"}},
		{"a token that is too old", faults.Status(403, `{"detail":"Token expired"}`), []string{"Token expired", "rejects the token"}},
		{"no token arrived", faults.Status(403, `{"detail":"Authentication credentials were not provided."}`), []string{"rejects the token"}},
		{"a proxy's own login", faults.Status(401, "<html>"), []string{"401 Unauthorized, with an HTML page", "rejects the token"}},
		{"a firewall's page", faults.Status(403, "<html>blocked</html>"), []string{"403 Forbidden, with an HTML page", "a proxy in front of it"}},
		{"a login page", faults.LoginPage(), []string{"an HTML page", "exempt driftd from any login page"}},
		{"a login page that calls itself JSON", faults.Status(200, " <!DOCTYPE html>"), []string{"an HTML page", "set url"}},
		{"a redirect", faults.Redirect(elsewhere.URL + "/login?next=secret"), []string{"302 Found, to " + elsewhere.URL + "/login;", "the token is sent to no other address"}},
		{"a proxy without NetBox", faults.BadGateway(), []string{"502 Bad Gateway, with an HTML page", "systemctl status netbox"}},
		{"NetBox in trouble", faults.Status(500, "<html>"), []string{"500 Internal Server Error", "journalctl -u netbox"}},
		{"another application", faults.Status(404, "<html>"), []string{"404 Not Found", "not NetBox's API"}},
		{"another API", faults.Status(200, `{"version":"1.2"}`), []string{"has no version", "not NetBox's API"}},
		{"a list", faults.Status(200, `[]`), []string{"not a JSON object", "not NetBox's API"}},
		{"half an answer", faults.Status(200, `{"netbox-ver`), []string{"no JSON", "not NetBox's API"}},
		{"too busy", faults.Status(429, ``), []string{"429", "set rate"}},
		{"a message with the token", faults.Status(500, `{"detail":"boom `+testToken+`"}`), []string{"boom …"}},
	} {
		server := newServer(netboxtest.Small())
		server.Break("", tc.fault)
		_, err := listen(t, server).Collect(t.Context())
		if err == nil {
			t.Errorf("%s: Collect() gives a snapshot", tc.reason)
			continue
		}
		wantIn(t, err.Error(), tc.want...)
		if strings.Contains(err.Error(), testToken) || strings.Contains(err.Error(), "next=secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %q", tc.reason, err)
		}
	}
}

// fromNetBox adds NetBox's version header to the answers of a fault.
func fromNetBox(f faults.Fault) faults.Fault {
	return func(server http.Handler, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("API-Version", "4.6")
		f(server, w, r)
	}
}

func TestHintsBeforeAnyAnswer(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, noToken := netboxapi.Connect(netboxapi.Access{TokenFile: empty}, httpclient.Limits{})
	_, noAuthority := httpclient.Trust(empty)
	for _, tc := range []struct {
		reason, url string
		err         error
		want        string
	}{
		{"an empty token file", "https://nb", &collectors.LocalError{Err: noToken}, "write the secret into it); see docs/netbox.md"},
		{"a ca_file of something else", "https://nb", &collectors.LocalError{Err: noAuthority}, "copy that of the authority; see docs/netbox.md"},
		{"TLS is expected there", "http://127.0.0.1:8443", &httpclient.Status{Code: 400}, "400 Bad Request; the port may expect TLS: try https://"},
		{"a bad request", "https://nb", &httpclient.Status{Code: 400}, "400 Bad Request; see the log of NetBox"},
		{"a proxy on the way", "https://nb", &httpclient.Status{Code: 407}, "HTTPS_PROXY"},
	} {
		wantIn(t, Config{URL: tc.url}.explain(tc.err).Error(), tc.want)
	}
}

func TestAnswersThatFailAList(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason  string
		fault   faults.Fault
		want    string
		skipped bool
	}{
		{"no permission", faults.Status(403, `{"detail":"You do not have permission to perform this action."}`), "grant view on dcim.site", false},
		{"a version without it", fromNetBox(faults.Status(404, "<html>")), "NetBox 4.6.8 does not have this list", true},
		{"a proxy that lost NetBox for a moment", faults.Status(404, "<html>"), "404 Not Found, with an HTML page, and the answer is not from NetBox", false},
		{"a login page", faults.LoginPage(), "HTML page: exempt driftd", false},
		{"a proxy that gave up", faults.BadGateway(), "502 Bad Gateway, with an HTML page: check the proxy", false},
		{"a redirect", faults.Redirect("/login/"), "302 Found", false},
		{"an error", faults.Status(500, "{}"), "500 Internal Server Error: see the log", false},
		{"a token that expired meanwhile", faults.Status(403, `{"detail":"Token expired"}`), "check the token", false},
	} {
		server := newServer(sites("4.6.8", 3))
		server.Break("dcim/sites", tc.fault)
		s := collect(t, server)
		c := covered(t, s, "dcim.site")
		if c.Complete || c.Skipped != tc.skipped || len(siteIDs(s)) > 0 {
			t.Errorf("%s: %+v with %d sites", tc.reason, c, len(siteIDs(s)))
		}
		wantIn(t, c.Reason, tc.want)
		if !covered(t, s, "ipam.ipaddress").Complete {
			t.Errorf("%s: costs another list", tc.reason)
		}
	}
}

func TestBusyServersAreRetried(t *testing.T) {
	t.Parallel()
	for _, code := range []int{429, 502, 503, 504} {
		server := newServer(sites("4.6.8", 3))
		server.Break("dcim/sites", faults.Once(faults.Status(code, "")))
		if s := collect(t, server); len(siteIDs(s)) != 3 || len(server.Requests("dcim/sites")) != 2 {
			t.Errorf("%d once: %d sites in %d requests", code, len(siteIDs(s)), len(server.Requests("dcim/sites")))
		}
		server = newServer(sites("4.6.8", 3))
		server.Break("dcim/sites", faults.Status(code, ""))
		if s := collect(t, server); covered(t, s, "dcim.site").Complete || len(server.Requests("dcim/sites")) != 4 {
			t.Errorf("%d always: %d requests, want %d", code, len(server.Requests("dcim/sites")), 4)
		}
	}
}

func TestUnreachableServers(t *testing.T) {
	t.Parallel()
	config := testConfig(t, "http://127.0.0.1:1")
	_, err := testInventory(t, config).Collect(t.Context())
	if err == nil {
		t.Fatal("Collect() of an unreachable server returns a snapshot")
	}
	wantIn(t, err.Error(), "nothing listens there")
	config.TokenFile = filepath.Join(t.TempDir(), "absent")
	if _, err = testInventory(t, config).Collect(t.Context()); err == nil {
		t.Fatal("Collect() without a token gives a snapshot")
	}
	wantIn(t, err.Error(), "absent", "correct the path")
	config.CAFile = config.TokenFile
	config.TokenFile = testConfig(t, config.URL).TokenFile
	if _, err = testInventory(t, config).Collect(t.Context()); err == nil {
		t.Fatal("Collect() without its authority gives a snapshot")
	}
	wantIn(t, err.Error(), "read ca_file")
}

func TestAnswersThatTakeTooLong(t *testing.T) {
	t.Parallel()
	server := newServer(sites("4.6.8", 3))
	server.Break("dcim/sites", func(_ http.Handler, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	// Other answers must arrive within the same time.
	s := collect(t, server, func(c *Config) { c.Timeout = 2 * time.Second; c.ExcludeKinds = []string{"[ce-z]*"} })
	wantIn(t, covered(t, s, "dcim.site").Reason, "no full answer within 2s", "timeout")
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(newServer(netboxtest.Small()))
	t.Cleanup(server.Close)
	_, err := testInventory(t, testConfig(t, server.URL)).Collect(t.Context())
	if err == nil {
		t.Fatal("an unknown authority is taken")
	}
	wantIn(t, err.Error(), "set ca_file")
}

func TestConfigProblems(t *testing.T) {
	t.Parallel()
	good := Defaults()
	good.URL, good.TokenFile = "https://netbox.example.org/", "token"
	for _, tc := range []struct {
		reason string
		change func(*Config)
		want   string
	}{
		{"no problem", func(*Config) {}, ""},
		{"the address with the path that the API has", func(c *Config) { c.URL += "api/" }, ""},
		{"a path of its own", func(c *Config) { c.URL += "netbox" }, ""},
		{"no address", func(c *Config) { c.URL = "" }, "setting url is missing"},
		{"an address without a scheme", func(c *Config) { c.URL = "netbox.example.org" }, "setting url is not an address"},
		{"an address with a query", func(c *Config) { c.URL += "?a=b" }, "setting url is not an address"},
		{"a token in the clear", func(c *Config) { c.URL = "http://netbox.example.org" }, "https://"},
		{"the machine itself", func(c *Config) { c.URL = "http://[::1]:8000" }, ""},
		{"credentials in the address", func(c *Config) { c.URL = "https://root:secret@netbox.example.org" }, "must not hold credentials"},
		{"no token", func(c *Config) { c.TokenFile = "" }, "setting token_file is missing"},
		{"no request at all", func(c *Config) { c.Concurrency = 0 }, "setting concurrency"},
		{"no time", func(c *Config) { c.Timeout = 0 }, "setting timeout"},
		{"no size", func(c *Config) { c.MaxBody = 0 }, "setting max_body"},
		{"no page", func(c *Config) { c.PageSize = 1 }, "setting page_size"},
		{"a negative rate", func(c *Config) { c.Rate = -1 }, "settings rate"},
		{"no changelog", func(c *Config) { c.Changes, c.MaxChanges = 0, 0 }, ""},
		{"a pattern", func(c *Config) { c.ExcludeKinds = []string{"[x"} }, "exclude_kinds"},
	} {
		config := good
		tc.change(&config)
		got := ""
		if _, err := config.complete(); err != nil {
			got = err.Error()
		}
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) || strings.Contains(got, "secret@") {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
	if c, _ := good.complete(); c.URL != "https://netbox.example.org" {
		t.Errorf("the address is %q", c.URL)
	}
	if _, err := Definition().Open(collectors.Env{}, func(any) error { return nil }); err == nil {
		t.Error("settings without an address are taken")
	}
}
