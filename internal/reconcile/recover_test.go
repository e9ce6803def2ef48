package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// An interrupting store calls then after an action was approved.
type interrupting struct {
	*memory
	then func()
}

func (i *interrupting) ChangeAction(id string, change func(*reconcile.Action, *reconcile.Standing, *model.Finding) error) (reconcile.Action, error) {
	a, err := i.memory.ChangeAction(id, change)
	if err == nil && a.State == reconcile.Approved {
		i.then()
	}
	return a, err
}

// TestRecoverOvertakesApproval verifies that an approval returns what came of the action if Recover carries it out
// first.
func TestRecoverOvertakesApproval(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]bool{"converges": false, "is refused": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := b.propose(t, "bob")
			b.Store = &interrupting{b.store, func() {
				if refused {
					b.store.doubt = "it was edited"
				}
				if err := b.Recover(t.Context()); err != nil && !refused {
					t.Error(err)
				}
			}}
			after, err := b.approve(t, &a, "alice")
			want := reconcile.Converged
			if refused {
				want = reconcile.Refused
			}
			if after.State != want || errors.As(err, new(*reconcile.Refusal)) != refused || b.live.Writes > 1 {
				t.Errorf("got %s, %v after %d writes, want %s", after.State, err, b.live.Writes, want)
			}
		})
	}
}

// TestRecoverApproved checks that an approved action that a restart interrupted waits for the first reads, and
// not longer than it is valid.
func TestRecoverApproved(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"in time": false, "too late": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			a := b.propose(t, "")
			b.store.killAt = b.store.writes + 2 // approved is stored, armed is not
			_, _ = b.approve(t, &a, "alice")
			b = b.restart()
			b.reads.evidence.Unread = "source prod was not read yet"
			if err := b.Recover(t.Context()); err != nil || b.store.actions[0].State != reconcile.Approved {
				t.Fatalf("before the first read it is %s: %v", b.store.actions[0].State, err)
			}
			b.reads.evidence.Unread = ""
			want := reconcile.Converged
			if late {
				b.now, want = a.Expires, reconcile.Refused
			}
			if err := b.Recover(t.Context()); (err != nil) != late || b.store.actions[0].State != want {
				t.Errorf("it is %s: %v", b.store.actions[0].State, err)
			}
		})
	}
}

// TestArmedUnkept checks that no request is sent for an action that is stored as armed, and that the audit log could not
// keep, and that the action does not stay armed.
func TestArmedUnkept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.store.unkept = errors.New("no space left on device")
	a := b.propose(t, "carol")
	after, err := b.approve(t, &a, "alice")
	if !errors.Is(err, b.store.unkept) || after.State != reconcile.Failed || !strings.Contains(after.Outcome, "no space left") {
		t.Errorf("it is %s (%s): %v", after.State, after.Outcome, err)
	}
	if b.live.Writes != 0 || b.live.Value != "web:evil" {
		t.Errorf("%d writes, the value is %s", b.live.Writes, b.live.Value)
	}
}
