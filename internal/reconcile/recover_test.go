package reconcile_test

import (
	"errors"
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
