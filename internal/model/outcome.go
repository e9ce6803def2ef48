package model

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

// Checked tells whether the subject's claims could be compared.
func (j *Judged) Checked() bool {
	for _, o := range j.Outcomes {
		if o.Verdict == Unchecked {
			return false
		}
	}
	return true
}
