package mapping

import "github.com/driftd/driftd/internal/model"

// Declares returns what the live field at LivePath would hold if the attribute
// at path, written as package diff does, held v. known is false where that
// cannot be told: the conversion cannot be turned round, the field depends on
// more than this attribute, or v says nothing.
func (l *lens) Declares(_ model.Value, path string, v model.Value) (means model.Value, known bool) {
	attributes, steps := l.attributes, parseSteps(path)
	for len(steps) > 0 {
		a := find(attributes, steps[0].name)
		if a == nil {
			return model.Value{}, false
		}
		steps = steps[1:]
		if a.block == plainValue {
			return a.means(v, len(steps) > 0)
		}
		if a.block != objectBlock && len(steps) > 0 {
			steps = steps[1:]
		}
		attributes = a.attributes
	}
	return model.Value{}, false
}

// means turns the attribute's view round; inside tells that v stands inside of
// its value.
func (a *attribute) means(v model.Value, inside bool) (model.Value, bool) {
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

// untranslated returns the one text for which v stands, or v where it stands for
// itself.
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
