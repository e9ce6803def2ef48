package model

import "slices"

// An Outcome is one verdict on a subject, other than in-sync.
type Outcome struct {
	Verdict Verdict
	// Claim is nil for a resource that nobody claims, or of which the Declaration
	// that should speak does not.
	Claim       *Claim
	Declaration string
	// Changes are sorted by path; none when the verdict is on the whole.
	Changes []Change
	Actor   Actor
	Reason  string
	// Unproven is Change.Unproven for a verdict on the whole.
	Unproven bool
}

// Judged is a subject with every outcome on it; none means in-sync, or nobody's
// business.
type Judged struct {
	Subject  *Subject
	Outcomes []Outcome
	// Exempt are fields that would be drift without the evidence of a controller.
	Exempt []Exemption
}

// Checked reports whether the scan compared what an earlier finding shows: the fields of
// its changes, or, without changes, the resource as a whole.
func (j *Judged) Checked(changes []Change) bool {
	return !slices.ContainsFunc(j.Outcomes, func(o Outcome) bool {
		if o.Verdict != Unchecked {
			return false
		}
		return len(o.Changes) == 0 || slices.ContainsFunc(o.Changes, func(c Change) bool {
			return slices.ContainsFunc(changes, func(earlier Change) bool { return earlier.field() == c.field() })
		})
	})
}
