package model

import (
	"path"
	"slices"
	"strings"
)

// A Selector matches findings. A finding must match all fields. An empty list matches everything;
// otherwise one matching element is sufficient. Sources, Kinds, Resources, Namespaces,
// Declarations, Owners, Actors and the values of Labels are globs in which "*" matches any
// characters except "/".
type Selector struct {
	Sources, Kinds, Resources, Namespaces, Declarations, Owners []string
	// Actors matches the actor of the finding and the actors of its changes.
	Actors []string

	Verdicts   []Verdict
	Severities []Severity
	// Labels lists the labels that must all exist; an empty glob matches any value.
	Labels map[string]string
}

// Fits reports whether the selector matches the finding.
func (s *Selector) Fits(f *Finding) bool {
	return s.fitsRating(f.Verdict, f.Severity) && s.fitsLabels(f.Labels) && s.fitsKey(&f.Key, f.Place) && s.fitsNames(f.Declaration, f.Owner) &&
		(oneFits(s.Actors, f.Actor.Label()) ||
			slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Actor != nil && oneFits(s.Actors, c.Actor.Label()) }))
}

// FitsOutline reports whether the selector matches the finding of the outline. An outline has no
// labels, so a selector with Labels matches no outline.
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

// MayFit reports whether the selector may match a finding with the kind and place.
func (s *Selector) MayFit(kind, place string) bool {
	return (oneFits(s.Kinds, kind) || oneFits(s.Kinds, path.Base(kind))) && oneFits(s.Namespaces, place)
}

func nameFits(patterns []string, name string) bool {
	return len(patterns) == 0 || GlobName(patterns, name)
}

// GlobName reports whether GlobAny matches the name of a source or declaration, or the part of the
// name before the first slash. A name with a slash is that of one member of a declaration with a
// pattern.
func GlobName(patterns []string, name string) bool {
	of, _, _ := strings.Cut(name, "/")
	return GlobAny(patterns, name) || GlobAny(patterns, of)
}

func oneFits(patterns []string, text string) bool {
	return len(patterns) == 0 || GlobAny(patterns, text)
}

// GlobAny reports whether text matches one of the patterns by Glob.
func GlobAny(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Glob(p, text) })
}

// Glob reports whether text matches the pattern, in which "*" matches any characters except "/". An
// empty pattern matches everything; an invalid pattern matches nothing.
func Glob(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, text)
	return ok && err == nil
}
