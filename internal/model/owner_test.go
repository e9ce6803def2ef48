package model_test

import (
	"testing"
	"time"

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

// TestLastOwner checks that an owner that wrote through a subresource is the last one only if no other owner wrote since the
// given time.
func TestLastOwner(t *testing.T) {
	t.Parallel()
	at := func(second int) time.Time { return time.Date(2026, 7, 28, 10, 0, second, 0, time.UTC) }
	r := model.Resource{Owners: []model.Owner{
		{Name: "status", Through: "status", At: at(9)}, {Name: "git", At: at(3)}, {Name: "kubectl-edit", Edits: true, At: at(5)}, {Name: "helm", At: at(5)},
	}}
	for since, want := range map[time.Time]string{
		{}:                                "kubectl-edit",
		at(5).Add(900 * time.Millisecond): "kubectl-edit",
		at(6):                             "status",
		at(20):                            "status",
	} {
		if got := r.LastOwner(since); got.Name != want {
			t.Errorf("the last owner since %s is %s, want %s", since, got.Name, want)
		}
	}
	if got := (&model.Resource{}).LastOwner(time.Time{}); got != nil {
		t.Errorf("without owners: %v", got)
	}
}
