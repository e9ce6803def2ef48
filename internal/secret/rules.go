package secret

import (
	"fmt"
	"path"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Options are the rules of the operator. They are patterns in which "*" matches any run of characters
// except "/".
type Options struct {
	// Names are names of keys, variables and flags whose values are secret. Case is ignored.
	Names []string
	// Paths are paths of fields that are secret together with all fields below them, with or without the
	// keys in brackets. A path may follow a kind: "Deployment.apps spec.template.*".
	Paths []string
	// Except are names and paths that are not secret. The value of such a name is sealed only if
	// it has the form of a secret. Below such a path only values that a schema marks as
	// sensitive are sealed.
	Except []string
}

// Check returns an error if a pattern is invalid.
func Check(pattern string) error {
	if strings.TrimSpace(pattern) == "" {
		return fmt.Errorf("an empty pattern: set or remove it")
	}
	if strings.Trim(pattern, "*. ") == "" {
		return fmt.Errorf("pattern %q matches every value: use a key or a path", pattern)
	}
	if len(strings.Fields(pattern)) > 2 {
		return fmt.Errorf("pattern %q: want a path, or a kind and a path with a space between them", pattern)
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("pattern %q: unclosed bracket or trailing backslash", pattern)
	}
	return nil
}

// A pathRule is a pattern of paths in resources of some kinds.
type pathRule struct{ kind, path string }

func pathRuleOf(pattern string) pathRule {
	if kind, rest, ok := strings.Cut(strings.TrimSpace(pattern), " "); ok {
		return pathRule{kind, strings.TrimSpace(rest)}
	}
	return pathRule{"", strings.TrimSpace(pattern)}
}

// fits reports whether the rule matches a path of a kind. bare is the path without keys.
func (r *pathRule) fits(kind, at, bare string) bool {
	return (r.kind == "" || model.Glob(r.kind, kind) || model.Glob(r.kind, path.Base(kind))) &&
		(model.Glob(r.path, at) || model.Glob(r.path, bare))
}

// rules are Options prepared for matching.
type rules struct {
	// names and open are Options.Names and Options.Except in lower case.
	names, open []string
	paths, bare []pathRule
	// all are the original options.
	all Options
}

func newRules(o Options) *rules {
	r := &rules{all: o}
	for _, name := range o.Names {
		r.names = append(r.names, strings.ToLower(name))
	}
	for _, p := range o.Paths {
		r.paths = append(r.paths, pathRuleOf(p))
	}
	for _, e := range o.Except {
		r.open = append(r.open, strings.ToLower(e))
		r.bare = append(r.bare, pathRuleOf(e))
	}
	return r
}

// rate rates a name by the operator's rules, or else by the function rate.
func (r *rules) rate(name string, variable bool) certainty {
	if r != nil && len(r.names)+len(r.open) > 0 {
		low := strings.ToLower(name)
		switch {
		case model.GlobAny(r.open, low):
			return open
		case model.GlobAny(r.names, low):
			return certain
		}
	}
	return rate(name, variable)
}
