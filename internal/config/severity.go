package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A SeverityRule sets the severity of the findings that it matches. The first rule that
// matches applies.
type SeverityRule struct {
	// Match selects the findings, and fields of them.
	Match SeverityMatch `mapstructure:"match"`
	// Set is the severity: critical, high, medium, low or info.
	Set string `mapstructure:"set"`
	// Reason is the reason that is shown with the findings; it is required.
	Reason string `mapstructure:"reason"`
}

// SeverityMatch selects findings: all given lists must match, and a list matches if one of its items does.
// All items except verdicts are patterns. A rule lowers a severity only by properties that the live object
// cannot set itself: by declared labels, and by actors from the log of the system. It raises a severity by
// any property.
type SeverityMatch struct {
	// Source matches the source's name.
	Source []string `mapstructure:"source"`
	// Kind matches the kind, as in kubernetes/*.
	Kind []string `mapstructure:"kind"`
	// Namespace matches the namespace, the project or the node. A node lowers a severity only if the
	// declaration contains it.
	Namespace []string `mapstructure:"namespace"`
	// Labels matches the object's labels and tags by name. To lower a severity they must be
	// declared, so they never lower that of an undeclared resource.
	Labels map[string]string `mapstructure:"labels"`
	// Path matches the path of a changed field, with or without the keys in brackets, or the
	// path of the live field. A rule with a path applies to these fields only; the severity of
	// a finding is that of its most severe field.
	Path []string `mapstructure:"path"`
	// Verdict is the full name of a verdict.
	Verdict []string `mapstructure:"verdict"`
	// Actor matches the name of the actor of the change. To lower a severity the actor must be
	// exact; a field manager is not, because the client chooses its name.
	Actor []string `mapstructure:"actor"`
	// Check matches the ID of a failed check, as in flux/*. A rule with a check matches no
	// other findings.
	Check []string `mapstructure:"check"`
	// OlderThan matches findings that have lasted for this time: since driftd first found them,
	// or since the time at which their actor caused them, if that was earlier. A rule with it
	// only raises a severity.
	OlderThan time.Duration `mapstructure:"older_than"`
}

// common returns the lists that Match has too.
func (m *SeverityMatch) common() Match {
	return Match{Source: m.Source, Kind: m.Kind, Namespace: m.Namespace, Verdict: m.Verdict}
}

// checkSeverity checks the severity rules.
func (d *document) checkSeverity(rules []SeverityRule, known known) {
	var order sieve
	for i := range rules {
		r, at := &rules[i], fmt.Sprintf("severity[%d]", i)
		m, match := r.Match.common(), at+".match"
		fields := len(r.Match.Path)+len(r.Match.Actor)+len(r.Match.Labels)+len(r.Match.Check) > 0 || r.Match.OlderThan > 0
		order.pass(d, at, "severity rule", !fields && m.everything() && len(m.Source)+len(m.Kind) > 0)
		if !fields && len(m.Source)+len(m.Kind)+len(m.Namespace)+len(m.Verdict) == 0 {
			d.add(at, "a severity rule without a match would apply to everything: give it a source, kind, namespace, labels, path, verdict, actor, check or older_than")
		}
		if strings.TrimSpace(r.Reason) == "" {
			d.add(at, "a severity rule without a reason: add one, as in reason: a sandbox")
		}
		if r.Set == "" {
			d.add(at, "a severity rule without a severity: name it, as in set: low")
		} else if levels := words(model.Severities()); !slices.Contains(levels, r.Set) {
			d.add(at+".set", "unknown severity %q: %s", r.Set, oneOf(r.Set, levels))
		}
		d.checkMatch(match, &m, known)
		d.notNegative(match+".older_than", r.Match.OlderThan)
		for key, patterns := range map[string][]string{"path": r.Match.Path, "actor": r.Match.Actor, "check": r.Match.Check} {
			for k, pattern := range patterns {
				d.checkListed(fmt.Sprintf("%s.%s[%d]", match, key, k), pattern)
			}
		}
		for name, pattern := range r.Match.Labels {
			d.checkPattern(match+".labels."+name, pattern)
		}
		d.checkFields(match, &r.Match)
	}
}

// checkFields adds a problem for a rule with a path whose verdicts have no fields.
func (d *document) checkFields(at string, m *SeverityMatch) {
	whole := []string{string(model.Missing), string(model.Unmanaged), string(model.Unchecked)}
	fields := func(verdict string) bool { return !slices.Contains(whole, verdict) }
	if len(m.Path) > 0 && len(m.Verdict) > 0 && !slices.ContainsFunc(m.Verdict, fields) {
		d.add(at+".path", "this rule can never match, because findings with the verdict %s have no fields: remove the path", strings.Join(m.Verdict, " or "))
	}
}
