package classify

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// check returns the outcome of a failed check, which has a field if path is not "".
func check(id string, severity model.Severity, path string) model.Outcome {
	o := model.Outcome{Verdict: model.Violated, Check: id, Severity: severity, Reason: "why", Claim: &model.Claim{Declaration: "d", Address: "a.yaml:1"}}
	if path != "" {
		v := model.BoolOf(true)
		o.Changes = []model.Change{{Path: path, Live: &v}}
	}
	return o
}

func checksOf(r Result) []string {
	var got []string
	for _, f := range r.Current {
		hidden := ""
		if f.Hidden != "" {
			hidden = " hidden"
		}
		got = append(got, strings.TrimSpace(string(f.Severity)+" "+f.Check+" "+f.Reason)+hidden)
	}
	return got
}

// TestChecksAreFindings gives each check of a resource a finding with its own ID and severity.
func TestChecksAreFindings(t *testing.T) {
	t.Parallel()
	in := input(changed("spec.x"), check("flux/suspended", model.High, "spec.x"), check("flux/not-ready", model.Low, ""))
	first := Findings(in)
	want := []string{"high flux/suspended flux/suspended: why", "medium", "low flux/not-ready flux/not-ready: why"}
	if diff := cmp.Diff(want, checksOf(first)); diff != "" {
		t.Error(diff)
	}
	ids := map[string]string{}
	for _, f := range first.Current {
		ids[f.ID] = f.Check
		if f.Check == "flux/suspended" && f.SeverityOf(&f.Changes[0]) != model.High {
			t.Errorf("the field is rated %s", f.SeverityOf(&f.Changes[0]))
		}
	}
	if len(ids) != 3 {
		t.Errorf("IDs %v", ids)
	}
	// A check never continues another one, and none continues a difference of the same field.
	next := input(check("flux/other", model.High, "spec.x"), check("flux/not-ready", model.Low, ""))
	next.Earlier = first.Current
	r := Findings(next)
	for _, f := range r.Current {
		if was, known := ids[f.ID]; known != (f.Check == "flux/not-ready") || known && was != f.Check || len(f.Merged) > 0 {
			t.Errorf("%s has the ID of %q", f.Check, was)
		}
	}
	if len(r.Resolved) != 2 || len(r.Remembered) != 0 {
		t.Errorf("resolved %d, remembered %d", len(r.Resolved), len(r.Remembered))
	}
}

func TestCheckThatIsOver(t *testing.T) {
	t.Parallel()
	claim := &model.Claim{Declaration: "d", Address: "a.yaml:1"}
	for reason, tc := range map[string]struct {
		change func(*Input)
		over   bool
	}{
		"it was read":                          {func(*Input) {}, true},
		"its claim cannot be compared":         {func(in *Input) { in.Judged[0].Outcomes = []model.Outcome{{Verdict: model.Unchecked, Claim: claim}} }, true},
		"a tool is at work on it":              {func(in *Input) { in.Judged[0].Subject.Live = &model.Resource{Undecided: []string{"flux/suspended"}} }, false},
		"another check cannot be judged":       {func(in *Input) { in.Judged[0].Subject.Live = &model.Resource{Undecided: []string{"flux/other"}} }, true},
		"the resource could not be read":       {func(in *Input) { in.Judged[0].Subject.Unread = "403" }, false},
		"the source could not be read":         {func(in *Input) { in.Snapshots, in.Judged = nil, nil }, false},
		"the resource is gone":                 {func(in *Input) { in.Judged = nil }, true},
		"it is gone where nothing was covered": {func(in *Input) { in.Judged, in.Snapshots[0].Coverage = nil, nil }, false},
	} {
		in := input()
		in.Earlier = before(check("flux/suspended", model.High, ""))
		tc.change(&in)
		if got := len(Findings(in).Resolved) == 1; got != tc.over {
			t.Errorf("%s: over %t", reason, got)
		}
	}
}

func TestIgnoredChecks(t *testing.T) {
	t.Parallel()
	in := input(changed("x"), check("flux/suspended", model.High, ""), check("argocd/degraded", model.Low, "y"))
	in.Rules = []Rule{{Check: "flux/*", Reason: "paused"}, {Check: "argocd/*", Path: "y", Reason: "known"}}
	want := []string{"high flux/suspended flux/suspended: why hidden", "medium", "low argocd/degraded argocd/degraded: why hidden"}
	if diff := cmp.Diff(want, checksOf(Findings(in))); diff != "" {
		t.Error(diff)
	}
	if got := in.Rules[1].String(); got != "check=argocd/* path=y" {
		t.Error(got)
	}
}

// TestChecksOfParts returns findings for parts of a declaration, which stay open while the
// declaration cannot be read, and which rules can hide.
func TestChecksOfParts(t *testing.T) {
	t.Parallel()
	in := input()
	v := model.StringOf("~> 5.0")
	in.Declarations[0].Violations = []model.PartViolation{
		{Address: "main.tf:3", Violation: model.Violation{Check: "terraform/unpinned", Severity: model.Medium, Path: "version", Value: &v, Reason: "not exact"}},
		{Address: "main.tf:3", Violation: model.Violation{Check: "terraform/other", Severity: model.High, Reason: "other", Verdict: model.Nondeterministic}},
	}
	first := Findings(in)
	want := []string{"high terraform/other terraform/other: other", "medium terraform/unpinned terraform/unpinned: not exact"}
	if diff := cmp.Diff(want, checksOf(first)); diff != "" {
		t.Error(diff)
	}
	if f := first.Current[1]; f.Declaration != "d" || f.Address != "main.tf:3" || f.Kind != PartKind || f.Source != "s" || f.Basis == "" || f.ID == first.Current[0].ID {
		t.Errorf("%+v", f)
	}
	next := input()
	next.Earlier = first.Current
	next.Declarations[0].Problems = []model.Problem{{Address: "d", Reason: "cannot be read"}}
	if r := Findings(next); len(r.Resolved) != 0 || len(r.Remembered) != 2 {
		t.Errorf("a declaration that was not read: %d resolved", len(r.Resolved))
	}
	next.Declarations[0].Problems = nil
	if r := Findings(next); len(r.Resolved) != 2 {
		t.Errorf("a declaration that was read: %d resolved", len(r.Resolved))
	}
	in.Rules = []Rule{{Check: "terraform/*", Reason: "known"}}
	for _, f := range Findings(in).Current {
		if f.Hidden == "" {
			t.Errorf("%s is not hidden", f.Check)
		}
	}
}

// TestSeverityOfCheckedField raises the severity of a difference to that of the check.
func TestSeverityOfCheckedField(t *testing.T) {
	t.Parallel()
	for severity, want := range map[model.Severity]model.Severity{model.High: model.High, model.Low: model.Medium} {
		o := changed("spec.suspend")
		o.Severity = severity
		if got := Findings(input(o)).Current[0]; got.Severity != want || got.Check != "" {
			t.Errorf("%s: %s %q", severity, got.Severity, got.Check)
		}
	}
}
