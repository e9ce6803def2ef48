package netbox

import (
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
	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/faults"
	"github.com/driftd/driftd/internal/model"
)

// testNow returns the time of every scan.
func testNow() time.Time { return time.Date(2026, 11, 20, 7, 0, 0, 0, time.UTC) }

const testToken = "6c6c6c6c6c6c6c6c6c6c6c6c6c6c6c6c6c6c6c6c"

func newServer(estate netboxtest.Estate) *netboxtest.Server {
	s := netboxtest.New(estate, rand.New(rand.NewPCG(5, 5)))
	s.Token = "Token " + testToken
	return s
}

func testConfig(t testing.TB, url string) Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(testToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := Defaults()
	config.URL, config.TokenFile = url, file
	return config
}

// testInventory returns a collector with a short backoff.
func testInventory(t *testing.T, config Config) *inventory {
	t.Helper()
	c, err := open(collectors.Env{Name: "netbox", Sealer: model.NewSealer([]byte("key of the tests"))}, config)
	if err != nil {
		t.Fatal(err)
	}
	quick := c.(*inventory)
	quick.now, quick.backoff = testNow, time.Millisecond
	return quick
}

// listen starts a server that is closed with the test, and returns a collector of it.
func listen(t *testing.T, server http.Handler, change ...func(*Config)) *inventory {
	t.Helper()
	listening := httptest.NewServer(server)
	t.Cleanup(listening.Close)
	config := testConfig(t, listening.URL)
	for _, c := range change {
		c(&config)
	}
	return testInventory(t, config)
}

// collect reads the server once.
func collect(t *testing.T, server http.Handler, change ...func(*Config)) model.Snapshot {
	t.Helper()
	snapshot, err := listen(t, server, change...).Collect(t.Context())
	if err != nil {
		t.Fatalf("Collect(): %v", err)
	}
	return snapshot
}

// must returns a resource. It fails the test if the snapshot lacks it.
func must(t *testing.T, s model.Snapshot, kind, id string) model.Resource {
	t.Helper()
	i := slices.IndexFunc(s.Resources, func(r model.Resource) bool { return r.Kind == Type+"/"+kind && r.ID == id })
	if i < 0 {
		t.Fatalf("%s %s is not in the snapshot", kind, id)
	}
	return s.Resources[i]
}

// covered returns the coverage of a kind.
func covered(t *testing.T, s model.Snapshot, kind string) model.Coverage {
	t.Helper()
	i := slices.IndexFunc(s.Coverage, func(c model.Coverage) bool { return c.Kind == Type+"/"+kind })
	if i < 0 {
		t.Fatalf("%s has no coverage", kind)
	}
	return s.Coverage[i]
}

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not hold %q", text, part)
		}
	}
}

func shown(v model.Value) string { return string(v.AppendJSON(nil)) }

func model46() normalize.Version { return normalize.Version{Major: 4, Minor: 6} }

// withHeader answers without a version in the body, with the header API-Version.
func withHeader(version string) faults.Fault {
	return func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("API-Version", version)
		_, _ = w.Write([]byte("{}"))
	}
}
