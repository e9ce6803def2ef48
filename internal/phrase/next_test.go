package phrase_test

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

func TestNextStep(t *testing.T) {
	t.Parallel()
	alice := model.Actor{Name: "alice", Via: model.AuditLog, Confidence: model.Exact}
	tool := model.Actor{Name: "kubectl-create", Via: model.ViaManagedFields, Confidence: model.Likely}
	accepted := &model.Decision{Kind: model.Accept}
	for name, tc := range map[string]struct {
		f    model.Finding
		want string
	}{
		"changed":             {model.Finding{Verdict: model.Changed}, "Put it back, adopt it in the declaration, or accept it"},
		"changed, snoozed":    {model.Finding{Verdict: model.Changed, Decision: &model.Decision{Kind: model.Snooze}}, "Put it back, adopt it in the declaration, or accept it"},
		"changed, accepted":   {model.Finding{Verdict: model.Changed, Decision: accepted}, "It is accepted; otherwise put it back, or adopt it in the declaration"},
		"person":              {model.Finding{Verdict: model.Unmanaged, Actor: alice, Owner: "team"}, "Declare it, accept it, or ask who created it"},
		"owner":               {model.Finding{Verdict: model.Unmanaged, Actor: tool, Owner: "team"}, "Declare it, accept it, or ask its owner"},
		"nobody":              {model.Finding{Verdict: model.Unmanaged, Actor: tool}, "Declare it, or accept it"},
		"open":                {model.Finding{Verdict: model.Changed, Severity: model.Critical}, "Put it back; adopt or accept it only if it is intended"},
		"exposed":             {model.Finding{Verdict: model.Undeclared, Severity: model.High, Exposure: model.ExposesReach}, "Put it back; adopt or accept it only if it is intended"},
		"code":                {model.Finding{Verdict: model.Changed, Severity: model.High, Exposure: model.ExposesCode}, "Put it back, adopt it in the declaration, or accept it"},
		"rated low":           {model.Finding{Verdict: model.Changed, Severity: model.Low, Exposure: model.ExposesReach}, "Put it back, adopt it in the declaration, or accept it"},
		"bypassed, open":      {model.Finding{Verdict: model.Bypassed, Severity: model.Critical}, "Put it back; commit what was applied only if it is intended"},
		"unmanaged, open":     {model.Finding{Verdict: model.Unmanaged, Severity: model.Critical}, "Remove it; declare or accept it only if it is intended"},
		"unmanaged, by alice": {model.Finding{Verdict: model.Unmanaged, Severity: model.Critical, Actor: alice}, "Remove it, or ask who created it; declare or accept it only if it is intended"},
		"accepted":            {model.Finding{Verdict: model.Unmanaged, Actor: tool, Decision: accepted}, "It is accepted; otherwise declare it"},
		"accepted, with name": {model.Finding{Verdict: model.Unmanaged, Actor: alice, Decision: accepted}, "It is accepted; otherwise declare it, or ask who created it"},
	} {
		if got := phrase.NextStep(&tc.f); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
