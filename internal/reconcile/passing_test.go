package reconcile_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestPassingRefusalKeepsProposal checks that an approval which a guard refuses only for now leaves the proposal as it was, and
// counts when it is given again.
func TestPassingRefusalKeepsProposal(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(r *reconcile.Rule) { r.Expiry = 2 * time.Hour })
	first := b.propose(t, "")
	second, err := b.Propose(t.Context(), b.drift("f2", "db"), reconcile.Request{Via: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := b.approve(t, &first, "alice"); err != nil || a.State != reconcile.Converged {
		t.Fatalf("the first one is %s: %v", a.State, err)
	}
	b.live.Value, b.live.Owner = "web:evil", "hand"
	_, err = b.approve(t, &second, "alice")
	if err == nil || !strings.Contains(err.Error(), "is watched until") {
		t.Fatalf("the second one within the soak: %v", err)
	}
	if kept, err := reconcile.FindAction(b.store.standing().History, second.ID); err != nil || kept.State != reconcile.Proposed || len(kept.Approvals) > 0 {
		t.Errorf("it is %s with %d approvals, %v; want a proposal without any", kept.State, len(kept.Approvals), err)
	}
	b.now = b.now.Add(61 * time.Minute) // after the soak, and the hour of the guard blast
	if a, err := b.approve(t, &second, "alice"); err != nil || a.State != reconcile.Converged {
		t.Errorf("after it, it is %s: %v", a.State, err)
	}
}

// TestPassingRefusalIsTriedAgain checks that driftd acts again by itself after a guard refused only for now, and not after
// another refusal.
func TestPassingRefusalIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refuse func(b *bench)
		tried  int
	}{
		"the declaration could not be read": {func(b *bench) { b.reads.evidence.Unread = "git did not answer" }, 2},
		"its fields are nondeterministic":   {func(b *bench) { b.reads.evidence.Nondeterministic = "the chart calls now" }, 1},
	} {
		b := newBench(t, func(r *reconcile.Rule) { r.Mode = reconcile.Auto })
		good := b.reads.evidence
		b.reads.refresh = func() { tc.refuse(b) }
		for range 2 {
			if err := b.Observe(t.Context(), b.store.findings); err != nil {
				t.Fatal(err)
			}
			b.reads.refresh, b.reads.evidence = nil, good
		}
		if n := len(b.store.actions); n != tc.tried {
			t.Errorf("%s: %d actions, want %d", name, n, tc.tried)
		}
	}
}

// TestApprovedWithoutRule checks that an approved action whose finding no rule matches any more is refused. An actuator
// relies on a rule.
func TestApprovedWithoutRule(t *testing.T) {
	t.Parallel()
	b, applier := newApplied(t, func(r *reconcile.Rule) { r.Paths = []string{"spec.image"} })
	action := b.propose(t, "")
	b.reads.refresh = func() {
		more := b.store.findings[0].Changes[0]
		more.Path = "spec.replicas"
		b.store.findings[0].Changes = append(b.store.findings[0].Changes, more)
	}
	a, err := b.approve(t, &action, "alice")
	if err == nil || a.State != reconcile.Refused || !strings.Contains(err.Error(), "no rule of reconcile.rules matches") || applier.applied > 0 {
		t.Errorf("it is %s, applied %d times: %v", a.State, applier.applied, err)
	}
}

// A panicking is an actuator that panics when it plans.
type panicking struct{ reconcile.Actuator }

func (panicking) Plan(context.Context, reconcile.Subject) (reconcile.Change, error) { panic("no") }

func (panicking) Limit() time.Duration { return time.Minute }

// TestPanicWhilePlanned checks that a panic while an action is planned refuses that action, and ends nothing else.
func TestPanicWhilePlanned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	action := b.propose(t, "")
	o := b.Options
	o.Actuators = map[string]reconcile.Actuator{"prod": panicking{}}
	b.Reconciler = reconcile.New(o)
	if a, err := b.approve(t, &action, "alice"); err == nil || !strings.Contains(err.Error(), "panicked") || a.State != reconcile.Refused {
		t.Errorf("it is %s: %v", a.State, err)
	}
}

// TestDecidedWhileApplied checks that a freeze and a decision that come while an actuator plans for the last time stop the
// write.
func TestDecidedWhileApplied(t *testing.T) {
	t.Parallel()
	for want, meanwhile := range map[string]func(b *bench){
		"actions are frozen": func(b *bench) {
			if err := b.store.AddControl(reconcile.Control{Kind: reconcile.Freeze, At: b.now, Until: b.now.Add(time.Hour), Reason: "incident", By: "carol"}); err != nil {
				t.Error(err)
			}
		},
		"it was accepted":           func(b *bench) { b.store.findings[1].Decision = &model.Decision{ID: "d1", Kind: model.Accept} },
		"the audit log is in doubt": func(b *bench) { b.store.doubt = "an entry was changed" },
	} {
		b, a := newApplied(t)
		action := b.propose(t, "")
		b.reads.reread = func() { meanwhile(b) }
		after, err := b.approve(t, &action, "alice")
		if err == nil || !strings.Contains(err.Error(), want) || after.State != reconcile.Refused || a.applied > 0 {
			t.Errorf("%s: it is %s, applied %d times: %v", want, after.State, a.applied, err)
		}
	}
}
