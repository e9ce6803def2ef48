package model_test

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestLoggedUser checks that the user of an owner is certain only if no other user can have set its
// fields.
func TestLoggedUser(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		owner model.Owner
		want  string
	}{
		"no log":                      {model.Owner{Name: "edit"}, ""},
		"no other user":               {model.Owner{User: "alice", Evidence: "audit 1"}, "alice exact audit 1"},
		"another user":                {model.Owner{User: "alice", Evidence: "audit 1", Before: []string{"bob", "eve"}}, "alice likely audit 1, used before by bob and eve"},
		"unknown users":               {model.Owner{User: "alice", Evidence: "audit 1", BeforeUnknown: true}, "alice likely audit 1, which others may have used before the log begins"},
		"another user, unknown users": {model.Owner{User: "alice", Evidence: "audit 1", Before: []string{"bob"}, BeforeUnknown: true}, "alice likely audit 1, used before by bob"},
	} {
		got := ""
		if who, ok := tc.owner.LoggedUser(); ok {
			got = who.Name + " " + string(who.Confidence) + " " + who.Evidence
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", reason, got, tc.want)
		}
	}
}
