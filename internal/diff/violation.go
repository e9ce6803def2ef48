package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// withViolations returns the outcomes together with those of the checks that the live resource and
// the claims fail. If an outcome already reports the field of a check, the reason and the severity
// of the check are added to that outcome.
func withViolations(s *model.Subject, outcomes []model.Outcome) []model.Outcome {
	var claim *model.Claim
	if len(s.Claims) > 0 {
		claim = s.Claims[0]
	}
	compared := len(outcomes)
	if s.Live != nil {
		for i := range s.Live.Violations {
			v := s.Live.Violations[i]
			if v.Deletion && claim == nil {
				continue
			}
			if v.Deletion {
				v.Actor = deleter(s, v.Actor)
			}
			outcomes = addViolation(outcomes, compared, &v, claim, model.Change{Path: v.Path, Live: v.Value})
		}
	}
	for _, c := range s.Claims {
		for i := range c.Violations {
			v := &c.Violations[i]
			outcomes = addViolation(outcomes, compared, v, c, model.Change{Path: v.Path, Declared: v.Value})
		}
	}
	return outcomes
}

// addViolation adds a violation to the first of the compared outcomes that reports its field. If
// there is none, it appends an outcome with the change.
func addViolation(outcomes []model.Outcome, compared int, v *model.Violation, claim *model.Claim, change model.Change) []model.Outcome {
	if v.Path != "" {
		for i := range outcomes[:compared] {
			o := &outcomes[i]
			if slices.ContainsFunc(o.Changes, func(c model.Change) bool { return model.Overlap(c.Path, v.Path) }) {
				o.Reason = strings.TrimPrefix(o.Reason+"; "+v.Reason, "; ")
				if o.Severity == "" || v.Severity.Rank() < o.Severity.Rank() {
					o.Severity = v.Severity
				}
				return outcomes
			}
		}
	}
	o := model.Outcome{Verdict: cmp.Or(v.Verdict, model.Violated), Check: v.Check, Severity: v.Severity, Claim: claim, Reason: v.Reason, Actor: v.Actor}
	if v.Path != "" {
		o.Changes = []model.Change{change}
	}
	return append(outcomes, o)
}
