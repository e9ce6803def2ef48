package classify

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// rate returns the severity of a verdict and the reason of the rule that set it, both according to
// the worst change. It sets the severity of each change whose severity is not the usual one.
func rate(s *model.Subject, claim *model.Claim, verdict model.Verdict, changes []model.Change) (model.Severity, string) {
	if len(changes) == 0 {
		if verdict == model.Changed && s.Live == nil {
			verdict = model.Missing // An apply that bypassed the declaration removed it.
		}
		return rateBy(s, verdict, func(rule *model.SeverityRule) bool { return fitsWhole(rule, s, claim) })
	}
	var worst model.Severity
	var reason string
	for i := range changes {
		c := &changes[i]
		severity, why := rateBy(s, ratedAs(verdict, c.Unproven), newChangedField(s, claim, c).fits)
		if worst == "" || severity.Rank() < worst.Rank() || severity == worst && reason == "" {
			worst, reason = severity, why
		}
		if severity != verdict.UsualSeverity() {
			c.Severity = severity
		}
	}
	return worst, reason
}

// ratedAs returns the verdict whose rules apply: a bypassed or unproven one is rated as
// changed.
func ratedAs(verdict model.Verdict, unproven bool) model.Verdict {
	if verdict == model.Bypassed || unproven {
		return model.Changed
	}
	return verdict
}

// rateBy returns the severity and the reason of the kind's first rule for the verdict for
// which fits returns true.
func rateBy(s *model.Subject, verdict model.Verdict, fits func(*model.SeverityRule) bool) (model.Severity, string) {
	if s.Kind != nil {
		for i := range s.Kind.Severities {
			if rule := &s.Kind.Severities[i]; rule.About(verdict, s.Key.ID) && fits(rule) {
				return rule.Severity, rule.Reason + shownText(s.Live, rule.Show)
			}
		}
	}
	return verdict.UsualSeverity(), ""
}

// shownText returns the texts at a path of the live resource after a colon, or "" if there are
// none.
func shownText(live *model.Resource, path string) string {
	if live == nil || path == "" {
		return ""
	}
	v := live.Value.At(strings.Split(path, ".")...)
	var texts []string
	for _, item := range append([]model.Value{v}, v.Items()...) {
		if item.Kind() == model.String {
			texts = append(texts, item.Str())
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return ": " + strings.Join(texts, ", ")
}

// fitsWhole reports whether a rule matches a finding about a whole resource.
func fitsWhole(rule *model.SeverityRule, s *model.Subject, claim *model.Claim) bool {
	if len(rule.Where) == 0 {
		return rule.Path == ""
	}
	switch {
	case s.Live != nil:
		return !rule.Removed && model.HoldsAll(rule.Where, s.Live.Value)
	case claim != nil && claim.Lens == nil:
		return model.HoldsAll(rule.Where, claim.Value)
	}
	return false
}
