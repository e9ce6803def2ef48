package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// proposed returns an action that was proposed for finding a.
func proposed(id string, by string) reconcile.Action {
	old, now := text("live"), text("declared")
	a := reconcile.Action{ID: id, Finding: "a", Basis: "basis", Subject: key("shop/a"), Rule: "shop", By: by, At: minute(1),
		Digest: "d1", Plan: reconcile.Plan{UID: "1", Changes: []reconcile.FieldChange{{Path: "data", Old: &old, New: &now}}}}
	a.Enter(reconcile.Proposed, minute(1), "")
	return a
}

// withAction returns a store with a finding and a proposed action.
func withAction(tb testing.TB) *Store {
	tb.Helper()
	c := testClock{minute(0)}
	s := openAt(tb, tb.TempDir(), c.options(auditKey(tb)))
	save(tb, s, scan(0, []model.Finding{finding("a", 0)}))
	_, err := s.Announcing(nil).Propose("a", func(*reconcile.Standing, *model.Finding) (reconcile.Action, error) {
		return proposed("a1", "carol"), nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// addActing adds an action, an approval and a control.
func addActing(tb testing.TB, s *Store) {
	tb.Helper()
	a := proposed("a1", "carol")
	a.Approvals = []reconcile.Approval{{By: "alice", Via: "web", At: minute(1), Digest: "d1"}}
	a.Steps[0].By = "dora"
	_, err := s.Announcing(nil).Propose("a", func(*reconcile.Standing, *model.Finding) (reconcile.Action, error) { return a, nil })
	if err := errors.Join(err, s.AddControl(reconcile.Control{ID: "c1", Kind: reconcile.Freeze, By: "bob", At: minute(1), Until: minute(9)})); err != nil {
		tb.Fatal(err)
	}
}

// enter changes the state of action a1.
func enter(s *Store, state reconcile.State, at time.Time) error {
	_, err := s.Announcing(nil).ChangeAction("a", func(a *reconcile.Action, _ *reconcile.Standing, f *model.Finding) error {
		if f == nil || f.ID != "a" {
			return errors.New("the finding is not passed")
		}
		a.Enter(state, at, "note")
		return nil
	})
	return err
}

func approveIt(s *Store, by string) error {
	_, err := s.Announcing(nil).ChangeAction("a1", func(a *reconcile.Action, _ *reconcile.Standing, _ *model.Finding) error {
		a.Approvals = append(a.Approvals, reconcile.Approval{By: by, Via: "web", At: minute(2), Digest: a.Digest})
		a.Enter(reconcile.Approved, minute(2), "")
		return nil
	})
	return err
}

func TestActionsAreRecorded(t *testing.T) {
	t.Parallel()
	s := withAction(t)
	freeze := reconcile.Control{ID: "c1", Kind: reconcile.Freeze, Until: minute(60), By: "alice", Via: "web", At: minute(5), Reason: "sale"}
	if err := errors.Join(approveIt(s, "alice"), enter(s, reconcile.Armed, minute(3)), enter(s, reconcile.Written, minute(4)), s.AddControl(freeze)); err != nil {
		t.Fatal(err)
	}
	standing, err := s.Standing()
	if err != nil || len(standing.History) != 1 || len(standing.Controls) != 1 {
		t.Fatalf("got %+v, %v", standing, err)
	}
	a := standing.History[0]
	if a.State != reconcile.Written || len(a.Steps) != 4 || a.By != "carol" || len(a.Approvals) != 1 || a.Approvals[0].By != "alice" {
		t.Errorf("got %+v", a)
	}
	wantFaults(t, s)
	var kinds []string
	for i := range int64(8) {
		e, err := s.AuditEntry(i)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, string(e.Kind))
	}
	if got, want := strings.Join(kinds, " "), "begin scan action approval action action action control"; got != want {
		t.Errorf("entries: %s, want %s", got, want)
	}
}

// An action is armed only if the audit log records it.
func TestArmedOnlyIfRecorded(t *testing.T) {
	t.Parallel()
	s := withAction(t)
	if err := s.PutInDoubt("restored"); err != nil {
		t.Fatal(err)
	}
	if err := enter(s, reconcile.Approved, minute(2)); err != nil {
		t.Fatal(err)
	}
	unrecorded, other := (*UnrecordedError)(nil), auditKey(t)
	tamper(t, s, func(t *txn) error { return t.setKey(other.Public()) })
	if err := enter(s, reconcile.Armed, minute(3)); !errors.As(err, &unrecorded) {
		t.Errorf("with the key of another log: %v", err)
	}
	standing, err := s.Standing()
	if err != nil || standing.History[0].State != reconcile.Approved || standing.Doubt == "" {
		t.Errorf("the action is %s, doubt %q, %v", standing.History[0].State, standing.Doubt, err)
	}
	without := openNew(t)
	if _, err := without.Announcing(nil).Propose("a", func(*reconcile.Standing, *model.Finding) (reconcile.Action, error) { return proposed("a1", ""), nil }); err != nil {
		t.Fatal(err)
	}
	_, err = without.Announcing(nil).ChangeAction("a1", func(a *reconcile.Action, _ *reconcile.Standing, _ *model.Finding) error {
		a.Enter(reconcile.Armed, minute(3), "")
		return nil
	})
	if !errors.As(err, &unrecorded) {
		t.Errorf("without a log: %v", err)
	}
}

func TestEditsOfActionsAreNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*txn) error
		want string
	}{
		"state": {func(t *txn) error {
			a := proposed("a1", "carol")
			a.Enter(reconcile.Converged, minute(1), "")
			return t.putJSON([]byte(actionPrefix+"a1"), a)
		}, "action a1 was edited after entry 4 recorded it"},
		"requester": {func(t *txn) error {
			var a reconcile.Action
			err := t.unpackJSON(t.actions.get([]byte(actionPrefix+"a1")), &a)
			a.By = "mallory"
			return errors.Join(err, t.putJSON([]byte(actionPrefix+"a1"), a))
		}, "action a1 was edited after entry 4 recorded it"},
		"approver": {func(t *txn) error {
			a := proposed("a1", "")
			return t.putJSON(approvalKey(&a, 0), reconcile.Approval{By: "mallory", Via: "web", At: minute(2), Digest: "d1"})
		}, "approval a1 0000 was edited after entry 3 recorded it"},
		"another approval": {func(t *txn) error {
			a := proposed("a1", "")
			return t.putJSON(approvalKey(&a, 1), reconcile.Approval{By: "mallory", Via: "web", At: minute(2), Digest: "d1"})
		}, "approval a1 0001 is there, and no entry records it"},
		"removed": {func(t *txn) error { return t.actions.remove([]byte(actionPrefix + "a1")) }, "action a1 is gone, entry 4 records it"},
		"resumption": {func(t *txn) error {
			return t.putJSON([]byte(controlPrefix+"c9"), reconcile.Control{ID: "c9", Kind: reconcile.Resume, Rule: "shop", By: "alice", At: minute(1)})
		}, "control c9 is there, and no entry records it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withAction(t)
			if err := approveIt(s, "alice"); err != nil {
				t.Fatal(err)
			}
			tamper(t, s, c.edit)
			wantFaults(t, s, c.want)
		})
	}
}

// An erased name is replaced in actions and approvals, and the log still verifies.
func TestEraseNameOfActions(t *testing.T) {
	t.Parallel()
	s := withAction(t)
	if err := errors.Join(approveIt(s, "alice"), enter(s, reconcile.Converged, minute(2))); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"alice", "carol"} {
		if err := s.EraseName(name, "bob", minute(3+i)); err != nil {
			t.Fatal(err)
		}
	}
	standing, err := s.Standing()
	if err != nil {
		t.Fatal(err)
	}
	a := standing.History[0]
	if !strings.HasPrefix(a.By, "person:") || !strings.HasPrefix(a.Approvals[0].By, "person:") || a.By == a.Approvals[0].By {
		t.Errorf("asked for by %q, approved by %q", a.By, a.Approvals[0].By)
	}
	wantFaults(t, s)
}

func TestPruneActions(t *testing.T) {
	t.Parallel()
	c := testClock{minute(0)}
	o := c.options(auditKey(t))
	o.Retention.MaxAge = time.Hour
	s := openAt(t, t.TempDir(), o)
	for _, id := range []string{"over", "open"} {
		a := proposed(id, "carol")
		if id == "over" {
			a.Approvals = []reconcile.Approval{{By: "alice", At: minute(2), Digest: "d1"}}
			a.Enter(reconcile.Converged, minute(3), "")
			a.Steps[0].By = "carol"
		}
		if _, err := s.Announcing(announced).Propose("a", func(*reconcile.Standing, *model.Finding) (reconcile.Action, error) { return a, nil }); err != nil {
			t.Fatal(err)
		}
		deliver(t, s, "slack", "ts")
	}
	save(t, s, scan(0, nil))
	const days = 24 * 60
	for day := range 40 {
		c.now = minute((day + 1) * days)
		save(t, s, scan((day+1)*days, nil))
	}
	if _, err := s.Prune(c.now); err != nil {
		t.Fatal(err)
	}
	standing, err := s.Standing()
	if err != nil || len(standing.History) != 1 || standing.History[0].ID != "open" {
		t.Errorf("got %v, %v", standing.History, err)
	}
	for id, want := range map[string]string{"over": "", "open": "ts"} {
		err := s.view("read receipt", func(t *txn) (err error) {
			receipt, err := t.receipt("slack", model.ActionThread+id)
			if receipt != want {
				return fmt.Errorf("the receipt of %s is %q, want %q", id, receipt, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	err = s.view("count", func(t *txn) error {
		if n := t.actions.now.records; n != 1 {
			return fmt.Errorf("%d records are left", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	wantFaults(t, s)
}
