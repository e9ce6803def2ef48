package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/preview"
)

// previewed returns a preview with one item of each kind.
func previewed() preview.Preview {
	const day = 24 * time.Hour
	item := func(effect preview.Effect, f model.Finding, age time.Duration) preview.Item {
		return preview.Item{Effect: effect, Finding: f, Since: earlier(age), AgeSeconds: int64(age / time.Second), Old: age >= day}
	}
	bypassed := finding("b1pa55ed", model.Bypassed, model.Medium, "Deployment.apps/shop/web")
	bypassed.Actor = model.Actor{Name: "ben", At: earlier(40 * day), Via: "managedFields", Confidence: model.Likely}
	bypassed.Changes = []model.Change{{Path: image, Declared: text("web:1"), Recorded: text("evil:1"), Live: text("evil:1")}}
	unseen := item(preview.Overwrite, secrets(), 90*time.Minute)
	unseen.SinceFirstSeen = true
	planned := model.Finding{Verdict: model.Pending, Severity: model.High, Key: model.Key{Kind: "terraform/lab_server", ID: "lab_server.old"},
		Name: "old-1", Address: "lab_server.old", Actor: model.UnknownActor("no manual change is known"), Reason: "no longer declared: the next apply destroys it"}
	edited := planned
	edited.Verdict, edited.Key.ID, edited.Address, edited.Reason = model.Changed, "lab_server.web", "lab_server.web", ""
	edited.Actor = model.UnknownActor("no scan is stored")
	edited.Changes = []model.Change{{Path: "size", Declared: number(2), Recorded: number(2), Live: number(8)}}
	undeclared := finding("0ndec1a4", model.Undeclared, model.Low, "ConfigMap/shop/settings")
	return preview.Preview{Plan: "tfplan.json", Declaration: "infra", Scanned: earlier(time.Minute), Old: day, Hidden: 2,
		Items: []preview.Item{item(preview.Overwrite, bypassed, 40*day), item(preview.Create, missing(), 2*time.Hour), {Effect: preview.Destroy, Finding: planned},
			{Effect: preview.Replace, Finding: edited}, unseen, item(preview.Overwrite, accepted(), 2*time.Hour), item(preview.Reset, hostile(), 2*time.Hour)},
		Kept: []preview.Kept{{Verdict: undeclared.Verdict, Declaration: "shop", Address: "deploy/settings.yaml:1", Key: undeclared.Key, Reason: "an apply keeps them"}},
		Gaps: []preview.Gap{{Declaration: "infra", Address: "lab_server.late", Reason: "deferred by the plan"}, {Reason: "the plan ended with an error"}}}
}

func TestPreviewGolden(t *testing.T) {
	t.Parallel()
	calm := preview.Preview{Scanned: earlier(time.Minute), Old: preview.DefaultOld}
	for name, tc := range map[string]struct {
		reason, format string
		preview        preview.Preview
		o              Options
	}{
		"preview.table.txt":           {"a pipeline's log", "table", previewed(), Options{Now: now}},
		"preview.terminal.txt":        {"a terminal", "table", previewed(), terminal},
		"preview.json":                {"a program reads it", "json", previewed(), Options{Now: now}},
		"preview.md":                  {"a merge request", "markdown", previewed(), Options{Now: now}},
		"preview-calm.table.txt":      {"nothing is erased", "table", calm, Options{Now: now}},
		"preview-calm.json":           {"no list is null", "json", calm, Options{Now: now}},
		"preview-calm.md":             {"nothing is erased", "markdown", calm, Options{Now: now}},
		"preview-plan-only.table.txt": {"the text says what was not compared", "table", preview.Preview{Plan: "tfplan.json", PlanOnly: true}, Options{Now: now}},
		"preview-plan-only.md":        {"the text says what was not compared", "markdown", preview.Preview{Plan: "tfplan.json", PlanOnly: true}, Options{Now: now}},
		"preview-unscanned.md":        {"there is no daemon", "markdown", preview.Preview{Plan: "-", Old: time.Hour}, Options{Now: now}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			if err := WritePreview(&b, tc.format, tc.preview, tc.o); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), digest) || strings.Contains(b.String(), "hunter") {
				t.Errorf("%s shows a secret: %s", tc.reason, b.String())
			}
			golden(t, name, b.String())
		})
	}
	if err := WritePreview(&strings.Builder{}, "tabel", calm, Options{}); err == nil || !strings.Contains(err.Error(), `did you mean "table"?`) {
		t.Errorf("an unknown format: %v", err)
	}
}

// TestPreviewOutage checks that a reason that a thousand resources share is written once.
func TestPreviewOutage(t *testing.T) {
	t.Parallel()
	p := preview.Preview{Scanned: earlier(time.Minute), Gaps: []preview.Gap{{Declaration: "shop", Reason: "no answer"}, {Declaration: "infra", Address: "lab_server.one", Reason: "deferred"}}}
	for i := range 1000 {
		p.Gaps = append(p.Gaps, preview.Gap{Declaration: "infra", Address: fmt.Sprintf("lab_server.s%04d", i), Reason: "the API does not answer"})
	}
	for _, format := range []string{"table", "markdown"} {
		var b strings.Builder
		if err := WritePreview(&b, format, p, Options{Now: now}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"1,002 parts not checked", "lab_server.one", "shop", "1,000 parts", "lab_server.s0003", "and 996 more", "the API does not answer"} {
			if strings.Count(b.String(), want) != 1 {
				t.Errorf("%s: %q is not there once: %s", format, want, b.String())
			}
		}
	}
}
