package classify

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestMadeAgain: a missing resource that was created again under another ID keeps the
// finding.
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

// TestMadeAgainIsAtLeastMedium: the next apply creates a second one of what was deleted
// and made again.
func TestMadeAgainIsAtLeastMedium(t *testing.T) {
	t.Parallel()
	replaces := &model.Kind{Severities: []model.SeverityRule{{Path: "node", Severity: model.High, Reason: "replaces it"}}}
	for _, test := range []struct {
		reason  string
		verdict model.Verdict
		former  string
		kind    *model.Kind
		paths   []string
		want    model.Severity
	}{
		{"made again", model.Moved, "4", nil, []string{"id"}, model.Medium},
		{"made again, with another name", model.Moved, "4", nil, []string{"id", "name"}, model.Medium},
		{"made again elsewhere, which a rule rates", model.Moved, "4", replaces, []string{"id", "node"}, model.High},
		{"moved, and the same one", model.Moved, "", nil, []string{"node"}, model.Low},
		{"another verdict on one that was made again", model.Pending, "4", nil, nil, model.Info},
	} {
		var changes []model.Change
		for _, path := range test.paths {
			changes = append(changes, model.Change{Path: path})
		}
		in := input()
		in.Judged = []model.Judged{{Subject: &model.Subject{Key: key, Kind: test.kind}, Outcomes: []model.Outcome{
			{Verdict: test.verdict, Claim: &model.Claim{Declaration: "d", ClaimMatching: model.ClaimMatching{Former: test.former}}, Changes: changes}}}}
		f := Findings(in).Current[0]
		if f.Severity != test.want {
			t.Errorf("%s: %s, want %s", test.reason, f.Severity, test.want)
		}
		if test.want == model.Medium && f.Changes[0].Severity != model.Medium {
			t.Errorf("%s: its ID is rated %q", test.reason, f.Changes[0].Severity)
		}
	}
}

// TestMadeAgainRatesTheID raises a finding that is milder than medium, and only its ID.
func TestMadeAgainRatesTheID(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		severity, want, id model.Severity
	}{
		{model.Info, model.Medium, model.Medium},
		{model.Low, model.Medium, model.Medium},
		{model.Medium, model.Medium, ""},
		{model.High, model.High, ""},
		{model.Critical, model.Critical, ""},
	} {
		f := model.Finding{Verdict: model.Moved, Severity: tc.severity, Changes: []model.Change{{Path: "name"}, {Path: "id"}, {Path: "uuid"}}}
		rateRecreated(&f, &model.Claim{ClaimMatching: model.ClaimMatching{Former: "4"}})
		if f.Severity != tc.want || f.Changes[0].Severity != "" || f.Changes[1].Severity != tc.id || f.Changes[2].Severity != "" {
			t.Errorf("%s: %s, fields %+v", tc.severity, f.Severity, f.Changes)
		}
	}
	f := model.Finding{Verdict: model.Moved, Severity: model.Low}
	if rateRecreated(&f, nil); f.Severity != model.Low {
		t.Errorf("without a claim: %s", f.Severity)
	}
}
