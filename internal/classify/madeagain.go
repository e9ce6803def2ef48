package classify

import "github.com/driftd/driftd/internal/model"

// rateMadeAgain raises a finding on a resource that stands in the place of a deleted
// one to medium, and its changed ID with it: the declaration knows the deleted one, so
// the next apply creates a second resource.
func rateMadeAgain(f *model.Finding, claim *model.Claim) {
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
