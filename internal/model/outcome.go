package model

import "slices"

// An Outcome is one verdict on a subject, other than in-sync.
type Outcome struct {
	Verdict Verdict
	// Check is Finding.Check.
	Check string
	// Severity is that of a failed check. With an empty Check, the finding is at least as severe
	// as that.
	Severity Severity
	// Claim is nil for an unclaimed resource, and for one that Declaration should declare
	// and does not.
	Claim       *Claim
	Declaration string
	// Changes are sorted by path; none if the verdict is on the whole resource.
	Changes []Change
	Actor   Actor
	Reason  string
	// InstalledBy is the live resource whose record lists the unclaimed resource as it is; zero
	// if there is none.
	InstalledBy Ref
	// Content is the live value of a resource with InstalledBy in one spelling, without what the system or a controller sets. It
	// changes only if the resource means something else.
	Content Value
	// Unproven is Change.Unproven for a verdict on the whole resource.
	Unproven bool
}

// Judged is a subject with every outcome on it. None means that it is in sync, or that no
// declaration is expected to declare it.
type Judged struct {
	Subject  *Subject
	Outcomes []Outcome
	// Exempt are the fields that would be drift without the evidence of a controller.
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
