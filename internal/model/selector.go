package model

import (
	"path"
	"slices"
	"strings"
)

// A Selector matches findings. An empty list matches everything, of a list one match is
// sufficient, and all fields must match. Sources, Kinds, Resources, Namespaces,
// Declarations, Owners, Actors and the values of Labels are globs, in which "*" matches any
// characters other than "/".
type Selector struct {
	Sources, Kinds, Resources, Namespaces, Declarations, Owners []string
	// Actors match the actor of the finding, or of one of its changes.
	Actors []string

	Verdicts   []Verdict
	Severities []Severity
	// Labels must all exist; "" matches any value.
	Labels map[string]string
}

// Fits reports whether the selector matches a finding.
func (s *Selector) Fits(f *Finding) bool {
	return s.fitsRating(f.Verdict, f.Severity) && s.fitsLabels(f.Labels) && s.fitsKey(&f.Key, f.Place) && s.fitsNames(f.Declaration, f.Owner) &&
		(oneFits(s.Actors, f.Actor.Label()) ||
			slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Actor != nil && oneFits(s.Actors, c.Actor.Label()) }))
}

// FitsOutline reports whether the selector matches the finding of an outline. An outline has no
// labels, so that a selector with Labels matches none.
func (s *Selector) FitsOutline(o *Outline) bool {
	return s.fitsRating(o.Verdict, o.Severity) && s.fitsLabels(nil) && s.fitsKey(&o.Key, o.Place) && s.fitsNames(o.Declaration, o.Owner) &&
		(oneFits(s.Actors, o.Actor.Label()) || slices.ContainsFunc(o.Actors, func(name string) bool { return oneFits(s.Actors, name) }))
}

func (s *Selector) fitsRating(v Verdict, severity Severity) bool {
	return (len(s.Verdicts) == 0 || slices.Contains(s.Verdicts, v)) && (len(s.Severities) == 0 || slices.Contains(s.Severities, severity))
}

func (s *Selector) fitsLabels(labels map[string]string) bool {
	for name, pattern := range s.Labels {
		if value, ok := labels[name]; !ok || !Glob(pattern, value) {
			return false
		}
	}
	return true
}

func (s *Selector) fitsKey(k *Key, place string) bool {
	return nameFits(s.Sources, k.Source) && s.MayFit(k.Kind, place) && oneFits(s.Resources, k.ID)
}

func (s *Selector) fitsNames(declaration, owner string) bool {
	return nameFits(s.Declarations, declaration) && oneFits(s.Owners, owner)
}

// MayFit reports whether the selector may match a finding of a kind at a place.
func (s *Selector) MayFit(kind, place string) bool {
	return (oneFits(s.Kinds, kind) || oneFits(s.Kinds, path.Base(kind))) && oneFits(s.Namespaces, place)
}

func nameFits(patterns []string, name string) bool {
	return len(patterns) == 0 || GlobName(patterns, name)
}

// GlobName reports whether Glob matches one of the patterns with the name of a source or a declaration, or with the part of it before a
// slash: that is the name of the declaration with a pattern that this one is a member of.
func GlobName(patterns []string, name string) bool {
	of, _, _ := strings.Cut(name, "/")
	return GlobAny(patterns, name) || GlobAny(patterns, of)
}

func oneFits(patterns []string, text string) bool {
	return len(patterns) == 0 || GlobAny(patterns, text)
}

// GlobAny reports whether Glob matches one of the patterns.
func GlobAny(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Glob(p, text) })
}

// Glob reports whether a text matches a pattern in which "*" matches any characters other
// than "/". An empty pattern matches everything, an invalid one nothing.
func Glob(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, text)
	return ok && err == nil
}
