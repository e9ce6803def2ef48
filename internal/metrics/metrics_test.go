package metrics

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

// start is when the frozen clock of these tests begins.
func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// A clock stands still until it is moved.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func frozen(t *testing.T) (*Metrics, *clock) {
	t.Helper()
	c := &clock{start()}
	return newBare(Build{Version: "1.2.3", Commit: "abcdef0", GoVersion: "go1.26"}, c.now), c
}

// page reads the metrics page, as Prometheus would.
func page(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("GET /metrics = %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// has tells whether a page has a line.
func has(page, line string) bool { return strings.Contains("\n"+page, "\n"+line+"\n") }

func finding(source, kind, id string, verdict model.Verdict, severity model.Severity) model.Finding {
	return model.Finding{
		ID: kind + id, Verdict: verdict, Severity: severity,
		Key: model.Key{Source: source, Kind: kind, ID: id},
	}
}

func busy(t *testing.T) *Metrics {
	t.Helper()
	m, c := frozen(t)
	m.Configure([]Source{{"prod", 5 * time.Minute}, {"edge", time.Minute}, {"new", time.Hour}}, []string{"shop", "platform"})
	m.SourceScanned("prod", 1500*time.Millisecond, nil)
	m.SourceScanned("prod", 40*time.Second, nil)
	m.SourceScanned("edge", time.Minute, errors.New("connection refused"))
	m.DeclarationLoaded("shop", nil)
	m.DeclarationLoaded("platform", errors.New("remote is gone"))
	hidden := finding("prod", "kubernetes/ConfigMap", "shop/c", model.Changed, model.Low)
	hidden.Hidden = "noise"
	m.ObserveRun(model.Run{
		Sources:      []model.SourceRun{{Name: "prod", Resources: 412, Taken: start()}, {Name: "edge", Err: "connection refused"}},
		Declarations: []model.DeclarationRun{{Name: "shop", Claims: 390}, {Name: "platform", Err: "remote is gone"}},
		Coverage: []model.Coverage{
			{Source: "prod", Complete: true}, {Source: "prod", Kind: "kubernetes/Secret"}, {Source: "edge"}, {Source: "gone"},
		},
	}, []model.Finding{
		finding("prod", "kubernetes/Deployment.apps", "shop/a", model.Changed, model.High),
		finding("prod", "kubernetes/Deployment.apps", "shop/b", model.Changed, model.High),
		finding("prod", "kubernetes/Service", "shop/b", model.Missing, model.Critical),
		finding("edge", "kubernetes/Service", "shop/b", model.Unchecked, model.Info),
		finding("edge", "kubernetes/Service", "shop/b", model.Unchecked, model.Info),
		finding("edge", "kubernetes/\xffodd", "shop/b", model.Unchecked, model.Info),
		finding("gone", "kubernetes/Service", "shop/b", model.Missing, model.Critical),
		hidden,
	})
	m.ConfigReloaded(false)
	m.StoreSize(1 << 20)
	c.at = c.at.Add(4 * time.Minute)
	return m
}

func TestPage(t *testing.T) {
	t.Parallel()
	got := page(t, busy(t))
	file := filepath.Join("testdata", "metrics.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
}

func TestPageOfAProcess(t *testing.T) {
	t.Parallel()
	got := page(t, New(Build{Version: "1.2.3"}, time.Now))
	for _, name := range []string{"go_goroutines ", "process_start_time_seconds ", "driftd_build_info{"} {
		if !strings.Contains(got, "\n"+name) {
			t.Errorf("page lacks %s", name)
		}
	}
}

func TestStale(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		// success is when the source was read after the start; negative: never.
		success, now time.Duration
		want         string
	}{
		"fresh":        {reason: "it was just read", success: 0, now: time.Minute, want: "0"},
		"at the limit": {reason: "three intervals may pass", success: time.Minute, now: 16 * time.Minute, want: "0"},
		"stale":        {reason: "the fourth may not", success: time.Minute, now: 16*time.Minute + 1, want: "1"},
		"not yet":      {reason: "a new source gets its time", success: -1, now: 15 * time.Minute, want: "0"},
		"never":        {reason: "what was never read is not fresh", success: -1, now: 15*time.Minute + 1, want: "1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, c := frozen(t)
			m.Configure([]Source{{"prod", 5 * time.Minute}}, nil)
			if tt.success >= 0 {
				c.at = start().Add(tt.success)
				m.SourceScanned("prod", time.Second, nil)
			}
			c.at = start().Add(tt.now)
			m.SourceScanned("prod", time.Second, errors.New("timeout"))
			if got := page(t, m); !has(got, `driftd_source_stale{source="prod"} `+tt.want) {
				t.Errorf("%s: want %s on the page:\n%s", tt.reason, tt.want, got)
			}
		})
	}
}

func TestLastRunOfTheStoreFillsThePage(t *testing.T) {
	t.Parallel()
	m, _ := frozen(t)
	m.Configure([]Source{{"prod", 5 * time.Minute}}, []string{"shop"})
	m.ObserveRun(model.Run{Sources: []model.SourceRun{{Name: "prod", Resources: 7, Taken: start().Add(-time.Hour)}}}, nil)
	got := page(t, m)
	for _, line := range []string{
		`driftd_source_stale{source="prod"} 1`,
		`driftd_resources{source="prod"} 7`,
		`driftd_scan_last_success_timestamp_seconds{source="prod"} 1.7723628e+09`,
		`driftd_scans_total{result="success",source="prod"} 0`,
	} {
		if !has(got, line) {
			t.Errorf("page lacks %s:\n%s", line, got)
		}
	}
}

func TestFailedScanKeepsTheCountAndShowsUnchecked(t *testing.T) {
	t.Parallel()
	m, _ := frozen(t)
	m.Configure([]Source{{"prod", 5 * time.Minute}}, nil)
	m.ObserveRun(model.Run{Sources: []model.SourceRun{{Name: "prod", Resources: 7}}}, nil)
	m.ObserveRun(model.Run{Sources: []model.SourceRun{{Name: "prod", Err: "refused"}}},
		[]model.Finding{finding("prod", "kubernetes/Service", "shop/web", model.Unchecked, model.Info)})
	got := page(t, m)
	for _, line := range []string{`driftd_resources{source="prod"} 7`, `driftd_unchecked_resources{source="prod"} 1`} {
		if !has(got, line) {
			t.Errorf("page lacks %s:\n%s", line, got)
		}
	}
}

func TestReloadRemovesSeries(t *testing.T) {
	t.Parallel()
	m := busy(t)
	m.Configure([]Source{{"prod", 5 * time.Minute}}, []string{"platform"})
	m.SourceScanned("edge", time.Second, nil) // one that was under way
	m.DeclarationLoaded("shop", nil)
	got := page(t, m)
	for _, name := range []string{"edge", "new", "shop"} {
		if strings.Contains(got, `"`+name+`"`) {
			t.Errorf("page still shows %s:\n%s", name, got)
		}
	}
	if !has(got, `driftd_scans_total{result="success",source="prod"} 2`) || !has(got, `driftd_resources{source="prod"} 412`) {
		t.Errorf("page forgot prod:\n%s", got)
	}
}

func TestReloadIsShown(t *testing.T) {
	t.Parallel()
	m, c := frozen(t)
	c.at = start().Add(time.Hour)
	m.ConfigReloaded(false)
	successful, timestamp := "driftd_config_last_reload_successful ", "driftd_config_last_reload_success_timestamp_seconds "
	if got := page(t, m); !has(got, successful+"0") || !has(got, timestamp+"1.7723664e+09") {
		t.Errorf("a bad file gives\n%s", got)
	}
	m.ConfigReloaded(true)
	if got := page(t, m); !has(got, successful+"1") || !has(got, timestamp+"1.77237e+09") {
		t.Errorf("a good file gives\n%s", got)
	}
}

func TestFindingSeriesAreBounded(t *testing.T) {
	t.Parallel()
	m, _ := frozen(t)
	m.Configure([]Source{{"prod", time.Minute}}, nil)
	var open []model.Finding
	for i := range 2 * MaxFindingSeries {
		severity := model.Low
		if i%100 == 7 {
			severity = model.Critical
		}
		open = append(open, finding("prod", fmt.Sprintf("crd/Kind%04d", i), "x", model.Changed, severity))
	}
	m.ObserveRun(model.Run{}, open)
	got := page(t, m)
	if n := strings.Count(got, "\ndriftd_findings{"); n != MaxFindingSeries+1 {
		t.Errorf("page has %d series of findings, want %d", n, MaxFindingSeries+1)
	}
	if n := strings.Count(got, `severity="critical"`); n != 10 {
		t.Errorf("page has %d critical series, want all 10", n)
	}
	if !has(got, `driftd_findings{kind="other",severity="low",source="prod",verdict="changed"} 500`) {
		t.Errorf("page does not fold the mild ones:\n%s", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	m := busy(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 20 {
				m.SourceScanned("prod", time.Second, nil)
				m.Configure([]Source{{"prod", time.Minute}}, nil)
				m.ObserveRun(model.Run{}, []model.Finding{finding("prod", "k/K", "x", model.Changed, model.Low)})
			}
		})
		group.Go(func() { page(t, m) })
	}
	group.Wait()
}
