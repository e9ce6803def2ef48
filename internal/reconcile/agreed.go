package reconcile

import (
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

// An Agreement is the result of comparing the declared values for a finding with those at the last time
// when driftd observed that the declaration and the live system agreed.
type Agreement string

// The agreements: the declaration has not changed since then (Agreed); it has changed, and driftd has not
// observed an agreement since (Moved); driftd has only observed one declared value, and never an agreement
// (NeverAgreed).
const (
	Agreed      Agreement = "agreed"
	Moved       Agreement = "moved"
	NeverAgreed Agreement = "never"
)

// checkAgreed refuses a finding whose declaration changed since it was live: a new commit is not drift, and applying
// it is the pipeline's work. If driftd never saw what is declared live, it needs a person, and unseen is true.
func (r *Reconciler) checkAgreed(f *model.Finding, automatic bool) (unseen bool, err error) {
	if isDeleted(f) {
		return false, nil // nothing is declared
	}
	agreement, err := r.LastReads.Agreement(f)
	switch {
	case err != nil:
		return false, fmt.Errorf("read what was live before: %w", err)
	case agreement == Moved:
		return false, &Refusal{"agreed", fmt.Sprintf("declaration %s changed it, and driftd has not seen it live as declared since: apply it with your pipeline first", f.Declaration)}
	case agreement == NeverAgreed && automatic:
		return false, &Refusal{"agreed", fmt.Sprintf("driftd never saw live what declaration %s declares: it needs a person: run `driftd reconcile %s`", f.Declaration, f.ID)}
	}
	return agreement == NeverAgreed, nil
}

// An unseenChange is a change to values that driftd never saw live.
type unseenChange struct{ Change }

// Plan implements Change.
func (c unseenChange) Plan() Plan {
	p := c.Change.Plan()
	p.Unseen = true
	return p
}
