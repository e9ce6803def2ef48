package report

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// pastOf returns the history of a finding as it is shown, from what became of it,
// oldest first and a minute apart.
func pastOf(t *testing.T, all ...model.Finding) string {
	t.Helper()
	start := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	versions := make([]Version, len(all))
	for i, f := range all {
		versions[i] = Version{At: start.Add(time.Duration(i) * time.Minute), Finding: f}
	}
	var b strings.Builder
	if err := WriteFinding(&b, "table", all[len(all)-1], versions, Options{}); err != nil {
		t.Fatal(err)
	}
	_, history, _ := strings.Cut(b.String(), "\nHistory\n")
	return history
}

// A life is what became of a finding, and how its history reads.
type life struct {
	reason string
	steps  []model.Finding
	want   string
}

func lives() map[string]life {
	shows := func(live string) model.Finding {
		f := finding("c0ff11c7", model.Changed, model.Medium, "ConfigMap/shop/web")
		f.Changes, f.Basis = []model.Change{{Path: "data.k", Declared: text("a"), Live: text(live)}}, live
		return f
	}
	over := shows("b")
	over.Resolved = earlier(time.Hour)
	decided := func(f model.Finding) model.Finding {
		f.Decision = &model.Decision{ID: "d", Kind: model.Accept, By: "alice", Reason: "the sale"}
		return f
	}
	marked := func(f model.Finding) model.Finding {
		f.Flapping, f.Hidden = true, "noise"
		return f
	}
	disputed := shows("b")
	disputed.Verdict, disputed.Basis = model.Disputed, "disputed"
	disputed.Was = &model.Former{Verdict: model.Changed, At: earlier(time.Hour)}
	merged := over
	merged.MergedInto = "5e1f0a11"
	moved := shows("b")
	moved.Address = "deploy/web.yaml:14"
	return map[string]life{
		"resolved": {"the end is no new change", []model.Finding{shows("b"), over}, `  2026-03-01T10:01:00Z  resolved
  2026-03-01T10:00:00Z  medium changed
    data.k: a → b
`},
		"recurred": {"and is seen again", []model.Finding{shows("b"), over, shows("c")}, `  2026-03-01T10:02:00Z  recurred, medium changed
    data.k: a → c
  2026-03-01T10:01:00Z  resolved
  2026-03-01T10:00:00Z  medium changed
    data.k: a → b
`},
		"reclassified": {"another verdict is a change, though no field is", []model.Finding{shows("b"), disputed, shows("b")}, `  2026-03-01T10:02:00Z  medium changed
    data.k: a → b
  2026-03-01T10:01:00Z  medium disputed
    data.k: a → b
  2026-03-01T10:00:00Z  medium changed
    data.k: a → b
`},
		"merged": {"what was merged is not resolved", []model.Finding{shows("b"), merged}, `  2026-03-01T10:01:00Z  merged into 5e1f0a11
  2026-03-01T10:00:00Z  medium changed
    data.k: a → b
`},
		"accepted": {"a decision changes no field", []model.Finding{shows("b"), decided(shows("b")), shows("b")}, `  2026-03-01T10:02:00Z  no longer accepted
  2026-03-01T10:01:00Z  accepted by alice, forever: the sale
  2026-03-01T10:00:00Z  medium changed
    data.k: a → b
`},
		"marks": {"rules and flapping are said once", []model.Finding{shows("b"), marked(shows("b")), marked(shows("c")), shows("c")}, `  2026-03-01T10:03:00Z  no longer hidden, stable again
  2026-03-01T10:02:00Z  medium changed
    data.k: a → c
  2026-03-01T10:01:00Z  hidden by a rule: noise, flapping: no notifications about single changes until it is stable
  2026-03-01T10:00:00Z  medium changed
    data.k: a → b
`},
		"unseen": {"a version in which nothing is to see is left out", []model.Finding{shows("b"), moved}, `  2026-03-01T10:00:00Z  medium changed
    data.k: a → b
`},
		"comes and goes": {"what repeats is written once",
			[]model.Finding{shows("b"), over, shows("b"), over, shows("b"), over, shows("b"), over}, `  2026-03-01T10:07:00Z  resolved
  2026-03-01T10:06:00Z  recurred, medium changed
    data.k: a → b
    3 times since 2026-03-01T10:02:00Z
  2026-03-01T10:01:00Z  resolved
  2026-03-01T10:00:00Z  medium changed
    data.k: a → b
`},
		"back and forth": {"so are two values", []model.Finding{shows("b"), shows("c"), shows("b"), shows("c")}, `  2026-03-01T10:03:00Z  medium changed
    data.k: a → c
  2026-03-01T10:02:00Z  medium changed
    data.k: a → b
    2 times since 2026-03-01T10:00:00Z
`},
	}
}

func TestPast(t *testing.T) {
	t.Parallel()
	for name, tc := range lives() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, pastOf(t, tc.steps...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLongNamesAreCut(t *testing.T) {
	t.Parallel()
	f := accepted()
	f.Hidden, f.Key.ID = "", "shop/"+strings.Repeat("x", 10_000)
	d := model.DecisionStatus{Decision: *f.Decision}
	d.Subject.Key = f.Key
	d.By = f.Key.ID
	list := []model.Finding{f, missing()}
	for name, write := range map[string]func(b *strings.Builder) error{
		"findings": func(b *strings.Builder) error { return WriteFindings(b, "table", list, Options{}) },
		"decisions": func(b *strings.Builder) error {
			return WriteDecisions(b, "table", []model.DecisionStatus{d}, Options{})
		},
		"hidden": func(b *strings.Builder) error { return WriteHidden(b, "table", nil, list, Options{}) },
		"report": func(b *strings.Builder) error { return Write(b, "table", model.Report{Findings: list}, Options{}) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if phrase.Columns(line) > 700 {
				t.Errorf("%s: a line of %d columns: %.80s", name, phrase.Columns(line), line)
			}
		}
	}
	var whole strings.Builder
	if err := WriteFinding(&whole, "table", f, nil, Options{}); err != nil || !strings.Contains(whole.String(), f.Key.ID) {
		t.Errorf("show cuts the name, %v", err)
	}
}

func TestNotesSayHowItStands(t *testing.T) {
	t.Parallel()
	hidden, agreed, over := missing(), accepted(), missing()
	hidden.Hidden, hidden.Owner = "noise", "team-shop"
	agreed.Hidden, agreed.Owner = "", ""
	over.Resolved = earlier(time.Hour)
	merged := over
	merged.MergedInto = "acce97ed"
	for want, f := range map[string]model.Finding{
		"  merged into acce97ed 2026-11-20T06:30:00Z":         merged,
		"  hidden, owner team-shop":                           hidden,
		"  accepted forever":                                  agreed,
		"  resolved 2026-11-20T06:30:00Z":                     over,
		"  acknowledged until 2026-11-21T06:30:00Z, flapping": conflict(),
	} {
		var b strings.Builder
		if err := WriteFindings(&b, "table", []model.Finding{f}, Options{}); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("the list lacks %q, %v:\n%s", want, err, b.String())
		}
	}
}

// TestFormerVerdict holds that a finding shows its former verdict, and the finding that
// it was merged into.
func TestFormerVerdict(t *testing.T) {
	t.Parallel()
	f := missing()
	f.Was = &model.Former{Verdict: model.Changed, At: earlier(time.Hour)}
	merged := f
	merged.Resolved, merged.MergedInto = earlier(time.Minute), "acce97ed"
	for _, test := range []struct {
		f           model.Finding
		shown, list []string
	}{
		{f, []string{"    was         changed, reclassified 2026-11-20T06:30:00Z\n"}, []string{"Was `changed`, reclassified 2026-11-20T06:30:00Z"}},
		{merged, []string{"  merged into   acce97ed\n", "  merged        2026-11-20T07:29:00Z\n"}, []string{"merged into `acce97ed` 2026-11-20T07:29:00Z"}},
	} {
		var shown, list strings.Builder
		if err := WriteFinding(&shown, "table", test.f, nil, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := Write(&list, "markdown", model.Report{Findings: []model.Finding{test.f}}, Options{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.shown {
			if !strings.Contains(shown.String(), want) || strings.Contains(shown.String(), "resolved") {
				t.Errorf("it is shown without %q:\n%s", want, shown.String())
			}
		}
		for _, want := range test.list {
			if !strings.Contains(list.String(), want) {
				t.Errorf("it is listed without %q:\n%s", want, list.String())
			}
		}
	}
}
