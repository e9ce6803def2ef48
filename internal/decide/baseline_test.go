package decide_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/timeparse"
)

// estate is what is open after a run: of every sort one, and of those that a baseline
// accepts two.
func estate() ([]model.Finding, model.Run) {
	run := model.Run{Complete: true, Sources: []model.SourceRun{{Name: "prod", Taken: now()}, {Name: "gone", Err: "timeout"}},
		Declarations: []model.DeclarationRun{{Name: "shop"}, {Name: "infra", Err: "no such folder"}}}
	var open []model.Finding
	add := func(id string, change func(f *model.Finding)) {
		f := drifted()
		f.ID, f.Basis, f.Severity, f.LastSeen = id, "basis of "+id, model.High, now()
		change(&f)
		open = append(open, f)
	}
	add("f2", func(*model.Finding) {})
	add("f1", func(f *model.Finding) { f.Severity = model.Low })
	add("critical", func(f *model.Finding) { f.Severity = model.Critical })
	add("unchecked", func(f *model.Finding) { f.Verdict = model.Unchecked })
	add("hidden", func(f *model.Finding) { f.Hidden = "noise" })
	add("decided", func(f *model.Finding) { f.Decision = &model.Decision{Kind: model.Acknowledge} })
	add("remembered", func(f *model.Finding) { f.LastSeen = now().Add(-time.Hour) })
	add("source", func(f *model.Finding) { f.Source = "gone" })
	add("declaration", func(f *model.Finding) { f.Declaration = "infra" })
	add("foreign", func(f *model.Finding) { f.Source = "elsewhere" })
	return open, run
}

func TestPreviewBaseline(t *testing.T) {
	t.Parallel()
	open, run := estate()
	got := decide.PreviewBaseline(open, &run)
	if got.Total != 2 || got.Critical != 1 || got.Unchecked != 1 || got.Decided != 1 || got.Unread != 3 || got.NotChecked != "" {
		t.Errorf("preview %+v", got)
	}
	if diff := cmp.Diff(map[model.Severity]int{model.High: 1, model.Low: 1}, got.Accepts); diff != "" {
		t.Errorf("accepts (-want +got):\n%s", diff)
	}
	for reason, change := range map[string]func(){
		"another value":    func() { open[0].Basis = "other" },
		"another severity": func() { open[0].Severity = model.Medium },
		"one less":         func() { open = open[1:] },
	} {
		before := decide.PreviewBaseline(open, &run).Token
		change()
		if decide.PreviewBaseline(open, &run).Token == before {
			t.Errorf("%s has the same token", reason)
		}
	}
}

// TestBaselineLeavesWhatWasNotRead holds that nothing is accepted in a scope that the last
// scan did not read in full, or read from an old copy.
func TestBaselineLeavesWhatWasNotRead(t *testing.T) {
	t.Parallel()
	kind := drifted().Kind
	for _, tc := range []struct {
		reason   string
		coverage model.Coverage
		accepts  int
	}{
		{"read", model.Coverage{Source: "prod", Kind: kind, Complete: true}, 2},
		{"possibly stale", model.Coverage{Source: "prod", Kind: kind, Reason: "no quorum"}, 0},
		{"the whole source", model.Coverage{Source: "prod", Reason: "an old copy"}, 0},
		{"left out on purpose", model.Coverage{Source: "prod", Kind: kind, Skipped: true}, 2},
		{"another kind", model.Coverage{Source: "prod", Kind: "test/Other", Reason: "timed out"}, 2},
		{"another source", model.Coverage{Source: "gone", Reason: "timed out"}, 2},
	} {
		open, run := estate()
		run.Coverage = []model.Coverage{tc.coverage}
		if got := decide.PreviewBaseline(open, &run); got.Total != tc.accepts {
			t.Errorf("%s: accepts %d, want %d", tc.reason, got.Total, tc.accepts)
		}
	}
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	open, run := estate()
	p := decide.PreviewBaseline(open, &run)
	d, err := p.Make(decide.Request{Reason: " first day ", By: "alice", Via: "command line", Until: "30d", Baseline: &decide.Baseline{Token: p.Token}}, now(), random())
	if err != nil {
		t.Fatal(err)
	}
	want := model.Decision{ID: "abababababab", Kind: model.Accept, Reason: "first day", Owner: "alice", By: "alice", At: now(), Via: "command line",
		Until: now().Add(30 * timeparse.Day), Covers: 2,
		Covered: []model.Covered{{Finding: "f1", Basis: "basis of f1", Severity: model.Low}, {Finding: "f2", Basis: "basis of f2", Severity: model.High}}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("decision (-want +got):\n%s", diff)
	}
	index := model.IndexDecisions([]model.Decision{d})
	for name, tc := range map[string]struct {
		reason string
		change func(f *model.Finding)
		holds  bool
	}{
		"same":         {"it shows what it showed", func(*model.Finding) {}, true},
		"milder":       {"it is no worse", func(f *model.Finding) { f.Severity = model.Info }, true},
		"worse":        {"nobody agreed to that", func(f *model.Finding) { f.Severity = model.Critical }, false},
		"other value":  {"it shows something else", func(f *model.Finding) { f.Basis = "other" }, false},
		"later":        {"another finding on the same resource", func(f *model.Finding) { f.ID = "f3" }, false},
		"merged":       {"the fields are the same", func(f *model.Finding) { f.ID, f.Merged = "f3", []string{"f2"} }, true},
		"reclassified": {"the milder verdict on the same values", func(f *model.Finding) { f.Basis, f.WorseBasis = "other", "basis of f2" }, true},
	} {
		f := open[0]
		tc.change(&f)
		index.Settle(&f, now())
		if f.Accepted() != tc.holds {
			t.Errorf("%s: %s: accepted %t, want %t", name, tc.reason, f.Accepted(), tc.holds)
		}
		if f.Decision != nil && (f.Decision.Covered != nil || f.Decision.Covers != 2) {
			t.Errorf("%s: the finding holds the whole list", name)
		}
	}
	f := open[0]
	if index.Settle(&f, d.Until); f.Accepted() {
		t.Error("it holds after its end")
	}
}

func TestBaselineRefusals(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(open []model.Finding, run *model.Run, r *decide.Request)
		want   string
	}{
		"reason":  {"somebody says why", func(_ []model.Finding, _ *model.Run, r *decide.Request) { r.Reason = "" }, "wants a reason"},
		"no end":  {"nothing is forever unsaid", func(_ []model.Finding, _ *model.Run, r *decide.Request) { r.Until = "" }, "wants an end"},
		"forever": {"nobody looked at each", func(_ []model.Finding, _ *model.Run, r *decide.Request) { r.Until = "forever" }, "cannot hold forever"},
		"far":     {"a mistyped year", func(_ []model.Finding, _ *model.Run, r *decide.Request) { r.Until = "2226-11-20" }, "over 5 years away"},
		"nobody":  {"somebody decides", func(_ []model.Finding, _ *model.Run, r *decide.Request) { r.By = "" }, "nobody is named"},
		"changed": {"what was shown is what is accepted", func(open []model.Finding, _ *model.Run, _ *decide.Request) { open[0].Basis = "new" }, "what is open changed"},
		"older":   {"nothing would pin it", func(open []model.Finding, _ *model.Run, r *decide.Request) { open[0].Basis = ""; r.Baseline = nil }, "older driftd"},
		"nothing": {"there is nothing to decide", func(open []model.Finding, _ *model.Run, _ *decide.Request) { open[0].Hidden, open[1].Hidden = "a", "b" }, "nothing to accept"},
		"incomplete": {"nothing is accepted unseen", func(_ []model.Finding, run *model.Run, _ *decide.Request) {
			run.Complete = false
			run.NotChecked.Unreachable = 1
		}, "did not check everything: 1 source unreachable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open, run := estate()
			token := decide.PreviewBaseline(open, &run).Token
			r := decide.Request{Reason: "first day", By: "alice", Until: "30d", Baseline: &decide.Baseline{Token: token}}
			tc.change(open, &run, &r)
			p := decide.PreviewBaseline(open, &run)
			if r.Baseline == nil {
				r.Baseline = &decide.Baseline{Token: p.Token}
			}
			_, err := p.Make(r, now(), random())
			var refusal *decide.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), tc.want) || refusal.Hint == "" {
				t.Errorf("%s: %v, want a refusal with %q", tc.reason, err, tc.want)
			}
		})
	}
	open, run := estate()
	run.Complete, run.NotChecked.Unreachable = false, 1
	p := decide.PreviewBaseline(open, &run)
	d, err := p.Make(decide.Request{Reason: "r", By: "alice", Until: "30d", Baseline: &decide.Baseline{Token: p.Token, Incomplete: true}}, now(), random())
	if err != nil || d.Covers != 2 {
		t.Errorf("with --incomplete: %v, %v; what was checked is accepted", d.Covers, err)
	}
}
