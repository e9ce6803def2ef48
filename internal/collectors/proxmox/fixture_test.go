package proxmox

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
	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/internal/model"
)

// testNow returns the current time of the tests.
func testNow() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) }

// newServer returns a fake cluster with the clock of the tests.
func newServer(cluster pvetest.Cluster, order *rand.Rand) *pvetest.Server {
	s := pvetest.New(cluster, order)
	s.Now = testNow
	return s
}

// lab returns a small fake cluster.
func lab() *pvetest.Server { return newServer(pvetest.Lab(), rand.New(rand.NewPCG(5, 5))) }

func testConfig(t testing.TB, url string) Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("0f8e-token-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	config := Defaults()
	config.URL, config.TokenID, config.TokenFile = url, "driftd@pve!ro", file
	return config
}

// testCluster opens a collector with a short backoff.
func testCluster(t testing.TB, config Config) *cluster {
	t.Helper()
	c, err := open(collectors.Env{Name: "pve", Sealer: model.NewSealer([]byte("key of the tests"))}, config)
	if err != nil {
		t.Fatal(err)
	}
	quick := c.(*cluster)
	quick.now, quick.backoff = testNow, time.Millisecond
	return quick
}

// collect reads a server once.
func collect(t *testing.T, server http.Handler, change ...func(*Config)) model.Snapshot {
	t.Helper()
	snapshot, err := tryCollect(t, server, change...)
	if err != nil {
		t.Fatalf("Collect(): %v", err)
	}
	return snapshot
}

func tryCollect(t *testing.T, server http.Handler, change ...func(*Config)) (model.Snapshot, error) {
	t.Helper()
	listening := httptest.NewServer(server)
	defer listening.Close()
	config := testConfig(t, listening.URL)
	for _, c := range change {
		c(&config)
	}
	return testCluster(t, config).Collect(t.Context())
}

// find returns a resource of a snapshot, or nil.
func find(s *model.Snapshot, kind, id string) *model.Resource {
	i := slices.IndexFunc(s.Resources, func(r model.Resource) bool { return r.Kind == Type+"/"+kind && r.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Resources[i]
}

// must returns a resource of a snapshot, or fails the test.
func must(t *testing.T, s *model.Snapshot, kind, id string) *model.Resource {
	t.Helper()
	r := find(s, kind, id)
	if r == nil {
		t.Fatalf("%s %s is not in the snapshot", kind, id)
	}
	return r
}

// unreadReason returns why a resource could not be read, or "".
func unreadReason(s *model.Snapshot, kind, id string) string {
	for _, u := range s.Unread {
		if u.Kind == Type+"/"+kind && u.ID == id {
			return u.Reason
		}
	}
	return ""
}

// failed returns the coverage with failures.
func failed(s *model.Snapshot) []model.Coverage {
	return slices.DeleteFunc(slices.Clone(s.Coverage), func(c model.Coverage) bool { return !c.Failed() })
}

func wantIn(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not hold %q", text, part)
		}
	}
}
