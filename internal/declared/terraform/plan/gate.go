package plan

import (
	"cmp"
	"path/filepath"

	"github.com/driftd/driftd/internal/declared/terraform/plan/policy"
)

// checkBefore checks the copy before the CLI runs, because init already fetches the providers and
// modules of the root.
func (w *work) checkBefore(terragrunt bool) error {
	switch {
	case !w.Policy.Enforced():
		return nil
	case terragrunt:
		return &failure{"policy", "the root is a Terragrunt root, and allow or refuse is set: they cannot be checked before Terragrunt runs; " +
			"plan the roots that it generates, or use engine: state"}
	}
	if err := w.Policy.Before(w.policed()); err != nil {
		return &failure{"refused before init", err.Error()}
	}
	return nil
}

// checkAfter checks everything that init fetched and installed, before the plan runs a provider. It
// returns the dangerous parts of the root.
func (w *work) checkAfter(terragrunt bool) ([]policy.Note, error) {
	if terragrunt {
		return nil, nil
	}
	notes, err := w.Policy.After(w.policed())
	if err != nil {
		return nil, &failure{"refused before plan", err.Error()}
	}
	return notes, nil
}

func (w *work) policed() policy.Root {
	return policy.Root{Dir: w.root, Top: filepath.Join(w.dir, copied), Shown: cmp.Or(w.Shown, w.Dir), Data: w.data,
		BackendFiles: w.BackendFiles, Remembered: w.kept}
}
