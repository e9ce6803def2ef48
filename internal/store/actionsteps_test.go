package store

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// enterBy changes the state of an action for a person.
func enterBy(s *Store, id string, state reconcile.State, at time.Time, by, reason string) error {
	_, err := s.Announcing(nil).ChangeAction(id, func(a *reconcile.Action, _ *reconcile.Standing, _ *model.Finding) error {
		a.EnterBy(state, at, by, reason)
		return nil
	})
	return err
}

// wantNowhere fails if a record of the store has a text.
func wantNowhere(tb testing.TB, s *Store, text string) {
	tb.Helper()
	records := 0
	err := s.view("search", func(t *txn) error {
		for _, p := range t.parts() {
			err := each(p.in, nil, func(k, v []byte) error {
				records++
				forms := [][]byte{k, v}
				for _, packed := range [][]byte{v, v[min(8, len(v)):]} {
					if plain, err := t.unpack(packed); err == nil {
						forms = append(forms, plain)
					}
				}
				if bytes.Contains(bytes.Join(forms, []byte{0}), []byte(text)) {
					return fmt.Errorf("record %q of %s has %s: %q", k, p.in.name, text, forms)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || records < 10 {
		tb.Errorf("searched %d records: %v", records, err)
	}
}

// TestErasedPersonOfActionsIsGone checks that an erased name is in no record of actions: not with what the person did, nor in
// the reason of a guard.
func TestErasedPersonOfActionsIsGone(t *testing.T) {
	t.Parallel()
	const name = "gone-person"
	s := withAction(t)
	err := errors.Join(s.AddControl(reconcile.Control{ID: "c1", Kind: reconcile.Freeze, By: name, At: minute(2), Until: minute(90), Reason: "sale"}), approveIt(s, name))
	for _, id := range []string{"b1", "b2", "b3"} {
		_, proposeErr := s.Announcing(nil).Propose("a", func(*reconcile.Standing, *model.Finding) (reconcile.Action, error) { return proposed(id, name), nil })
		err = errors.Join(err, proposeErr)
	}
	_, refuseErr := s.Announcing(nil).ChangeAction("b1", func(a *reconcile.Action, standing *reconcile.Standing, _ *model.Finding) error {
		f := finding("a", 0)
		situation := reconcile.Situation{Now: minute(5), Finding: &f, Standing: *standing, Writer: true,
			Rule: &reconcile.Rule{Name: "shop", Mode: reconcile.Approve, Limits: reconcile.DefaultLimits()}}
		refusal := reconcile.Check(&situation)
		a.Enter(reconcile.Refused, minute(5), refusal.Error())
		return nil
	})
	err = errors.Join(err, refuseErr, enterBy(s, "b2", reconcile.Declined, minute(6), name, "not now"), enterBy(s, "b3", reconcile.Armed, minute(6), "", ""),
		enterBy(s, "b3", reconcile.Failed, minute(7), name, "the cluster is gone"))
	if err != nil {
		t.Fatal(err)
	}
	standing, err := s.Standing()
	if err != nil || len(standing.History) != 4 {
		t.Fatal(standing, err)
	}
	settled := standing.History[3]
	if last := settled.Steps[2]; last.By != name || settled.Steps[1].By != "" || last.Note != "the cluster is gone" {
		t.Errorf("settled by %+v", settled.Steps)
	}
	if note := standing.History[1].Outcome; !strings.Contains(note, "by freeze c1: sale") {
		t.Errorf("refused: %s", note)
	}
	wantFaults(t, s)
	head, err := s.AuditHead()
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.AuditEntry(head.Size - 1)
	if raw := fmt.Sprintf("%s", e.Data); err != nil || !strings.Contains(raw, `"person":"`+name+`"`) || !strings.Contains(raw, "the cluster is gone") {
		t.Errorf("the entry is %s, %v", raw, err)
	}
	if err := errors.Join(enterBy(s, "a1", reconcile.Converged, minute(8), "", ""), s.EraseName(name, "bob", minute(8))); err != nil {
		t.Fatal(err)
	}
	wantNowhere(t, s, name)
	wantFaults(t, s)
	if standing, err = s.Standing(); err != nil || !strings.HasPrefix(standing.History[3].Steps[2].By, "person:") {
		t.Errorf("settled by %+v, %v", standing.History[3].Steps, err)
	}
	// The rule is stopped by it as before.
	rule := reconcile.Rule{Name: "shop"}
	if why := reconcile.Stopped([]reconcile.Rule{rule}, &rule, standing.History, standing.Controls); !strings.Contains(why, "action b3 was failed") {
		t.Errorf("stopped: %q", why)
	}
}

// TestPersonsOfStepsCannotBeEdited checks that the audit log accounts for who made a step.
func TestPersonsOfStepsCannotBeEdited(t *testing.T) {
	t.Parallel()
	a := proposed("a1", "")
	for name, c := range map[string]struct {
		edit func(*txn) error
		want string
	}{
		"another person": {func(t *txn) error { return t.putJSON(stepKey(&a, 1), stepPerson{"mallory"}) }, "step a1 0001 was edited"},
		"no person":      {func(t *txn) error { return t.actions.remove(stepKey(&a, 1)) }, "step a1 0001 is gone"},
		"one more":       {func(t *txn) error { return t.putJSON(stepKey(&a, 0), stepPerson{"mallory"}) }, "step a1 0000 is there, and no entry records it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := withAction(t)
			if err := enterBy(s, "a1", reconcile.Declined, minute(2), "alice", "no"); err != nil {
				t.Fatal(err)
			}
			wantFaults(t, s)
			tamper(t, s, c.edit)
			wantFaults(t, s, c.want)
		})
	}
}

// TestPositions checks that steps and controls have positions in the order in which they were stored, also when the clock
// is set back, and that the oldest record is the first one.
func TestPositions(t *testing.T) {
	t.Parallel()
	s := withAction(t)
	err := errors.Join(enter(s, reconcile.Approved, minute(-5)), s.AddControl(reconcile.Control{ID: "c1", Kind: reconcile.Thaw, By: "bob", At: minute(-9)}),
		enter(s, reconcile.Armed, minute(-7)))
	if err != nil {
		t.Fatal(err)
	}
	later := proposed("a0", "carol")
	later.At, later.Steps[0].At = minute(-60), minute(-60)
	if _, err := s.Announcing(nil).Propose("a", func(*reconcile.Standing, *model.Finding) (reconcile.Action, error) { return later, nil }); err != nil {
		t.Fatal(err)
	}
	standing, err := s.Standing()
	if err != nil || len(standing.History) != 2 || standing.History[0].ID != "a1" {
		t.Fatal(standing.History, err)
	}
	var got []uint64
	for _, step := range standing.History[0].Steps {
		got = append(got, step.Seq)
	}
	got = append(got, standing.Controls[0].Seq, standing.History[1].Steps[0].Seq)
	if want := fmt.Sprint([]uint64{1, 2, 4, 3, 5}); fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
