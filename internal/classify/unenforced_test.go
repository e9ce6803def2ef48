package classify

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestUnenforced checks that a tool that leaves the whole resource is named where there is something to put back, and that its
// absence changes no decision.
func TestUnenforced(t *testing.T) {
	t.Parallel()
	left := &model.Claim{Declaration: "d", Unenforced: []model.Unenforced{{Path: []model.Pick{{Name: "a"}}, Why: "a field"}, {Writer: "w", Why: "a writer"}, {Why: "all of it"}}}
	for verdict, want := range map[model.Verdict]string{
		model.Changed: "all of it", model.Undeclared: "all of it", model.Bypassed: "all of it", model.Conflict: "all of it", model.Missing: "all of it",
		model.Pending: "", model.Unchecked: "", model.Codified: "",
	} {
		o := model.Outcome{Verdict: verdict, Claim: left}
		f := Findings(input(o)).Current[0]
		if f.Unenforced != want {
			t.Errorf("%s: got %q, want %q", verdict, f.Unenforced, want)
		}
		o.Claim = &model.Claim{Declaration: "d"}
		if other := Findings(input(o)).Current[0]; other.Basis != f.Basis || other.Severity != f.Severity {
			t.Errorf("%s: the rule changes the basis or the severity", verdict)
		}
	}
	in := input(model.Outcome{Verdict: model.Unmanaged})
	in.Judged[0].Subject.Live = &model.Resource{Origin: model.Origin{Unenforced: "extraneous"}}
	if f := Findings(in).Current[0]; f.Unenforced != "extraneous" {
		t.Errorf("unmanaged: got %q", f.Unenforced)
	}
}
