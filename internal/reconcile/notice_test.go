package reconcile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestNotice verifies which states cause messages, and that a message has no digest of a secret.
func TestNotice(t *testing.T) {
	t.Parallel()
	secret := model.DigestOf("hmac:0123456789abcdef")
	plain := model.StringOf("web:1")
	action := reconcile.Action{ID: "9b1c", Finding: "f", Plan: reconcile.Plan{Changes: []reconcile.FieldChange{{Path: "image", Old: &plain}, {Path: "data.password", Old: &secret, New: &secret}}},
		Approvals: []reconcile.Approval{{By: "alice"}}}
	for _, state := range reconcile.States() {
		a := action
		a.Enter(state, time.Unix(0, 0), "")
		n, ok := a.Notice(1)
		if want := state != reconcile.Approved && state != reconcile.Armed && state != reconcile.Written; ok != want {
			t.Errorf("%s causes a message: %t", state, ok)
		}
		if !ok {
			continue
		}
		if n.Waits != (state == reconcile.Proposed) || n.Converged != (state == reconcile.Converged) || n.Alarm != (state == reconcile.Unknown || state == reconcile.NotConverged) || n.Step != 2 || n.Approvers[0] != "alice" {
			t.Errorf("%s: got %+v", state, n)
		}
		if shown := n.Changes[1]; !shown.Secret || strings.Contains(shown.Recorded.String()+shown.Live.String(), "0123") {
			t.Errorf("%s: the secret is %+v", state, shown)
		}
	}
	action.Plan.Also = make([]reconcile.Covered, model.MaxFields+2)
	action.Enter(reconcile.Proposed, time.Unix(0, 0), "")
	if n, _ := action.Notice(1); n.Whole() || n.Others != model.MaxFields+2 || len(n.Also) != model.MaxFields {
		t.Errorf("of 12 other findings it has %d of %d, whole: %t", len(n.Also), n.Others, n.Whole())
	}
	automatic := action
	automatic.Enter(reconcile.Proposed, time.Unix(0, 0), "")
	if _, ok := automatic.Notice(0); ok {
		t.Error("a proposal that needs no approval causes a message")
	}
}

// TestNoticeNamesWhoEndedIt checks that a message has the person who ended the action, with or without a reason.
func TestNoticeNamesWhoEndedIt(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{"": "by alice", "not now": "by alice: not now"} {
		a := reconcile.Action{ID: "9b1c"}
		a.EnterBy(reconcile.Declined, time.Unix(0, 0), "alice", reason)
		if n, ok := a.Notice(1); !ok || n.Outcome != want {
			t.Errorf("got %q, want %q", n.Outcome, want)
		}
	}
}
