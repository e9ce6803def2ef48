package mapping

import "github.com/driftd/driftd/internal/model"

// LiveValue implements model.Lens. The value is unknown if the conversion has no inverse, if the
// live field also depends on other attributes, or if v is null.
func (l *lens) LiveValue(_ model.Value, path string, v model.Value) (value model.Value, known bool) {
	attributes, steps := l.attributes, parseSteps(path)
	for len(steps) > 0 {
		a := find(attributes, steps[0].name)
		if a == nil {
			return model.Value{}, false
		}
		steps = steps[1:]
		if a.block == plainValue {
			return a.liveValue(v, len(steps) > 0)
		}
		if a.block != objectBlock && len(steps) > 0 {
			steps = steps[1:]
		}
		attributes = a.attributes
	}
	return model.Value{}, false
}

// liveValue returns the inverse of the attribute's view. inside reports whether v is a part of the
// attribute's value.
func (a *attribute) liveValue(v model.Value, inside bool) (model.Value, bool) {
	turns := a.convert.view == nil || a.convert.back != nil && !inside
	own := a.live.part == "" && !a.masked && !a.computed && !a.typed && !a.relative.depends()
	if v.IsNull() || !own || !turns {
		return model.Value{}, false
	}
	v, ok := a.untranslated(v)
	if !ok || a.convert.view == nil {
		if ok && a.convert.declared != nil {
			v = a.convert.declared(v)
		}
		return v, ok
	}
	return a.convert.back(v)
}

// untranslated returns the only text whose translation is v, or v if there is no such text.
func (a *attribute) untranslated(v model.Value) (model.Value, bool) {
	if a.translated(v).IsNull() {
		return model.Value{}, false
	}
	var texts []model.Value
	for text, other := range a.values {
		if other.Equal(v) {
			texts = append(texts, model.StringOf(text))
		}
	}
	_, replaced := a.values[v.Str()]
	switch {
	case len(texts) == 0:
		return v, !replaced
	case len(texts) == 1 && (v.Kind() != model.String || replaced):
		return texts[0], true
	}
	return model.Value{}, false
}
