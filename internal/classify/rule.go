package classify

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Rule hides findings, or fields of findings. Its patterns are globs; an empty pattern matches
// everything.
type Rule struct {
	Source, Kind, Resource string
	// Check matches the ID of a failed check. A rule with Check matches only findings of checks.
	Check string
	// Path and Value match single fields. Path matches the path of a change, and Value its live
	// value or, if there is none, the declared one.
	Path, Value string
	// Reason is shown with the hidden findings.
	Reason string
	// Expires is the time at which the rule ends; zero if it does not.
	Expires time.Time
}

// String returns the patterns as text, such as "kind=Deployment.apps path=spec.*".
func (r *Rule) String() string {
	var parts []string
	for _, p := range []struct{ name, pattern string }{
		{"source", r.Source}, {"kind", r.Kind}, {"resource", r.Resource}, {"check", r.Check}, {"path", r.Path}, {"value", r.Value},
	} {
		if p.pattern != "" {
			parts = append(parts, p.name+"="+p.pattern)
		}
	}
	return strings.Join(parts, " ")
}

func (r *Rule) selector() model.Selector {
	one := func(pattern string) []string {
		if pattern == "" {
			return nil
		}
		return []string{pattern}
	}
	return model.Selector{Sources: one(r.Source), Kinds: one(r.Kind), Resources: one(r.Resource)}
}

// An ignorer applies rules and counts the findings that each one hides.
type ignorer struct {
	rules     []Rule
	selectors []model.Selector
	runs      []model.RuleRun
}

func newIgnorer(rules []Rule, now time.Time) *ignorer {
	g := &ignorer{rules: rules}
	for i := range rules {
		r := &rules[i]
		ended := !r.Expires.IsZero() && !now.Before(r.Expires)
		g.selectors = append(g.selectors, r.selector())
		g.runs = append(g.runs, model.RuleRun{Rule: r.String(), Reason: r.Reason, Expires: r.Expires, Ended: ended})
	}
	return g
}

// apply hides a finding or moves fields of it to Ignored. A rule with a path or a value moves the
// matching fields, and hides the finding if no field is left. A rule never hides a part of a
// declaration that could not be read.
func (g *ignorer) apply(f *model.Finding) {
	if f.Kind == PartKind && f.Check == "" {
		return
	}
	for i := range g.rules {
		r, run := &g.rules[i], &g.runs[i]
		if run.Ended || !g.selectors[i].Fits(f) || r.Check != "" && !model.Glob(r.Check, f.Check) {
			continue
		}
		var left []model.Change
		var taken []model.IgnoredChange
		for _, c := range f.Changes {
			if r.fitsField(&c) {
				taken = append(taken, model.IgnoredChange{Reason: r.Reason, Change: c})
			} else {
				left = append(left, c)
			}
		}
		switch {
		case r.Path == "" && r.Value == "", len(left) == 0 && len(taken) > 0:
			f.Hidden = r.Reason
			run.Findings++
			return
		case len(taken) != 0:
			f.Changes, f.Ignored = left, append(slices.Clip(f.Ignored), taken...)
			run.Fields += len(taken)
		}
	}
}

// reapply applies the rules to an earlier finding: one that was hidden may be shown now.
func (g *ignorer) reapply(f *model.Finding) {
	f.Changes, f.Hidden = slices.Clone(f.Changes), ""
	for _, taken := range f.Ignored {
		f.Changes = append(f.Changes, taken.Change)
	}
	f.Ignored = nil
	slices.SortFunc(f.Changes, func(a, b model.Change) int { return cmp.Compare(a.Path, b.Path) })
	g.apply(f)
}

func (r *Rule) fitsField(c *model.Change) bool {
	if !fitsPath(r.Path, c.Path) {
		return false
	}
	if r.Value == "" {
		return true
	}
	value := c.Live
	if value == nil {
		value = c.Declared
	}
	return value != nil && !c.Secret && model.Glob(r.Value, value.String())
}

// fitsPath reports whether a pattern matches a path, with or without the keys in it.
func fitsPath(pattern, path string) bool {
	return model.Glob(pattern, path) || model.Glob(pattern, model.WithoutKeys(path))
}

// An OwnerRule sets the owner of the findings that it matches.
type OwnerRule struct {
	model.Selector
	Owner string
}

// Owner returns the owner of the findings on a subject according to the first rule that matches, or
// "" if none does. The claim may be nil.
func Owner(s *model.Subject, claim *model.Claim, rules []OwnerRule) string {
	if len(rules) == 0 {
		return ""
	}
	f := model.Finding{Key: s.Key, Place: s.Place, Name: s.Name, Labels: labels(s, claim)}
	if claim != nil {
		f.Declaration, f.Address, f.Position = claim.Declaration, claim.Address, claim.Position
	}
	return owner(&f, rules)
}

func owner(f *model.Finding, rules []OwnerRule) string {
	for i := range rules {
		if rules[i].Fits(f) {
			return rules[i].Owner
		}
	}
	return ""
}
