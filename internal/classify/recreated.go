package classify

import "github.com/driftd/driftd/internal/model"

// rateRecreated raises a finding on a resource that replaced a deleted one, and the change
// of its ID, to medium: the state has the deleted one, so the next apply creates a second
// resource.
func rateRecreated(f *model.Finding, claim *model.Claim) {
	if claim == nil || claim.Former == "" || f.Verdict != model.Moved || f.Severity.Rank() <= model.Medium.Rank() {
		return
	}
	f.Severity = model.Medium
	for i := range f.Changes {
		if c := &f.Changes[i]; c.Path == "id" {
			c.Severity = model.Medium
		}
	}
}
