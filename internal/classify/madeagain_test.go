package classify

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestMadeAgain: what was missing and is there again under another ID is the
// finding that said so.
func TestMadeAgain(t *testing.T) {
	t.Parallel()
	elsewhere := model.Key{Source: "s", Kind: key.Kind, ID: "p/b"}
	for name, test := range map[string]struct {
		reason  string
		verdict model.Verdict
		address string
		same    bool
	}{
		"moved":           {"the claim is the same", model.Moved, "a.tf:web", true},
		"another claim":   {"another claim is on something else", model.Moved, "a.tf:db", false},
		"another verdict": {"what has changed was there before", model.Changed, "a.tf:web", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(model.Outcome{Verdict: model.Missing, Claim: &model.Claim{Declaration: "d", Address: "a.tf:web"}})
			in.Earlier = Findings(in).Current
			in.Judged = []model.Judged{{Subject: &model.Subject{Key: elsewhere}, Outcomes: []model.Outcome{
				{Verdict: test.verdict, Claim: &model.Claim{Declaration: "d", Address: test.address}}}}}
			r := Findings(in)
			if same := r.Current[0].ID == in.Earlier[0].ID; same != test.same || (len(r.Resolved) == 0) != test.same {
				t.Errorf("%s: same ID %t, %d resolved", test.reason, same, len(r.Resolved))
			}
		})
	}
}
