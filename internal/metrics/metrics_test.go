package metrics

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/driftd/driftd/internal/model"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// start is the initial time of the test clock.
func start() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// A clock returns a time that only tests change.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func frozen(t *testing.T) (*Metrics, *clock) {
	t.Helper()
	c := &clock{start()}
	return newBare(Build{Version: "1.2.3", Commit: "abcdef0", GoVersion: "go1.26"}, c.now), c
}

// page returns the metrics page.
func page(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("GET /metrics = %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// has reports whether a page contains the line.
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
	m.Configure([]Source{{"prod", 5 * time.Minute}, {"edge", time.Minute}, {"new", time.Hour}}, []string{"shop", "platform", "infra"},
		[]string{"slack", "oncall", "mirror"})
	m.SourceScanned("prod", 1500*time.Millisecond, nil)
	m.SourceScanned("prod", 40*time.Second, nil)
	m.SourceScanned("edge", time.Minute, errors.New("connection refused"))
	m.DeclarationLoaded("shop", nil)
	m.DeclarationLoaded("platform", errors.New("remote is gone"))
	m.ObserveRun(run(), open())
	m.ReceiversStatus([]model.ReceiverStatus{
		{Name: "slack", Type: "slack", Queued: 3, Oldest: start().Add(-time.Hour), Stopped: true},
		{Name: "oncall", Type: "webhook", Untold: 7},
		{Name: "gone", Type: "webhook", Queued: 1},
	})
	m.Delivered("slack", errors.New("token revoked"))
	m.Delivered("oncall", nil)
	m.Delivered("oncall", nil)
	m.Delivered("gone", nil)
	m.ConfigReloaded(false)
	m.StoreSize(1 << 20)
	m.StoreVerified(true)
	m.AuditInDoubt(true)
	m.AuditWitnessed(false)
	m.AuditCompared(false)
	m.ObserveActions(Acting{States: map[string]map[string]int{"images": {"proposed": 1, "converged": 7}}, Refusals: map[string]int{"frozen": 2}, Held: map[string]map[string]int{"images": {"age": 3}},
		Stopped: map[string]bool{"images": true}, Fights: map[string]int{"images": 1}, Frozen: 1, Scheduled: 2})
	c.at = c.at.Add(4 * time.Minute)
	return m
}

func run() model.Run {
	return model.Run{
		Sources: []model.SourceRun{{Name: "prod", Resources: 412, Taken: start()}, {Name: "edge", Err: "connection refused"},
			{Name: model.LiveSource("infra"), Resources: 9, Taken: start()}},
		Declarations: []model.DeclarationRun{{Name: "shop", Claims: 390}, {Name: "platform", Err: "remote is gone"}},
		Coverage: []model.Coverage{
			{Source: "prod", Complete: true}, {Source: "prod", Kind: "kubernetes/Secret"}, {Source: "edge"}, {Source: "gone"},
			{Source: "prod", Kind: "kubernetes/Event", Skipped: true},
		},
		Rules: []model.RuleRun{{Rule: "kind=Job", Findings: 1}, {Rule: "path=spec.replicas", Fields: 2}, {Rule: "kind=Pod"}},
	}
}

func open() []model.Finding {
	own := model.LiveSource("infra")
	findings := []model.Finding{
		finding("prod", "kubernetes/Deployment.apps", "shop/a", model.Changed, model.High),
		finding("prod", "kubernetes/Deployment.apps", "shop/b", model.Changed, model.High),
		finding("prod", "kubernetes/Service", "shop/b", model.Missing, model.Critical),
		finding("edge", "kubernetes/Service", "shop/b", model.Unchecked, model.Info),
		finding("edge", "kubernetes/Service", "shop/b", model.Unchecked, model.Info),
		finding("edge", "kubernetes/\xffodd", "shop/b", model.Unchecked, model.Info),
		finding("gone", "kubernetes/Service", "shop/b", model.Missing, model.Critical),
		finding(own, "aws_instance", "aws_instance.web", model.Changed, model.Medium),
		finding("prod", "kubernetes/ConfigMap", "shop/c", model.Changed, model.Low),
		finding("prod", "kubernetes/ConfigMap", "shop/d", model.Changed, model.Low),
	}
	for i := range findings {
		findings[i].FirstSeen = start().Add(-time.Duration(i) * time.Hour)
	}
	findings[0].Flapping = true
	findings[8].Hidden = "noise"
	findings[9].Decision = &model.Decision{Kind: model.Accept}
	return findings
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
		"at the limit": {reason: "three intervals are not stale", success: time.Minute, now: 16 * time.Minute, want: "0"},
		"stale":        {reason: "more than three intervals are stale", success: time.Minute, now: 16*time.Minute + 1, want: "1"},
		"not yet":      {reason: "a new source is not stale for three intervals", success: -1, now: 15 * time.Minute, want: "0"},
		"never":        {reason: "a source that was never read becomes stale", success: -1, now: 15*time.Minute + 1, want: "1"},
		"set back":     {reason: "the last read is in the future: the clock was set back", success: 24 * time.Hour, now: time.Minute, want: "1"},
		"stepped back": {reason: "NTP corrects a clock by little", success: time.Minute, now: 0, want: "0"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, c := frozen(t)
			m.Configure([]Source{{"prod", 5 * time.Minute}}, nil, nil)
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

// TestReadAfterTheClockWasSetBack checks that a read counts although its time is before the
// time of the previous read. A restarted daemon has only these times.
func TestReadAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(*Metrics, time.Time){
		"by its schedule": func(m *Metrics, _ time.Time) { m.SourceScanned("prod", time.Second, nil) },
		"followed": func(m *Metrics, now time.Time) {
			m.ObserveRun(model.Run{Sources: []model.SourceRun{{Name: "prod", Taken: now}}}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, c := frozen(t)
			m.Configure([]Source{{"prod", 5 * time.Minute}}, nil, nil)
			m.ObserveRun(model.Run{Sources: []model.SourceRun{{Name: "prod", Taken: c.at.Add(365 * 24 * time.Hour)}}}, nil)
			read(m, c.at)
			if got := page(t, m); !has(got, `driftd_source_stale{source="prod"} 0`) {
				t.Errorf("a source that was just read is stale:\n%s", got)
			}
			c.at = c.at.Add(time.Hour)
			if got := page(t, m); !has(got, `driftd_source_stale{source="prod"} 1`) {
				t.Errorf("a source that was not read for an hour is not stale:\n%s", got)
			}
		})
	}
}

func TestLastRunOfTheStoreFillsThePage(t *testing.T) {
	t.Parallel()
	m, _ := frozen(t)
	m.Configure([]Source{{"prod", 5 * time.Minute}}, []string{"shop"}, nil)
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
	m.Configure([]Source{{"prod", 5 * time.Minute}}, nil, nil)
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
	m.Configure([]Source{{"prod", 5 * time.Minute}}, []string{"platform"}, []string{"slack"})
	m.SourceScanned("edge", time.Second, nil) // its scan began before the reload
	m.DeclarationLoaded("shop", nil)
	m.Delivered("oncall", nil)
	m.ReceiversStatus([]model.ReceiverStatus{{Name: "oncall", Queued: 1}})
	m.ObserveRun(run(), open())
	got := page(t, m)
	for _, name := range []string{"edge", "new", "shop", "plan:infra", "infra", "oncall", "mirror"} {
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
	m.Configure([]Source{{"prod", time.Minute}}, nil, nil)
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

func TestDecisionsAreShownWithoutARun(t *testing.T) {
	t.Parallel()
	m := busy(t)
	decided := open()[:1]
	decided[0].Decision = &model.Decision{Kind: model.Accept}
	m.ObserveFindings(decided)
	got := page(t, m)
	for _, line := range []string{
		`driftd_findings_accepted{source="prod"} 1`, `driftd_findings_hidden{source="prod"} 0`,
		`driftd_findings_flapping{source="prod"} 0`, `driftd_unchecked_resources{source="edge"} 0`,
		`driftd_ignore_rules{state="dead"} 1`, `driftd_resources{source="prod"} 412`,
	} {
		if !has(got, line) {
			t.Errorf("page lacks %s:\n%s", line, got)
		}
	}
	for _, name := range []string{"driftd_findings{", "driftd_finding_oldest_timestamp_seconds{"} {
		if strings.Contains(got, "\n"+name) {
			t.Errorf("page still has %s:\n%s", name, got)
		}
	}
}

func TestSnoozedAndAcknowledgedCount(t *testing.T) {
	t.Parallel()
	for _, kind := range []model.DecisionKind{model.Snooze, model.Acknowledge} {
		m := busy(t)
		seen := open()[:1]
		seen[0].Decision = &model.Decision{Kind: kind}
		m.ObserveFindings(seen)
		if got := page(t, m); !has(got, `driftd_finding_oldest_timestamp_seconds{severity="high",source="prod"} 1.7723664e+09`) ||
			!has(got, `driftd_findings{kind="kubernetes/Deployment.apps",severity="high",source="prod",verdict="changed"} 1`) {
			t.Errorf("%s hides a finding:\n%s", kind, got)
		}
	}
}

func TestReceiverRecovers(t *testing.T) {
	t.Parallel()
	m := busy(t)
	m.ReceiversStatus([]model.ReceiverStatus{{Name: "slack"}, {Name: "oncall"}, {Name: "mirror"}})
	m.Delivered("slack", nil)
	got := page(t, m)
	for _, line := range []string{
		`driftd_receiver_stopped{receiver="slack"} 0`, `driftd_notification_queue_length{receiver="slack"} 0`,
		`driftd_notification_queue_length{receiver="mirror"} 0`,
		`driftd_notifications_total{receiver="slack",result="delivered"} 1`,
		`driftd_notifications_total{receiver="slack",result="error"} 1`,
	} {
		if !has(got, line) {
			t.Errorf("page lacks %s:\n%s", line, got)
		}
	}
	if strings.Contains(got, "\ndriftd_notification_oldest_timestamp_seconds{") {
		t.Errorf("page shows the oldest message of an empty queue:\n%s", got)
	}
}

// TestLint runs the Prometheus parser and linter on the page.
func TestLint(t *testing.T) {
	t.Parallel()
	problems, err := promlint.New(strings.NewReader(page(t, busy(t)))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

func TestKindLabel(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ reason, kind, want string }{
		"usual":   {reason: "it stays as it is", kind: "kubernetes/Service", want: "kubernetes/Service"},
		"longest": {reason: "the bound itself fits", kind: strings.Repeat("x", MaxKindLength), want: strings.Repeat("x", MaxKindLength)},
		"longer":  {reason: "an ellipsis marks the truncation", kind: strings.Repeat("x", 10_000), want: strings.Repeat("x", MaxKindLength-3) + "…"},
		"runes":   {reason: "no rune is cut in two", kind: strings.Repeat("é", 10_000), want: strings.Repeat("é", (MaxKindLength-4)/2) + "…"},
		"invalid": {reason: "labels are valid UTF-8", kind: "a\xff\xfeb", want: "a\uFFFDb"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := kindLabel(tt.kind); got != tt.want {
				t.Errorf("%s: kindLabel = %q, want %q", tt.reason, got, tt.want)
			}
		})
	}
}

// flood returns metrics with 10,000 findings of 3,000 kinds, some with long names, in 20
// sources.
func flood(t testing.TB) *Metrics {
	t.Helper()
	c := &clock{start()}
	m := newBare(Build{Version: "1.2.3"}, c.now)
	var sources []Source
	for i := range 20 {
		sources = append(sources, Source{fmt.Sprintf("source%02d", i), time.Minute})
	}
	m.Configure(sources, nil, nil)
	findings := make([]model.Finding, 0, 10_000)
	for i := range cap(findings) {
		kind := fmt.Sprintf("crd/%s%04d", strings.Repeat("long", i%3*1000), i%3000)
		f := finding(sources[i%20].Name, kind, strconv.Itoa(i), model.Verdicts()[i%11], model.Severities()[i%5])
		f.FirstSeen = start()
		findings = append(findings, f)
	}
	r := model.Run{}
	for _, s := range sources {
		r.Sources = append(r.Sources, model.SourceRun{Name: s.Name, Taken: start()})
	}
	m.ObserveRun(r, findings)
	return m
}

func TestPageIsBounded(t *testing.T) {
	t.Parallel()
	got := page(t, flood(t))
	// The merged series still differ in source, verdict and severity.
	most := MaxFindingSeries + 20*len(model.Verdicts())*len(model.Severities())
	if n := strings.Count(got, "\ndriftd_findings{"); n < MaxFindingSeries || n > most {
		t.Errorf("page has %d series of findings, want %d to %d", n, MaxFindingSeries, most)
	}
	if n := len(got); n > 256<<10 {
		t.Errorf("page has %d bytes, want at most %d", n, 256<<10)
	}
	if !strings.Contains(got, `kind="other"`) {
		t.Errorf("page folds nothing")
	}
}

func BenchmarkPage(b *testing.B) {
	m := flood(b)
	handler := m.Handler()
	for b.Loop() {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
		b.ReportMetric(float64(w.Body.Len()), "bytes/page")
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
				m.Configure([]Source{{"prod", time.Minute}}, nil, nil)
				m.ObserveRun(model.Run{}, []model.Finding{finding("prod", "k/K", "x", model.Changed, model.Low)})
				m.Delivered("slack", nil)
				m.ReceiversStatus([]model.ReceiverStatus{{Name: "slack"}})
			}
		})
		group.Go(func() { page(t, m) })
	}
	group.Wait()
}
