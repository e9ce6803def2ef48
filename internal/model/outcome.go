package model

import "slices"

// An Outcome is one verdict on a subject, other than InSync.
type Outcome struct {
	Verdict Verdict
	// Check is Finding.Check.
	Check string
	// Severity is the severity of a failed check. If Check is empty, it is the minimum severity of
	// the finding.
	Severity Severity
	// Claim is nil for an unclaimed resource, including one that Declaration should declare but
	// does not.
	Claim       *Claim
	Declaration string
	// Changes is sorted by path. It is empty if the verdict applies to the whole resource.
	Changes []Change
	Actor   Actor
	Reason  string
	// InstalledBy is the live resource whose record contains the unclaimed resource as it is; zero
	// if there is none.
	InstalledBy Ref
	// Content is the live value of a resource with InstalledBy in a canonical form, without fields
	// that the system or a controller sets. It changes only if the meaning of the resource changes.
	Content Value
	// Unproven is Change.Unproven for a verdict on the whole resource.
	Unproven bool
}

// A Judged is a subject with all outcomes. If there are none, the subject is in sync, or no
// declaration is expected to declare it.
type Judged struct {
	Subject  *Subject
	Outcomes []Outcome
	// Exempt lists the fields that differ and are not drift: see Exemption.
	Exempt []Exemption
}

// Checked reports whether the scan compared the changes of an earlier finding: the fields of
// changes or, if changes is empty, the whole resource.
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
