package secret

import (
	"fmt"
	"path"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Options are the operator's rules. They are patterns in which "*" stands for any
// run of characters but "/".
type Options struct {
	// Names are names of keys, variables and flags whose values are secret, in any
	// case.
	Names []string
	// Paths are paths of fields whose values are secret, with all below them, with or
	// without the keys in brackets. A kind may stand before a path:
	// "Deployment.apps spec.template.*".
	Paths []string
	// Except are names and paths that are not secret. A name is not taken for that of
	// a secret, but what has the form of a secret is sealed all the same. Below a path
	// nothing is sealed, other than what a schema marks as sensitive.
	Except []string
}

// Check returns what is wrong with a pattern.
func Check(pattern string) error {
	if strings.TrimSpace(pattern) == "" {
		return fmt.Errorf("an empty pattern: fill it or remove it")
	}
	if strings.Trim(pattern, "*. ") == "" {
		return fmt.Errorf("pattern %q fits every value: name a key or a path", pattern)
	}
	if len(strings.Fields(pattern)) > 2 {
		return fmt.Errorf("pattern %q: want a path, or a kind and a path with a space between them", pattern)
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Errorf("pattern %q: the brackets do not close, or the end is a backslash", pattern)
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

func (r *pathRule) fits(kind, at, bare string) bool {
	return (r.kind == "" || model.Glob(r.kind, kind) || model.Glob(r.kind, path.Base(kind))) &&
		(model.Glob(r.path, at) || model.Glob(r.path, bare))
}

// rules are Options in the form in which names and paths are compared with them.
type rules struct {
	// names and open are in small letters.
	names, open []string
	paths, bare []pathRule
	// all are the options as they are given.
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

// rate is rate with the operator's names.
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
