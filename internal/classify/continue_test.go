package classify

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestOnlyWhatWasMissingIsMadeAgain: another finding on the same claim ends where
// the claim's resource moved.
func TestOnlyWhatWasMissingIsMadeAgain(t *testing.T) {
	t.Parallel()
	claim := &model.Claim{Declaration: "d", Address: "a.tf:web"}
	moved := func(in *Input) {
		in.Judged = []model.Judged{{Subject: &model.Subject{Key: model.Key{Source: "s", Kind: key.Kind, ID: "p/b"}}, Outcomes: []model.Outcome{{Verdict: model.Moved, Claim: claim}}}}
	}
	for reason, tc := range map[string]struct {
		before model.Outcome
		change func(*Input)
		same   bool
	}{
		"missing":                   {model.Outcome{Verdict: model.Missing, Claim: claim}, func(*Input) {}, true},
		"changed":                   {model.Outcome{Verdict: model.Changed, Claim: claim}, func(*Input) {}, false},
		"missing, without a claim":  {model.Outcome{Verdict: model.Missing, Claim: &model.Claim{Declaration: "d"}}, func(in *Input) { in.Judged[0].Outcomes[0].Claim = &model.Claim{Declaration: "d"} }, false},
		"missing, and was not read": {model.Outcome{Verdict: model.Missing, Claim: claim}, func(in *Input) { in.Snapshots[0].Unread = []model.Unread{{Ref: model.Ref{Kind: key.Kind, ID: key.ID}}} }, false},
	} {
		in := input(tc.before)
		in.Earlier = Findings(in).Current
		moved(&in)
		tc.change(&in)
		if same := Findings(in).Current[0].ID == in.Earlier[0].ID; same != tc.same {
			t.Errorf("%s: the same finding: %t", reason, same)
		}
	}
}

// TestParty reports whether one of two findings is a dispute of the other's
// declaration.
func TestParty(t *testing.T) {
	t.Parallel()
	dispute := model.Finding{Declaration: "d", Changes: []model.Change{{Path: "a"}, {Path: "b", Claims: []model.ClaimedValue{{Declaration: "d"}, {Declaration: "e"}}}}}
	for declaration, want := range map[string]bool{"d": true, "e": true, "f": false, "": false} {
		f := model.Finding{Declaration: declaration}
		if isParty(&dispute, &f) != want || isParty(&f, &dispute) != want {
			t.Errorf("a finding of %q is of a party: %t and %t, want %t", declaration, isParty(&dispute, &f), isParty(&f, &dispute), want)
		}
	}
}

// TestUnclaimed distinguishes resources that no declaration claims from those that one of
// several declarations lacks.
func TestUnclaimed(t *testing.T) {
	t.Parallel()
	for want, all := range map[bool][]model.Finding{
		true:  {{Verdict: model.Unmanaged}},
		false: {{Verdict: model.Unmanaged, Declaration: "d"}, {Verdict: model.Missing}, {Verdict: model.Changed, Declaration: "d"}},
	} {
		for _, f := range all {
			if unclaimed(&f) != want {
				t.Errorf("%s of %q: %t", f.Verdict, f.Declaration, !want)
			}
		}
	}
}
