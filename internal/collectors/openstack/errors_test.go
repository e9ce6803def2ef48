package openstack

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/openstack/openstacktest"
	"github.com/driftd/driftd/internal/faults"
)

const login401 = `{"error":{"code":401,"message":"The request you have made requires authentication.","title":"Unauthorized"}}`

func TestAnswersThatFailTheScan(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the password went to %s", r.URL)
	}))
	t.Cleanup(elsewhere.Close)
	for name, tc := range map[string]struct {
		fault faults.Fault
		want  []string
	}{
		"refused":                     {faults.Status(401, login401), []string{"401 Unauthorized: The request", "check the password or the application credential"}},
		"no role":                     {faults.Status(403, `{"error":{"message":"no"}}`), []string{"403 Forbidden: no", "give it a role there"}},
		"another API":                 {faults.Status(404, "<html>"), []string{"404 Not Found, with an HTML page", "set auth_url"}},
		"login page":                  {faults.Status(201, "<html>"), []string{"not valid JSON of Keystone", "set auth_url"}},
		"nothing":                     {faults.Status(201, ""), []string{"not valid JSON of Keystone"}},
		"no token":                    {faults.Status(201, `{"token":{}}`), []string{"holds no token"}},
		"redirect":                    {faults.Redirect(elsewhere.URL + "/v3?next=secret"), []string{"302 Found, to " + elsewhere.URL + "/v3;", "the password is sent to no other address"}},
		"in trouble":                  {faults.Status(500, ""), []string{"500", "see its log"}},
		"no Keystone":                 {faults.Status(502, "<html>"), []string{"502", "check that Keystone runs"}},
		"busy":                        {faults.Busy(429, "3600"), []string{"429", "set rate"}},
		"a message with the password": {faults.Status(500, `{"error":{"message":"boom `+openstacktest.Password+`"}}`), []string{"boom …"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, openstacktest.Small())
			server.Break("/v3/auth/tokens", tc.fault)
			_, err := drainBus(t, server, "member").Collect(t.Context())
			if err == nil {
				t.Fatal("Collect() gives a snapshot")
			}
			wantIn(t, err.Error(), tc.want...)
			if strings.Contains(err.Error(), openstacktest.Password) || strings.Contains(err.Error(), "next=secret") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q", err)
			}
		})
	}
}

func TestInvalidCatalogues(t *testing.T) {
	t.Parallel()
	twoRegions := openstacktest.Small()
	twoRegions.Regions = []string{"north", "south"}
	for name, tc := range map[string]struct {
		region string
		want   []string
	}{
		"wrong region": {"west", []string{"no region west; it has north, south", "set region"}},
		"no region":    {"", []string{"several regions: north, south", "set region"}},
	} {
		_, err := drainBus(t, newServer(t, twoRegions), "member", func(c *Config) { c.Region = tc.region }).Collect(t.Context())
		if err == nil {
			t.Fatalf("%s: Collect() gives a snapshot", name)
		}
		wantIn(t, err.Error(), tc.want...)
	}
	if s := collect(t, newServer(t, twoRegions), "member", func(c *Config) { c.Region = "south" }); len(ids(s, "server")) == 0 {
		t.Error("a region that is named is not read")
	}
}

func TestMissingService(t *testing.T) {
	t.Parallel()
	estate := openstacktest.Small()
	estate.Without, estate.Clear = []string{"volumev3"}, "image"
	s := collect(t, newServer(t, estate), "member")
	if c := covered(t, s, "volume", ""); c.Complete || !c.Skipped || c.Reason != "the catalogue of region RegionOne has no block-storage service" {
		t.Errorf("%+v", c)
	}
	c := covered(t, s, "image", "")
	if c.Complete || c.Skipped {
		t.Errorf("%+v", c)
	}
	wantIn(t, c.Reason, "http://openstack.internal:8774", "without encryption")
}

func TestAnswersThatFailAList(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault faults.Fault
		want  string
	}{
		"forbidden":         {faults.Status(403, `{"forbidden":{"code":403,"message":"Policy doesn't allow it."}}`), "403 Forbidden: Policy doesn't allow it.: give the user the role reader"},
		"login page":        {faults.Status(200, "<html>"), "HTML page: exempt driftd"},
		"not there":         {faults.Status(404, "{}"), "404 Not Found: check that the endpoint"},
		"in trouble":        {faults.Status(500, `{"computeFault":{"message":"oh"}}`), "500 Internal Server Error: oh: see the log of the network service"},
		"gave up":           {faults.Status(502, "<html>"), "502 Bad Gateway, with an HTML page: check the proxy"},
		"redirect":          {faults.Redirect("/elsewhere"), "302 Found"},
		"too busy":          {faults.Busy(413, "3600"), "413 Request Entity Too Large: set rate"},
		"no list":           {faults.Status(200, `{"networks":null}`), "has no list networks"},
		"another list":      {faults.Status(200, `{"nets":[]}`), "has no list networks"},
		"no object":         {faults.Status(200, `[]`), "not a JSON object"},
		"row without an id": {faults.Status(200, `{"networks":[{"name":"x"}]}`), "row 1 of the answer cannot be read"},
		"lost next":         {faults.Status(200, `{"networks":[],"networks_links":[{"rel":"next","href":"x"}]}`), "has no marker of the next page"},
		"token refused":     {faults.Status(401, login401), "with a new token too"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, openstacktest.Small())
			server.Break(openstacktest.Networks, tc.fault)
			s := collect(t, server, "member")
			c := covered(t, s, "network", "")
			if c.Complete || c.Skipped || len(ids(s, "network")) > 0 {
				t.Errorf("%+v with %d networks", c, len(ids(s, "network")))
			}
			wantIn(t, c.Reason, tc.want)
			if !covered(t, s, "subnet", project).Complete {
				t.Error("it costs another list")
			}
		})
	}
}

func TestPauseIsKept(t *testing.T) {
	t.Parallel()
	server := newServer(t, openstacktest.Small())
	server.Break(openstacktest.Servers, faults.Once(faults.Busy(413, "0")))
	server.Break(openstacktest.Ports, faults.Once(faults.Busy(429, "0")))
	s := collect(t, server, "member")
	if !covered(t, s, "server", project).Complete || !covered(t, s, "port", project).Complete {
		t.Errorf("a service that was busy is not asked again: %+v", s.Coverage)
	}
}

func TestTokenThatExpiresDuringScan(t *testing.T) {
	t.Parallel()
	server := newServer(t, openstacktest.Small())
	server.Break(openstacktest.Networks, faults.Once(faults.Before(server.EndTokens)))
	s := collect(t, server, "credential")
	for _, c := range s.Coverage {
		if c.Failed() {
			t.Errorf("%+v", c)
		}
	}
	if again := len(server.Requests("/v3/auth/tokens")); again != 2 {
		t.Errorf("%d logins, want one more", again)
	}
}

func TestCredentialThatExpiresDuringScan(t *testing.T) {
	t.Parallel()
	server := newServer(t, openstacktest.Small())
	server.Break(openstacktest.Networks, faults.Once(faults.Before(func() {
		server.EndTokens()
		server.Edit(func(e *openstacktest.Estate) { e.Accounts = nil })
	})))
	s := collect(t, server, "credential", func(c *Config) { c.Concurrency = 1 })
	c := covered(t, s, "network", "")
	if c.Complete || c.Skipped {
		t.Errorf("%+v", c)
	}
	wantIn(t, c.Reason, "the token expired and could not be renewed: 401", "cloud credential of clouds_file", "have not expired")
	if strings.Contains(c.Reason, openstacktest.Secret) {
		t.Errorf("%q", c.Reason)
	}
}

//nolint:paralleltest // It changes the environment.
func TestEnvironmentIsIgnored(t *testing.T) {
	for name, value := range map[string]string{"OS_REGION_NAME": "nowhere", "OS_CACERT": "/none", "OS_CERT": "/none", "OS_KEY": "/none", "OS_INTERFACE": "admin", "OS_PASSWORD": "x", "OS_CLOUD": "x"} {
		t.Setenv(name, value)
	}
	if s := collect(t, newServer(t, openstacktest.Small()), "member"); len(s.Resources) == 0 {
		t.Error("nothing was read")
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no file":           {func(c *Config) { c.CloudsFile = "" }, "clouds_file is missing"},
		"no cloud":          {func(c *Config) { c.Cloud = "" }, "cloud is missing"},
		"concurrency":       {func(c *Config) { c.Concurrency = 0 }, "concurrency must be more than 0"},
		"page":              {func(c *Config) { c.PageSize = 1 }, "page_size"},
		"rate":              {func(c *Config) { c.Rate = -1 }, "rate"},
		"pattern":           {func(c *Config) { c.ExcludeKinds = []string{"["} }, "exclude_kinds"},
		"notifications":     {func(c *Config) { c.Notifications.URLFile, c.Notifications.Topic = "x", "" }, "notifications.topic"},
		"a service's queue": {func(c *Config) { c.Notifications.URLFile, c.Notifications.Queue = "x", "notifications.info" }, "notifications.queue must not be notifications.info"},
		"keep":              {func(c *Config) { c.Notifications.URLFile, c.Notifications.Keep = "x", 0 }, "notifications.keep"},
		"good":              {func(*Config) {}, ""},
	} {
		config := Defaults()
		config.CloudsFile, config.Cloud = "clouds.yaml", "web"
		tc.change(&config)
		switch err := config.check(); {
		case tc.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.want != "" && err == nil:
			t.Errorf("%s is taken", name)
		case err != nil:
			wantIn(t, err.Error(), tc.want)
		}
	}
}
