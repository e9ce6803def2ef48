package model

import (
	"path"
	"slices"
)

// A Selector fits findings. An empty list fits everything, and of a list one
// is enough; all that is given must fit. Sources, Kinds, Resources, Namespaces,
// Declarations, Owners and the values of Labels are globs, in which "*" stands
// for any run of characters but "/".
type Selector struct {
	Sources, Kinds, Resources, Namespaces, Declarations, Owners []string

	Verdicts   []Verdict
	Severities []Severity
	// Labels must all be there; "" fits any value.
	Labels map[string]string
}

// Fits reports whether the selector fits a finding.
func (s *Selector) Fits(f *Finding) bool {
	if len(s.Verdicts) > 0 && !slices.Contains(s.Verdicts, f.Verdict) ||
		len(s.Severities) > 0 && !slices.Contains(s.Severities, f.Severity) {
		return false
	}
	for name, pattern := range s.Labels {
		if value, ok := f.Labels[name]; !ok || !Glob(pattern, value) {
			return false
		}
	}
	return oneFits(s.Sources, f.Source) && (oneFits(s.Kinds, f.Kind) || oneFits(s.Kinds, path.Base(f.Kind))) &&
		oneFits(s.Resources, f.Key.ID) && oneFits(s.Namespaces, f.Place) &&
		oneFits(s.Declarations, f.Declaration) && oneFits(s.Owners, f.Owner)
}

func oneFits(patterns []string, text string) bool {
	return len(patterns) == 0 || GlobAny(patterns, text)
}

// GlobAny reports whether one of the patterns fits, as by Glob.
func GlobAny(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Glob(p, text) })
}

// Glob matches a pattern in which "*" stands for any run of characters but
// "/"; an empty pattern fits everything, a broken one nothing.
func Glob(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, text)
	return ok && err == nil
}
