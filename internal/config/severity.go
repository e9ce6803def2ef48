package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A SeverityRule sets the severity of the findings that its match fits. The first
// rule that fits counts.
type SeverityRule struct {
	// Match says for which findings, and for which fields of them.
	Match SeverityMatch `mapstructure:"match"`
	// Set is the severity: critical, high, medium, low or info.
	Set string `mapstructure:"set"`
	// Reason is shown with the findings; it must be given.
	Reason string `mapstructure:"reason"`
}

// SeverityMatch says which findings are rated: all that is given must fit, and of a
// list one is enough. Everything but the verdict is a pattern. A rule makes a finding
// milder only by what the live object cannot say of itself: labels count as declared,
// and actors as the system's own log names them. It makes a finding worse by either.
type SeverityMatch struct {
	// Source fits the source's name.
	Source []string `mapstructure:"source"`
	// Kind fits the kind, as in kubernetes/*.
	Kind []string `mapstructure:"kind"`
	// Namespace fits the namespace, the project or the node. A node makes a finding
	// milder only where the declaration names it.
	Namespace []string `mapstructure:"namespace"`
	// Labels fits labels of the object by name, tags too. To make a finding milder
	// they must be declared: a resource that nobody declares has none.
	Labels map[string]string `mapstructure:"labels"`
	// Path fits the path of a changed field, with or without the keys in brackets,
	// or the path of the live field. A rule with a path rates only these fields; the
	// finding is as severe as its worst field.
	Path []string `mapstructure:"path"`
	// Verdict is one of the verdicts, in full.
	Verdict []string `mapstructure:"verdict"`
	// Actor fits who made the change. To make a finding less severe the actor
	// must be exact; a field manager is not, because the client chooses its name.
	Actor []string `mapstructure:"actor"`
}

// common returns the part that a Match has too.
func (m *SeverityMatch) common() Match {
	return Match{Source: m.Source, Kind: m.Kind, Namespace: m.Namespace, Verdict: m.Verdict}
}

// checkSeverity checks the severity rules.
func (d *document) checkSeverity(rules []SeverityRule, known known) {
	var order sieve
	for i := range rules {
		r, at := &rules[i], fmt.Sprintf("severity[%d]", i)
		m, match := r.Match.common(), at+".match"
		fields := len(r.Match.Path)+len(r.Match.Actor)+len(r.Match.Labels) > 0
		order.pass(d, at, "severity rule", !fields && m.everything() && len(m.Source)+len(m.Kind) > 0)
		if !fields && len(m.Source)+len(m.Kind)+len(m.Namespace)+len(m.Verdict) == 0 {
			d.add(at, "a severity rule without a match would rate everything: give it a source, kind, namespace, labels, path, verdict or actor")
		}
		if strings.TrimSpace(r.Reason) == "" {
			d.add(at, "a severity rule without a reason: say in words why, as in reason: a sandbox")
		}
		if r.Set == "" {
			d.add(at, "a severity rule without a severity: name it, as in set: low")
		} else if levels := words(model.Severities()); !slices.Contains(levels, r.Set) {
			d.add(at+".set", "unknown severity %q: %s", r.Set, oneOf(r.Set, levels))
		}
		d.checkMatch(match, &m, known)
		for key, patterns := range map[string][]string{"path": r.Match.Path, "actor": r.Match.Actor} {
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

// checkFields notes a rule for fields of findings that have none.
func (d *document) checkFields(at string, m *SeverityMatch) {
	whole := []string{string(model.Missing), string(model.Unmanaged), string(model.Unchecked)}
	fields := func(verdict string) bool { return !slices.Contains(whole, verdict) }
	if len(m.Path) > 0 && len(m.Verdict) > 0 && !slices.ContainsFunc(m.Verdict, fields) {
		d.add(at+".path", "this rule can never fit: a finding that is %s has no fields, remove the path", strings.Join(m.Verdict, " or "))
	}
}
