package classify

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestUsualSeverities rates each verdict of which no rule speaks.
func TestUsualSeverities(t *testing.T) {
	t.Parallel()
	want := map[model.Verdict]model.Severity{
		model.Conflict: model.High, model.Missing: model.High,
		model.Changed: model.Medium, model.Bypassed: model.Medium, model.Disputed: model.Medium, model.Undeclared: model.Medium,
		model.Unmanaged: model.Low, model.Moved: model.Low, model.PendingRestart: model.Low, model.Unchecked: model.Low,
		model.Violated: model.Low, model.Nondeterministic: model.Low, model.Pending: model.Info, model.Codified: model.Info,
	}
	for _, verdict := range model.Verdicts() {
		o := changed("a")
		o.Verdict = verdict
		if got := Findings(input(o)).Current[0].Severity; got != want[verdict] {
			t.Errorf("%s is %s, want %s", verdict, got, want[verdict])
		}
	}
}

// TestStaleReasons adds to the reason of each finding on a resource of a stale source
// that it may not be so any more.
func TestStaleReasons(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct{ stale, because, want string }{
		"not stale, without a reason": {"", "", ""},
		"not stale":                   {"", "applied by hand", "applied by hand"},
		"without a reason":            {"no quorum", "", "possibly stale: no quorum"},
		"both":                        {"no quorum", "applied by hand", "applied by hand; possibly stale: no quorum"},
	} {
		o := changed("a")
		o.Reason = tc.because
		in := input(o)
		in.Judged[0].Subject.Stale = tc.stale
		if got := Findings(in).Current[0].Reason; got != tc.want {
			t.Errorf("%s: %q, want %q", reason, got, tc.want)
		}
	}
}

// TestStaleDoesNotChangeTheBasis holds that an accepted finding stays accepted while the
// source is stale.
func TestStaleDoesNotChangeTheBasis(t *testing.T) {
	t.Parallel()
	for _, verdict := range model.Verdicts() {
		o := changed("a")
		o.Verdict = verdict
		fresh, stale := input(o), input(o)
		stale.Judged[0].Subject.Stale = "no quorum"
		if f, g := Findings(fresh).Current[0], Findings(stale).Current[0]; f.Basis != g.Basis || f.ID != g.ID {
			t.Errorf("%s: basis %s and ID %s, want %s and %s", verdict, g.Basis, g.ID, f.Basis, f.ID)
		}
	}
}

// TestUnreadableParts makes a finding of each part of a declaration that could not be
// read. It ends when the declaration is read without that part.
func TestUnreadableParts(t *testing.T) {
	t.Parallel()
	broken := func(addresses ...string) []model.Problem {
		var problems []model.Problem
		for _, address := range addresses {
			problems = append(problems, model.Problem{Address: address, Reason: "tab in " + address})
		}
		return problems
	}
	for reason, tc := range map[string]struct {
		governs              []string
		before, now          []model.Problem
		current, ended, kept []string
		unread               bool
	}{
		"one part":                       {governs: []string{"s"}, now: broken("x"), current: []string{"s x"}},
		"two parts":                      {governs: []string{"s"}, now: broken("x", "y"), current: []string{"s x", "s y"}},
		"a part of two sources":          {governs: []string{"t", "s"}, now: broken("x"), current: []string{"t x"}},
		"a part of no source":            {now: broken("x"), current: []string{" x"}},
		"it was mended":                  {governs: []string{"s"}, before: broken("x"), ended: []string{"s x"}},
		"it is still broken":             {governs: []string{"s"}, before: broken("x"), now: broken("x"), current: []string{"s x"}},
		"another one is broken":          {governs: []string{"s"}, before: broken("x"), now: broken("y"), current: []string{"s y"}, ended: []string{"s x"}},
		"the declaration is not here":    {governs: []string{"s"}, before: broken("x"), unread: true, kept: []string{"s x"}},
		"a part of no source was mended": {before: broken("x"), ended: []string{" x"}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			d := model.Declaration{Name: "d", Governs: tc.governs, Problems: tc.before}
			in := Input{Declarations: []model.Declaration{d}, Now: now}
			in.Earlier = Findings(in).Current
			in.Declarations[0].Problems = tc.now
			if tc.unread {
				in.Declarations = nil
			}
			r := Findings(in)
			for _, f := range r.All() {
				if f.Kind != PartKind || f.Verdict != model.Unchecked || f.Severity != model.Medium || f.Declaration != "d" ||
					f.Reason != "tab in "+f.Address || f.Actor.Confidence != model.Unknown {
					t.Errorf("got %+v", f)
				}
			}
			list := func(findings []model.Finding) []string {
				var texts []string
				for _, f := range findings {
					texts = append(texts, f.Source+" "+f.Address)
				}
				slices.Sort(texts)
				return texts
			}
			if diff := cmp.Diff([][]string{tc.current, tc.ended, tc.kept}, [][]string{list(r.Current), list(r.Resolved), list(r.Remembered)}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
