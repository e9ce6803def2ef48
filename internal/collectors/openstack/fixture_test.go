package openstack

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/openstack/openstacktest"
	"github.com/driftd/driftd/internal/model"
)

// testNow returns the time of every scan.
func testNow() time.Time { return time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC) }

// cloudsFile is a clouds.yaml with an entry for each account of the fake cloud.
func cloudsFile(url string) string {
	return fmt.Sprintf(`clouds:
  admin: {auth: {auth_url: %[1]q, username: admin, password: %[2]q, project_name: web, user_domain_name: Default, project_domain_name: Default}}
  member: {auth: {auth_url: %[1]q, username: alice, password: %[2]q, project_name: web, user_domain_name: Default, project_domain_name: Default}}
  odd: {auth: {auth_url: %[1]q, username: odd, password: %[2]q, project_name: web, default_domain: default}}
  wrong: {auth: {auth_url: %[1]q, username: alice, password: "wrong", project_name: web, default_domain: default}}
  credential: {auth_type: v3applicationcredential, auth: {auth_url: %[1]q, application_credential_id: %[3]q, application_credential_secret: %[4]q}}
`, url, openstacktest.Password, openstacktest.Credential, openstacktest.Secret)
}

// newServer returns a server that fails the test on unknown requests.
func newServer(t *testing.T, estate openstacktest.Estate) *openstacktest.Server {
	t.Helper()
	s := openstacktest.New(estate, rand.New(rand.NewPCG(5, 5)))
	s.Strange = func(request string) { t.Errorf("unknown request: %s", request) }
	return s
}

func testConfig(t testing.TB, url, cloud string) Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "clouds.yaml")
	if err := os.WriteFile(file, []byte(cloudsFile(url)), 0o600); err != nil {
		t.Fatal(err)
	}
	config := Defaults()
	config.CloudsFile, config.Cloud, config.Actions = file, cloud, 0
	return config
}

// testCloud returns a collector with a short backoff.
func testCloud(t testing.TB, config Config) *cloud {
	t.Helper()
	c, err := open(collectors.Env{Name: "stack", Sealer: model.NewSealer([]byte("key of the tests")), Log: slog.New(slog.DiscardHandler)}, config)
	if err != nil {
		t.Fatal(err)
	}
	quick := c.(*cloud)
	quick.now, quick.backoff = testNow, time.Millisecond
	return quick
}

// listen starts a server that is closed with the test, and returns a collector of it.
func drainBus(t *testing.T, server http.Handler, cloud string, change ...func(*Config)) *cloud {
	t.Helper()
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	config := testConfig(t, listening.URL+"/v3", cloud)
	for _, c := range change {
		c(&config)
	}
	return testCloud(t, config)
}

// collect reads the server once.
func collect(t *testing.T, server http.Handler, cloud string, change ...func(*Config)) model.Snapshot {
	t.Helper()
	snapshot, err := drainBus(t, server, cloud, change...).Collect(t.Context())
	if err != nil {
		t.Fatalf("Collect(): %v", err)
	}
	return snapshot
}

// covered returns the coverage of a kind in a place.
func covered(t *testing.T, s model.Snapshot, kind, place string) model.Coverage {
	t.Helper()
	i := slices.IndexFunc(s.Coverage, func(c model.Coverage) bool { return c.Kind == Type+"/"+kind && c.Place == place })
	if i < 0 {
		t.Fatalf("%s has no coverage in %q", kind, place)
	}
	return s.Coverage[i]
}

// ids returns the ids of the resources of a kind.
func ids(s model.Snapshot, kind string) []string {
	var all []string
	for _, r := range s.Resources {
		if r.Kind == Type+"/"+kind {
			all = append(all, r.ID)
		}
	}
	return all
}

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not hold %q", text, part)
		}
	}
}

// project is the id of the project that the accounts log in to.
const project = "5c117f89000000000000000000000001"
