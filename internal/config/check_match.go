package config

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// known are the names that a match may refer to. One that ends with a slash stands for those that begin with it: the members of a
// declaration.
type known struct{ sources, declarations, owners []string }

// knownNames returns the names that a match may refer to. A Terraform plan is also a source.
func knownNames(c *Config, sources, declarations []string) known {
	k := known{sources: slices.Clone(sources), declarations: slices.Clone(declarations)}
	for _, name := range declarations {
		k.sources = append(k.sources, model.LiveSource(name))
	}
	for i := range c.Declarations {
		if key, _ := c.Declarations[i].Pattern(); key != "" {
			below := c.Declarations[i].Name + "/"
			k.declarations, k.sources = append(k.declarations, below), append(k.sources, model.LiveSource(below))
		}
	}
	for _, rule := range c.Owners {
		k.owners = append(k.owners, rule.Owner)
	}
	return k
}

// checkMatch checks the lists of a match.
func (d *document) checkMatch(at string, m *Match, known known) {
	for key, patterns := range map[string][]string{"kind": m.Kind, "resource": m.Resource, "namespace": m.Namespace} {
		for i, pattern := range patterns {
			d.checkListed(fmt.Sprintf("%s.%s[%d]", at, key, i), pattern)
		}
	}
	for key, list := range map[string]struct{ patterns, names []string }{
		"source":      {m.Source, known.sources},
		"declaration": {m.Declaration, known.declarations},
		"owner":       {m.Owner, known.owners},
	} {
		for i, pattern := range list.patterns {
			if item := fmt.Sprintf("%s.%s[%d]", at, key, i); d.checkListed(item, pattern) {
				d.checkNamed(item, "match of an unknown", key, pattern, list.names)
			}
		}
	}
	d.checkWords(at+".verdict", "verdict", m.Verdict, words(model.Verdicts()))
	d.checkWords(at+".severity", "severity", m.Severity, words(model.Severities()))
	for name, pattern := range m.Label {
		d.checkPattern(at+".label."+name, pattern)
	}
}

func words[T ~string](list []T) []string {
	texts := make([]string, len(list))
	for i, w := range list {
		texts[i] = string(w)
	}
	return texts
}

// checkWords checks that a list holds only the given words.
func (d *document) checkWords(at, what string, list, valid []string) {
	for i, word := range list {
		if !isKnown(word, valid) {
			d.add(fmt.Sprintf("%s[%d]", at, i), "unknown %s %q: %s", what, word, oneOf(word, valid))
		}
	}
}

// checkNamed checks a pattern for the name of a source, declaration or owner. A pattern
// without wildcards must be one of the names.
func (d *document) checkNamed(at, problem, what, pattern string, names []string) {
	if d.checkPattern(at, pattern) && !strings.ContainsAny(pattern, `*?[\`) && !isKnown(pattern, names) && !d.unsure[what] {
		d.add(at, "%s %s %q: %s", problem, what, pattern, oneOf(pattern, names))
	}
}

// isKnown reports whether a name is one of the names of known.
func isKnown(name string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return n == name || strings.HasSuffix(n, "/") && strings.HasPrefix(name, n)
	})
}

// checkListed checks an item of a list of patterns. An empty item is a problem.
func (d *document) checkListed(at, pattern string) bool {
	if pattern == "" {
		d.add(at, "an empty pattern: fill it or remove it")
		return false
	}
	return d.checkPattern(at, pattern)
}

func (d *document) checkPattern(at, pattern string) bool {
	if _, err := path.Match(pattern, ""); err != nil {
		d.add(at, "pattern %q: the brackets do not close, or the end is a backslash", pattern)
		return false
	}
	return true
}

// everything reports whether a match selects every finding.
func (m *Match) everything() bool {
	all := func(patterns []string) bool { return len(patterns) == 0 || slices.Contains(patterns, "*") }
	return all(m.Source) && all(m.Kind) && all(m.Declaration) && all(m.Owner) &&
		len(m.Resource)+len(m.Namespace)+len(m.Verdict)+len(m.Severity)+len(m.Label) == 0
}

// A sieve detects items of a list that are never reached, because an earlier item matches
// everything.
type sieve struct{ takesAll string }

// pass checks the next item; last reports whether the item matches everything.
func (s *sieve) pass(d *document, at, what string, last bool) {
	if s.takesAll != "" {
		d.add(at, "this %s is never reached: the one on %s matches everything, move that to the end", what, d.line(s.takesAll, at))
	} else if last {
		s.takesAll = at
	}
}

func (d *document) checkOwners(rules []OwnerRule, known known) {
	var order sieve
	for i := range rules {
		r, at := &rules[i], fmt.Sprintf("owners[%d]", i)
		order.pass(d, at, "owner rule", r.Match.everything())
		if strings.TrimSpace(r.Owner) == "" {
			d.unsure["owner"] = true
			d.missing(at, "owner", "an owner rule without an owner: add one, as in owner: team-shop")
		}
		if len(r.Match.Owner) > 0 {
			d.add(at+".match.owner", "an owner rule cannot match owners: remove owner from its match")
			continue
		}
		d.checkMatch(at+".match", &r.Match, known)
	}
}
