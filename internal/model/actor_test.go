package model_test

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestIsPerson(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		actor model.Actor
		want  bool
	}{
		"user":            {model.Actor{Name: "alice@example.org", Via: model.AuditLog, Confidence: model.Exact}, true},
		"author":          {model.Actor{Name: "Alice", Via: "git", Confidence: model.Likely}, true},
		"field manager":   {model.Actor{Name: "alice", Via: model.ViaManagedFields, Confidence: model.Likely}, false},
		"service account": {model.Actor{Name: "system:serviceaccount:flux:flux", Via: model.AuditLog, Confidence: model.Exact}, false},
		"token":           {model.Actor{Name: "root@pam!ci", Via: "task log", Confidence: model.Exact}, false},
		"driftd":          {model.Actor{Name: "driftd", Via: model.ViaAction, Confidence: model.Likely}, false},
		"bot":             {model.Actor{Name: "renovate[bot]", Via: "git", Confidence: model.Likely}, false},
		"unknown":         {model.UnknownActor("no log"), false},
		"none":            {model.Actor{}, false},
	} {
		if got := tc.actor.IsPerson(); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}
