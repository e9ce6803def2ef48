package reconcile

import (
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

// An Agreement is the result of comparing what is declared for a finding with what it was when the declaration and
// the live system agreed last, as far as driftd read both.
type Agreement string

// The agreements: the declaration is as it was then; it changed since; driftd never saw them agree.
const (
	Agreed      Agreement = "agreed"
	Moved       Agreement = "moved"
	NeverAgreed Agreement = "never"
)

// checkAgreed refuses a finding whose declaration changed since it was live: a new commit is not drift, and applying
// it is the pipeline's work. If driftd never saw what is declared live, it needs a person.
func (r *Reconciler) checkAgreed(f *model.Finding, automatic bool) error {
	agreement, err := r.LastReads.Agreement(f)
	switch {
	case err != nil:
		return fmt.Errorf("read what was live before: %w", err)
	case agreement == Moved:
		return &Refusal{"agreed", fmt.Sprintf("declaration %s changed it after it was live as declared: that is a new version, and no drift: apply it with your pipeline", f.Declaration)}
	case agreement == NeverAgreed && automatic:
		return &Refusal{"agreed", fmt.Sprintf("driftd never saw live what declaration %s declares: it needs a person: run `driftd reconcile %s`", f.Declaration, f.ID)}
	}
	return nil
}
