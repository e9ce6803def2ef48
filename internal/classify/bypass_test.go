package classify

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestRateOfBypassed rates what was applied past the declaration like what was
// changed behind it, and what may have been as well.
func TestRateOfBypassed(t *testing.T) {
	t.Parallel()
	kind := &model.Kind{Severities: []model.SeverityRule{
		{Verdicts: []model.Verdict{model.Changed}, Path: "image", Severity: model.High, Reason: "a different image runs"},
		{Verdicts: []model.Verdict{model.Pending}, Path: "image", Severity: model.Low},
		{Verdicts: []model.Verdict{model.Missing}, Severity: model.Critical, Reason: "gone"},
	}}
	live := &model.Resource{}
	one := func(path string, unproven bool) []model.Change {
		return []model.Change{{Path: path, Unproven: unproven, Actor: &model.Actor{}}}
	}
	for name, tc := range map[string]struct {
		reason  string
		live    *model.Resource
		outcome model.Outcome
		want    model.Severity
	}{
		"bypassed":               {"by the rules of changed", live, model.Outcome{Verdict: model.Bypassed, Changes: one("image", false)}, model.High},
		"bypassed without rule":  {"as changed usually is", live, model.Outcome{Verdict: model.Bypassed, Changes: one("size", false)}, model.Medium},
		"pending":                {"by its own rules", live, model.Outcome{Verdict: model.Pending, Changes: one("image", false)}, model.Low},
		"pending without rule":   {"it only waits", live, model.Outcome{Verdict: model.Pending, Changes: one("size", false)}, model.Info},
		"unproven":               {"by the rules of changed", live, model.Outcome{Verdict: model.Pending, Changes: one("image", true)}, model.High},
		"unproven without rule":  {"as changed usually is", live, model.Outcome{Verdict: model.Pending, Changes: one("size", true)}, model.Medium},
		"one of two is unproven": {"the worst counts", live, model.Outcome{Verdict: model.Pending, Changes: append(one("size", true), one("size", false)...)}, model.Medium},
		"the whole, unproven":    {"as changed usually is", live, model.Outcome{Verdict: model.Pending, Unproven: true}, model.Medium},
		"the whole, bypassed":    {"as changed usually is", live, model.Outcome{Verdict: model.Bypassed}, model.Medium},
		"destroyed":              {"by the rules of missing", nil, model.Outcome{Verdict: model.Bypassed}, model.Critical},
		"to be made":             {"it only waits", nil, model.Outcome{Verdict: model.Pending}, model.Info},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &model.Subject{Key: model.Key{Source: "s", Kind: "k", ID: "a"}, Kind: kind, Live: tc.live}
			f := newFinding(s, &tc.outcome, newIgnorer(nil, time.Time{}))
			if f.Severity != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, f.Severity, tc.want)
			}
			if f.Unproven != tc.outcome.Unproven {
				t.Errorf("unproven %t, want %t", f.Unproven, tc.outcome.Unproven)
			}
		})
	}
}
