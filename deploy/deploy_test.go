// Package deploy_test checks the delivered rules and dashboards against the metrics that the
// program exports. Tests in test/e2e check the same files with promtool and a real
// Prometheus.
package deploy_test

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/metrics"
	"github.com/driftd/driftd/internal/model"
)

// metricLabels are the labels of each metric, by the name that queries use.
type metricLabels map[string][]string

// ofTarget are the labels that Prometheus itself puts on each series.
func ofTarget() []string { return []string{"instance", "job"} }

// exported returns what driftd exports when everything has a value.
func exported(t *testing.T) metricLabels {
	t.Helper()
	w := httptest.NewRecorder()
	busy().Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("GET /metrics = %d: %s", w.Code, w.Body)
	}
	sample := regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? \S+$`)
	label := regexp.MustCompile(`([a-z]+)="[^"]*"`)
	list := metricLabels{"up": nil}
	for _, s := range sample.FindAllStringSubmatch(w.Body.String(), -1) {
		var labels []string
		for _, l := range label.FindAllStringSubmatch(s[2], -1) {
			labels = append(labels, l[1])
		}
		slices.Sort(labels)
		list[s[1]] = labels
	}
	return list
}

// busy returns metrics of which each has a value.
func busy() *metrics.Metrics {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m := metrics.New(metrics.Build{Version: "1.2.3", Commit: "abcdef0", GoVersion: "go1.26"}, func() time.Time { return now })
	m.Configure([]metrics.Source{{Name: "prod", Every: time.Minute}}, []string{"shop"}, []string{"slack"})
	m.SourceScanned("prod", time.Second, nil)
	m.DeclarationLoaded("shop", nil)
	m.ObserveRun(model.Run{
		Sources:      []model.SourceRun{{Name: "prod", Resources: 1, Taken: now}},
		Declarations: []model.DeclarationRun{{Name: "shop", Claims: 1}},
		Coverage:     []model.Coverage{{Source: "prod", Complete: true}},
		Rules:        []model.RuleRun{{Rule: "kind=Job"}},
		NotJudged:    []model.NotJudged{{Source: "prod", Declaration: "shop", Count: 1}},
	}, []model.Finding{{Key: model.Key{Source: "prod", Kind: "kubernetes/Service"}, Verdict: model.Missing, Severity: model.High,
		FirstSeen: now}})
	m.Delivered("slack", errors.New("no answer"))
	m.ReceiversStatus([]model.ReceiverStatus{{Name: "slack", Queued: 1, Oldest: now}})
	m.StoreSize(1 << 20)
	m.StoreVerified(false)
	m.AuditInDoubt(false)
	m.AuditWitnessed(true)
	m.AuditCompared(true)
	m.ObserveActions(metrics.Acting{States: map[string]map[string]int{"shop": {"converged": 1}}, Refusals: map[string]int{"frozen": 1}, Held: map[string]map[string]int{"shop": {"age": 1}},
		Stopped: map[string]bool{"shop": false}, Frozen: 1})
	return m
}

// An expression is a query in PromQL.
type expression string

// metrics returns the names of the metrics that it asks for, and the labels
// that it selects each by.
func (e expression) metrics() metricLabels {
	selector := regexp.MustCompile(`\b(up|(?:driftd|process|go|promhttp)_[a-z0-9_]+)\b(?:\{([^}]*)\})?`)
	matcher := regexp.MustCompile(`([a-z_]+)\s*(?:=~|!~|!=|=)`)
	list := metricLabels{}
	for _, s := range selector.FindAllStringSubmatch(string(e), -1) {
		list[s[1]] = append(list[s[1]], submatches(matcher, s[2])...)
	}
	return list
}

// grouping returns the labels that it groups and joins by.
func (e expression) grouping() []string {
	clause := regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	var labels []string
	for _, list := range submatches(clause, string(e)) {
		labels = append(labels, strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })...)
	}
	return labels
}

// submatches returns what the first group of a pattern matches, each time.
func submatches(pattern *regexp.Regexp, text string) []string {
	var found []string
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// check reports the metrics that driftd does not export, and labels, shown
// included, that no metric of the expression has.
func (e expression) check(t *testing.T, known metricLabels, shown ...string) {
	t.Helper()
	asked := e.metrics()
	if len(asked) == 0 {
		t.Errorf("%q asks for nothing that driftd exports", e)
	}
	every := ofTarget()
	for name, labels := range asked {
		has, ok := known[name]
		if !ok {
			t.Errorf("%q asks for %s, which driftd does not export", e, name)
			return
		}
		every = append(every, has...)
		for _, l := range labels {
			if !slices.Contains(has, l) && !slices.Contains(ofTarget(), l) {
				t.Errorf("%q selects by %s, which %s does not have", e, l, name)
			}
		}
	}
	for _, l := range append(e.grouping(), shown...) {
		if !slices.Contains(every, l) {
			t.Errorf("%q speaks of the label %s, which none of its metrics has", e, l)
		}
	}
}

func TestExpression(t *testing.T) {
	t.Parallel()
	e := expression(`sum without (kind, le) (increase(driftd_a_total{result="error", x!~"up"}[5m])) / on (job) group_left () driftd_b and up{job="d"} == 0`)
	want := metricLabels{"driftd_a_total": {"result", "x"}, "driftd_b": nil, "up": {"job"}}
	if diff := cmp.Diff(want, e.metrics()); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"kind", "le", "job"}, e.grouping()); diff != "" {
		t.Errorf("grouping (-want +got):\n%s", diff)
	}
}

// TestDocumented holds the table of docs/prometheus.md against the page.
func TestDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/prometheus.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := metricLabels{}
	line := regexp.MustCompile("(?m)^\\| `(driftd_[a-z_]+)(?:\\{([a-z,]+)\\})?` \\|")
	for _, m := range line.FindAllStringSubmatch(string(text), -1) {
		var labels []string
		if m[2] != "" {
			labels = strings.Split(m[2], ",")
		}
		slices.Sort(labels)
		documented[m[1]] = labels
	}
	families := exported(t)
	histogram := "driftd_scan_duration_seconds"
	families[histogram] = families[histogram+"_sum"]
	maps.DeleteFunc(families, func(name string, _ []string) bool {
		return !strings.HasPrefix(name, "driftd_") || strings.HasPrefix(name, histogram+"_")
	})
	if diff := cmp.Diff(families, documented); diff != "" {
		t.Errorf("the page and docs/prometheus.md differ (-page +docs):\n%s", diff)
	}
}
