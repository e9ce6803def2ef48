package plan

import (
	"slices"
	"strconv"

	"github.com/driftd/driftd/internal/model"
)

// Overlay replaces the declared attributes in whole. whole also contains the attributes that only the
// provider sets (see Instance.Whole). For unknown attributes, with has the values of whole, and without has
// no values. Overlay returns the paths of all unknown attributes.
func (f *Form) Overlay(whole model.Value, a Arranged) (with, without model.Value, unknown [][]model.Step) {
	if f.shape == nil || slices.ContainsFunc(a.Unknown, func(path []model.Step) bool { return len(path) == 0 }) {
		return whole, model.MapOf(), [][]model.Step{{}}
	}
	o := &overlaying{unknown: slices.Clone(a.Unknown)}
	with, without = o.fields(f.shape, whole, a.Value, nil)
	return with, without, o.unknown
}

// An overlaying is one call of Overlay.
type overlaying struct{ unknown [][]model.Step }

func (o *overlaying) isUnknown(path []model.Step) bool {
	return slices.ContainsFunc(o.unknown, func(p []model.Step) bool { return slices.Equal(p, path) })
}

func (o *overlaying) node(s *shape, under, over model.Value, path []model.Step) (with, without model.Value) {
	switch {
	case s != nil && s.computed:
		return under, under
	case o.isUnknown(path):
		return under, model.Value{}
	case s == nil, over.IsNull():
		return over, over
	case s.fields != nil && over.Kind() == model.Map:
		return o.fields(s, under, over, path)
	case s.free && over.Kind() == model.Map:
		return o.mapOf(s, under, over, path)
	case s.each != nil && !s.set && over.Kind() == model.List:
		return o.items(s, under, over, path)
	case s.hasComputed(): // The elements cannot be paired.
		o.unknown = append(o.unknown, path)
		return under, model.Value{}
	}
	return over, over
}

func (o *overlaying) fields(s *shape, under, over model.Value, path []model.Step) (with, without model.Value) {
	var a, b []model.Field
	for _, name := range s.names() {
		v, w := o.node(s.fields[name], under.At(name), over.At(name), appended(path, model.Step{Text: name}))
		a, b = appendField(a, name, v), appendField(b, name, w)
	}
	return model.MapOf(a...), model.MapOf(b...)
}

func (o *overlaying) mapOf(s *shape, under, over model.Value, path []model.Step) (with, without model.Value) {
	var a, b []model.Field
	for _, name := range (sides{d: under, r: over}).names(nil) {
		v, w := o.node(s.each, under.At(name), over.At(name), appended(path, model.Step{Text: name}))
		a, b = appendField(a, name, v), appendField(b, name, w)
	}
	return model.MapOf(a...), model.MapOf(b...)
}

// items overlays a list. Elements that the instance does not have lack the attributes
// that only the provider sets.
func (o *overlaying) items(s *shape, under, over model.Value, path []model.Step) (with, without model.Value) {
	if len(under.Items()) != len(over.Items()) && s.each.hasComputed() {
		o.unknown = append(o.unknown, path)
		return under, model.Value{}
	}
	a, b := make([]model.Value, len(over.Items())), make([]model.Value, len(over.Items()))
	for i, item := range over.Items() {
		a[i], b[i] = o.node(s.each, itemAt(under, i), item, appended(path, model.Step{Kind: model.IndexStep, Text: strconv.Itoa(i)}))
	}
	return model.ListOf(a...), model.ListOf(b...)
}

// hasComputed reports whether the provider alone sets the attribute or one below it.
func (s *shape) hasComputed() bool {
	if s == nil || s.computed {
		return s != nil
	}
	for _, below := range s.fields {
		if below.hasComputed() {
			return true
		}
	}
	return s.each.hasComputed()
}
