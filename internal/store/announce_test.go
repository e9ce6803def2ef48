package store

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// announced returns one message for each action, in the thread of its finding.
func announced(a *reconcile.Action, f *model.Finding, threads []model.Thread) []model.Message {
	m := message("slack", model.ActionThread+a.ID, model.ActionThread+a.ID+"."+string(a.State))
	if f != nil && len(threads) > 0 {
		m.Parent = threads[0].ID
	}
	return []model.Message{m}
}

// TestAnnounce verifies that messages about an action are queued with it, with the receipt of the finding's
// thread, and that the receipt of the first one stays for the later ones.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	s := openAt(t, t.TempDir(), c.options(auditKey(t)))
	rec := scan(0, []model.Finding{finding("a", 0)})
	rec.Notices = model.NoticeChange{Threads: []model.Thread{thread("slack", "t", 1, 1)}, Messages: []model.Message{message("slack", "t", "t.1")}}
	save(t, s, rec)
	deliver(t, s, "slack", "ts 1")

	acting := s.Announcing(announced)
	if _, err := acting.Propose("a", func(*reconcile.Standing, *model.Finding) (reconcile.Action, error) {
		return proposed("a1", "carol"), nil
	}); err != nil {
		t.Fatal(err)
	}
	entry := deliver(t, s, "slack", "ts 2")
	if entry.Message.Key != "action-a1.proposed" || entry.Parent != "ts 1" || entry.Receipt != "" {
		t.Errorf("got %+v", entry)
	}
	nothing := func(*reconcile.Action, *reconcile.Standing, *model.Finding) error { return nil }
	if _, err := acting.ChangeAction("a1", nothing); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no")
	_, err := acting.ChangeAction("a1", func(a *reconcile.Action, _ *reconcile.Standing, _ *model.Finding) error {
		a.Enter(reconcile.Declined, minute(2), "")
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if _, ok, err := s.NextOutboxEntry("slack"); ok || err != nil {
		t.Errorf("a message is queued about an action that did not change: %v", err)
	}
	_, err = acting.ChangeAction("a1", func(a *reconcile.Action, _ *reconcile.Standing, _ *model.Finding) error {
		a.Enter(reconcile.Declined, minute(2), "")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("ts 2", deliver(t, s, "slack", "").Receipt); diff != "" {
		t.Errorf("the receipt of the first message: %s", diff)
	}
	wantFaults(t, s)
}
