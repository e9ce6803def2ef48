package normalize

import (
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// asSent reads scalars, choices, references and lists of them.
func asSent(c *table.Context, v model.Value) model.Value {
	switch v.Kind() {
	case model.Map:
		if choice, ok := choiceOf(v); ok {
			return c.Keep(choice)
		}
		if id, ok := idOf(v); ok {
			return c.Keep(id)
		}
	case model.List:
		items := make([]model.Value, 0, len(v.Items()))
		for _, item := range v.Items() {
			if item = asSent(c, item); !item.IsNull() {
				items = append(items, item)
			}
		}
		return model.ListOf(items...)
	}
	return c.Keep(v)
}

// choiceOf returns the value of a choice, {value, label}.
func choiceOf(v model.Value) (model.Value, bool) {
	value, ok := v.Get("value")
	if _, labelled := v.Get("label"); !ok || !labelled || len(v.Fields()) != 2 {
		return model.Value{}, false
	}
	return value, value.Kind() < model.List
}

// idOf returns the id of a nested object.
func idOf(v model.Value) (model.Value, bool) {
	id, ok := v.Get("id")
	return id, ok && id.Kind() == model.Number
}

// plain is the form of scalars, choices and references.
func plain() table.Form   { return table.Plain() }
func address() table.Form { return plain().As(model.Address) }
func mac() table.Form     { return plain().As(model.CaseFold).Derived() }
func set() table.Form     { return table.Set(plain()) }

func bag() table.Form {
	f := table.Bag(plain())
	f.Schema.Each = nil
	return f
}

// verbatim is the form of trees that users write, such as config contexts.
func verbatim() table.Form {
	return table.Form{Read: func(_ *table.Context, v model.Value) model.Value { return v }}
}

// custom is the form of custom fields, which Normalizer.customFields reads by their types.
func custom() table.Form {
	f := verbatim()
	f.Schema.Each = &model.Schema{}
	return f
}

// tags returns the form of tags, which are read as their names: lists hold objects, rows of the
// changelog names, and config contexts slugs.
func tags() table.Form {
	return table.Set(table.Form{Read: func(c *table.Context, tag model.Value) model.Value {
		if tag.Kind() == model.Map {
			tag = tag.At("name")
		}
		if table.Blank(tag) {
			return model.Value{}
		}
		return c.Keep(tag)
	}})
}

// terminations returns the form of the ends of a cable: their types and ids.
func terminations() table.Form {
	f := table.Bag(table.Form{Read: func(c *table.Context, end model.Value) model.Value {
		if _, ok := end.Get("object_id"); !ok {
			return asSent(c, end)
		}
		return model.MapOf(
			model.Field{Name: "object_type", Value: c.Keep(end.At("object_type"))},
			model.Field{Name: "object_id", Value: c.Keep(end.At("object_id"))})
	}})
	f.Schema.Each = nil
	return f
}

// urlForm is the form of a URL. A URL with a password is sealed.
func urlForm() table.Form {
	return table.Form{Secret: true, Read: func(c *table.Context, v model.Value) model.Value {
		if table.HasPassword(v.Str()) {
			return c.Sealer.SealTree(v)
		}
		return asSent(c, v)
	}}
}
