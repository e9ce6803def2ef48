package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/metrics"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
)

// written returns a report in one format.
func written(t *testing.T, format string, r model.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, format, r, report.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// scraped returns the metrics page after a run.
func scraped(t *testing.T, run model.Run, open []model.Finding, now time.Time) string {
	t.Helper()
	m := metrics.New(metrics.Build{}, func() time.Time { return now })
	m.Configure([]metrics.Source{{Name: "prod", Every: time.Minute}}, []string{"shop"}, nil)
	m.ObserveRun(run, open)
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return answer.Body.String()
}

// TestAllAgreeOnCompleteness checks that exit code, every format, status and the metric agree
// on whether everything was checked, for each cause of an unchecked result.
func TestAllAgreeOnCompleteness(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	key := model.Key{Source: "prod", Kind: "kubernetes/ConfigMap", ID: "shop/a"}
	drift := model.Finding{ID: "d0", Verdict: model.Changed, Severity: model.Medium, Key: key}
	unchecked := model.Finding{ID: "e0", Verdict: model.Unchecked, Severity: model.Medium, Key: key, Reason: "SOPS"}
	accepted := unchecked
	accepted.Decision = &model.Decision{Kind: model.Accept, By: "ann", Owner: "shop"}
	part := unchecked
	part.Kind, part.Declaration = model.PartKind, "shop"
	for name, tt := range map[string]struct {
		change func(*model.Run)
		open   []model.Finding
		whole  bool
		code   exitStatus
		high   exitStatus
	}{
		"whole":            {whole: true},
		"drift":            {open: []model.Finding{drift}, whole: true, code: exitDrift},
		"accepted":         {open: []model.Finding{accepted}, whole: true},
		"unchecked":        {open: []model.Finding{unchecked}, code: exitUnchecked, high: exitUnchecked},
		"part":             {open: []model.Finding{part}, code: exitUnchecked, high: exitUnchecked},
		"drift, unchecked": {open: []model.Finding{drift, unchecked}, code: exitDrift, high: exitUnchecked},
		"unreachable":      {change: func(r *model.Run) { r.Sources[0].Err = "refused" }, code: exitUnchecked, high: exitUnchecked},
		"held back":        {change: func(r *model.Run) { r.Sources[0].Held = true }, code: exitUnchecked, high: exitUnchecked},
		"stale":            {change: func(r *model.Run) { r.Sources[0].Taken = now.Add(-time.Hour) }, code: exitUnchecked, high: exitUnchecked},
		"scope": {change: func(r *model.Run) {
			r.Coverage = append(r.Coverage, model.Coverage{Source: "prod", Kind: "a", Reason: "b"})
		},
			code: exitUnchecked, high: exitUnchecked},
		"skipped scope": {change: func(r *model.Run) {
			r.Coverage = append(r.Coverage, model.Coverage{Source: "prod", Kind: "a", Skipped: true, Reason: "b"})
		}, whole: true},
		"problem": {change: func(r *model.Run) { r.Declarations[0].Problems = []model.Problem{{Address: "a.yaml"}} }, code: exitUnchecked, high: exitUnchecked},
		"unreachable, drift": {change: func(r *model.Run) { r.Sources[0].Err = "refused" }, open: []model.Finding{drift},
			code: exitDrift, high: exitUnchecked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := model.Run{ID: "1", Started: now, Finished: now, Sources: []model.SourceRun{{Name: "prod", Taken: now, Every: time.Minute}},
				Declarations: []model.DeclarationRun{{Name: "shop"}}, Coverage: []model.Coverage{{Source: "prod", Complete: true}}, Summary: model.Summary{InSync: 1}}
			if tt.change != nil {
				tt.change(&run)
			}
			run = run.At(now, tt.open)
			r := model.Report{Version: 1, Scan: run.Scan(), Summary: run.Summary, Coverage: run.Coverage}
			for _, f := range tt.open {
				if f.Shown() {
					r.Findings = append(r.Findings, f)
				}
			}
			for severity, want := range map[string]exitStatus{anySeverity: tt.code, "medium": tt.code, "high": tt.high} {
				var got exitStatus
				err := (&failOn{severity}).status(&r)
				if errors.As(err, &got); got != want {
					t.Errorf("--fail-on %s: exit code %d, want %d", severity, got, want)
				}
			}
			var decoded struct {
				Scan struct{ Complete bool }
			}
			if err := json.Unmarshal([]byte(written(t, "json", r)), &decoded); err != nil || decoded.Scan.Complete != tt.whole {
				t.Errorf("JSON: complete is %v, %v", decoded.Scan.Complete, err)
			}
			junit := written(t, "junit", r)
			head, _, _ := strings.Cut(junit, "<testsuite ")
			says := map[string]bool{
				"JUnit's count":       strings.Contains(head, `errors="0"`),
				"JUnit's cases":       !strings.Contains(junit, "<error "),
				"SARIF":               strings.Contains(written(t, "sarif", r), `"executionSuccessful": true`),
				"SARIF notifications": !strings.Contains(written(t, "sarif", r), `"toolExecutionNotifications"`),
				"HTML":                !strings.Contains(written(t, "html", r), "Not checked: "),
				"Markdown":            !strings.Contains(written(t, "markdown", r), "Not checked: "),
				"table":               !strings.Contains(written(t, "table", r), "Not checked: "),
				"the metric":          strings.Contains(scraped(t, run, tt.open, now), "\ndriftd_complete 1\n"),
			}
			var status bytes.Buffer
			if err := writeStatus(&status, &server.Status{LastRun: &run}, now, ""); err != nil {
				t.Fatal(err)
			}
			says["status"] = !strings.Contains(status.String(), "not checked")
			for what, whole := range says {
				if whole != tt.whole {
					t.Errorf("%s says complete: %v, want %v", what, whole, tt.whole)
				}
			}
		})
	}
}
