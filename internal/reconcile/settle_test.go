package reconcile_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/reconcile"
)

// unknown returns a bench with an action whose answer was lost, and whose resource cannot be read.
func unknown(t *testing.T) (*bench, reconcile.Action) {
	t.Helper()
	b := newBench(t)
	a := b.propose(t, "")
	b.live.After = func() error { b.live.InspectErr = errors.New("down"); return b.live.InspectErr }
	if a, _ = b.approve(t, &a, "alice"); a.State != reconcile.Unknown {
		t.Fatalf("it is %s", a.State)
	}
	return b, a
}

func settlement(as reconcile.State) reconcile.Request {
	return reconcile.Request{By: "bob", Reason: "the cluster was removed", As: as}
}

// TestSettle checks that a person ends an action of whose result driftd cannot find out, and that the rule stays
// stopped until it is resumed.
func TestSettle(t *testing.T) {
	t.Parallel()
	for _, as := range reconcile.Settlements() {
		t.Run(string(as), func(t *testing.T) {
			t.Parallel()
			b, a := unknown(t)
			delete(b.Actuators, "prod")
			if err := b.Recover(t.Context()); err == nil || !strings.Contains(err.Error(), "driftd actions settle "+a.ID) {
				t.Errorf("without a writer: %v", err)
			}
			done := 0
			b.Done = func(reconcile.Action) { done++ }
			a, err := b.Answer(t.Context(), a.ID, reconcile.SettleAnswer, settlement(as))
			if err != nil || a.State != as || done != 1 {
				t.Fatalf("it is %s, reported %d times: %v", a.State, done, err)
			}
			if last := a.Steps[len(a.Steps)-1]; last.By != "bob" || last.Note != "the cluster was removed" {
				t.Errorf("the step is %+v", last)
			}
			if err := b.Recover(t.Context()); err != nil {
				t.Errorf("afterwards: %v", err)
			}
			b.Actuators["prod"] = b.live
			b.live.Set("web:evil")
			other := b.drift("f2", "web")
			if _, err := b.Propose(t.Context(), other, reconcile.Request{By: "carol"}); err == nil || !strings.Contains(err.Error(), "is stopped") {
				t.Errorf("another action: %v", err)
			}
			if _, err := b.AddControl(reconcile.Control{Kind: reconcile.Resume, Rule: "shop", By: "bob"}); err != nil {
				t.Fatal(err)
			}
			b.now = b.now.Add(time.Hour)
			if _, err := b.Propose(t.Context(), other, reconcile.Request{By: "carol"}); err != nil {
				t.Errorf("after the resumption: %v", err)
			}
		})
	}
}

// TestSettledStops checks that a settlement stops the rule also if the result was never unknown.
func TestSettledStops(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.propose(t, "")
	b.store.killAt = b.store.writes + 3 // approved and armed are stored, written is not
	_, _ = b.approve(t, &a, "alice")
	b = b.restart()
	if got := b.store.actions[0].State; got != reconcile.Armed {
		t.Fatalf("it is %s", got)
	}
	if _, err := b.Settle(t.Context(), a.ID, settlement(reconcile.Converged)); err != nil {
		t.Fatal(err)
	}
	o, err := b.Overview()
	if err != nil || !strings.Contains(o.Rules[0].Stopped, "was converged") {
		t.Errorf("the rule is stopped because %q, %v", o.Rules[0].Stopped, err)
	}
}

func TestWhatCannotBeSettled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*bench, *reconcile.Request)
		want string
	}{
		"no person":     {func(_ *bench, q *reconcile.Request) { q.By = "" }, "must be a person"},
		"no reason":     {func(_ *bench, q *reconcile.Request) { q.Reason = " " }, "with a reason"},
		"another state": {func(_ *bench, q *reconcile.Request) { q.As = reconcile.Refused }, `cannot be settled as "refused"`},
		"no state":      {func(_ *bench, q *reconcile.Request) { q.As = "" }, "want converged, not-converged or failed"},
		"one that is over": {func(b *bench, _ *reconcile.Request) {
			b.live.InspectErr = nil
			_ = b.Recover(t.Context())
		}, "is converged: only one that is armed, written or unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, a := unknown(t)
			q := settlement(reconcile.Failed)
			c.edit(b, &q)
			before := b.store.writes
			if _, err := b.Settle(t.Context(), a.ID, q); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if b.store.writes != before {
				t.Error("it was stored")
			}
		})
	}
	b := newBench(t)
	a := b.propose(t, "")
	if _, err := b.Settle(t.Context(), a.ID, settlement(reconcile.Failed)); err == nil || !strings.Contains(err.Error(), "is proposed") {
		t.Errorf("a proposal: %v", err)
	}
}

// TestSettleWhileItIsCarriedOut checks that an action is not settled while its request is under way, and that
// Settle waits for the end of a read.
func TestSettleWhileItIsCarriedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		a := b.propose(t, "")
		b.live.Before = func() error { time.Sleep(time.Minute); return nil }
		over := make(chan struct{})
		go func() { defer close(over); _, _ = b.approve(t, &a, "alice") }()
		synctest.Wait()
		if _, err := b.Settle(t.Context(), a.ID, settlement(reconcile.Failed)); err == nil || !strings.Contains(err.Error(), "right now: try again") {
			t.Errorf("while it is sent: %v", err)
		}
		<-over
		if got := b.store.actions[0].State; got != reconcile.Converged {
			t.Errorf("it is %s", got)
		}
		b, a = unknown(t)
		b.Acting.Acquire()
		go func() { time.Sleep(5 * time.Second); b.Acting.Release() }()
		if _, err := b.Settle(t.Context(), a.ID, settlement(reconcile.Failed)); err != nil {
			t.Errorf("after a read: %v", err)
		}
	})
}

// TestUnexpectedChange verifies that an action is not converged if its write changed more than the plan, also after a
// crash, and that its fields are not handed back.
func TestUnexpectedChange(t *testing.T) {
	t.Parallel()
	for name, killAt := range map[string]int{"at once": 0, "after a crash": 5} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.live.Unexpected = []string{"spec.hostNetwork", "spec.paused"}
			a := b.propose(t, "bob")
			b.store.killAt = killAt
			_, err := b.approve(t, &a, "alice")
			if (err != nil) != (killAt > 0) {
				t.Errorf("Approve() = %v", err)
			}
			b = b.restart()
			if err := b.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := b.store.actions[0]
			if got.State != reconcile.NotConverged || got.Outcome != "the write changed more: spec.hostNetwork, spec.paused" || b.live.Owner != "driftd" || b.live.Writes != 1 {
				t.Errorf("it is %s (%s) after %s, and %s owns the field", got.State, got.Outcome, stepsOf(&got), b.live.Owner)
			}
		})
	}
}
