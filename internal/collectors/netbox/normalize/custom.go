package normalize

import (
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// customFields reads the custom fields that are set, in the form of their types. NetBox returns
// every field of the model, unset ones as null.
func (s *Normalizer) customFields(v model.Value) model.Value {
	fields := make([]model.Field, 0, len(v.Fields()))
	for _, f := range v.Fields() {
		if value := s.customField(s.types[f.Name], f.Value); !table.Blank(value) {
			fields = append(fields, model.Field{Name: s.context.Texts.Keep(f.Name), Value: value})
		}
	}
	if len(fields) == 0 {
		return model.Value{}
	}
	return model.MapOf(slices.Clip(fields)...)
}

// customField reads one custom field. A JSON field is kept as it is. If the type is not known,
// the value's structure decides whether it is a choice or an object.
func (s *Normalizer) customField(typ string, v model.Value) model.Value {
	switch typ {
	case "json":
		return v
	case "multiselect", "multiobject":
		return set().Read(&s.context, v)
	}
	if v.Kind() == model.List && (slices.ContainsFunc(v.Items(), isObject) || !slices.ContainsFunc(v.Items(), isNoChoice)) {
		return set().Read(&s.context, v)
	}
	if choice, ok := choiceOf(v); ok {
		return s.context.Keep(choice)
	}
	if id, ok := idOf(v); ok && (typ == "object" || isObject(v)) {
		return s.context.Keep(id)
	}
	return s.context.Keep(v)
}

func isNoChoice(v model.Value) bool {
	_, ok := choiceOf(v)
	return !ok
}

// isObject reports whether a map is a nested object: it has an id and a URL.
func isObject(v model.Value) bool {
	_, ok := idOf(v)
	url, linked := v.Get("url")
	return ok && linked && url.Kind() == model.String
}
