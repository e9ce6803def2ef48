package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// settleWait is how long Settle waits for an action that is being carried out. It is longer than the resource of an
// action is read.
const settleWait = 2 * inspectTime

// Settle ends an action that may have written, with the result q.As that a person determined. This is
// needed, for example, for a resource that can never be read again. Settle returns a *StateError if the
// action has no unknown result, or if an action is being carried out.
func (r *Reconciler) Settle(ctx context.Context, id string, q Request) (Action, error) {
	if err := maySettle(&q); err != nil {
		return Action{}, err
	}
	waiting, cancel := context.WithTimeout(ctx, settleWait)
	defer cancel()
	if !r.Acting.TryAcquire(waiting) {
		return Action{}, &StateError{"an action is being carried out, or its resource is read, right now: try again"}
	}
	defer r.Acting.Release()
	a, err := r.Store.ChangeAction(id, func(a *Action, _ *Standing, _ *model.Finding) error {
		if !a.State.MayHaveWritten() {
			return &StateError{fmt.Sprintf("action %s is %s: only one that is %s, %s or %s can be settled", a.ID, a.State, Armed, Written, Unknown)}
		}
		a.EnterBy(q.As, r.Now(), q.By, q.Reason)
		return nil
	})
	if err == nil {
		r.Done(a)
	}
	return a, err
}

func maySettle(q *Request) error {
	switch {
	case q.By == "":
		return &Refusal{"person", "who settles an action must be a person: add them to people in the configuration"}
	case !slices.Contains(Settlements(), q.As):
		return &StateError{fmt.Sprintf("an action cannot be settled as %q: want %s, %s or %s", q.As, Converged, NotConverged, Failed)}
	case strings.TrimSpace(q.Reason) == "":
		return &StateError{"an action is settled with a reason: it stays in the audit log"}
	}
	return nil
}
