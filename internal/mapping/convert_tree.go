package mapping

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// jsonText formats a tree as JSON with sorted keys. It normalizes a text that is a JSON list or
// object, and returns any other text and null unchanged.
func jsonText(v model.Value) model.Value {
	text := strings.TrimSpace(v.Str())
	if text != "" && strings.IndexByte("[{", text[0]) >= 0 {
		var tree model.Value
		if tree.UnmarshalJSON([]byte(text)) == nil {
			v = tree
		}
	}
	switch {
	case v.HasSecret() || v.IsNull():
		return v
	case text == "null", v.Kind() >= model.List && v.IsEmpty():
		return model.Value{}
	case v.Kind() >= model.List:
		return model.StringOf(string(v.AppendJSON(nil)))
	}
	return model.StringOf(v.Text())
}

// only returns a conversion of a list with one element to the element, or to the element's
// field name; null for any other list.
func only(name string) func(model.Value) model.Value {
	return func(v model.Value) model.Value {
		switch {
		case v.Kind() != model.List || v.HasSecret():
			return v
		case len(v.Items()) != 1:
			return model.Value{}
		case name != "":
			return v.Items()[0].At(name)
		}
		return v.Items()[0]
	}
}

// fieldsOf returns a conversion of a list of maps to the list of their values at a path. The path
// may lead through nested lists.
func fieldsOf(names string) func(model.Value) model.Value {
	path := strings.Split(names, ".")
	return func(v model.Value) model.Value {
		if v.Kind() != model.List || v.HasSecret() {
			return v
		}
		items := v.Items()
		for _, name := range path {
			var below []model.Value
			for _, item := range items {
				if held, ok := item.Get(name); ok {
					below = append(below, elementsOf(held)...)
				}
			}
			items = below
		}
		return model.ListOf(items...)
	}
}

// elementsOf returns the elements of a list; any other value is the only element.
func elementsOf(v model.Value) []model.Value {
	if v.Kind() == model.List {
		return v.Items()
	}
	return []model.Value{v}
}

// addressOf returns a conversion of a list of maps with an ip_address to the address of one IP
// version. Several addresses are joined.
func addressOf(version string) func(model.Value) model.Value {
	addresses := fieldsOf("ip_address")
	return func(v model.Value) model.Value {
		if v.Kind() != model.List || v.HasSecret() {
			return v
		}
		var texts []string
		for _, item := range addresses(v).Items() {
			if strings.Contains(item.Text(), ":") == (version == "6") {
				texts = append(texts, item.Text())
			}
		}
		if texts == nil {
			return model.Value{}
		}
		return model.StringOf(strings.Join(texts, ", "))
	}
}

// bare removes the brackets around an IPv6 address.
func bare(address string) string { return strings.Trim(address, "[]") }

// has returns a conversion to whether a list contains a text.
func has(text string) func(model.Value) model.Value {
	return func(v model.Value) model.Value {
		if v.Kind() != model.List || v.HasSecret() {
			return v
		}
		return model.BoolOf(slices.ContainsFunc(v.Items(), model.StringOf(text).Equal))
	}
}

// each returns a conversion of a list of maps to the list of the values of their field name.
func each(name string) func(model.Value) model.Value {
	return func(v model.Value) model.Value {
		if v.Kind() != model.List || v.HasSecret() {
			return v
		}
		items := make([]model.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = item
			if held, ok := item.Get(name); ok {
				items[i] = held
			}
		}
		return model.ListOf(items...)
	}
}

// stripped removes blanks and line breaks around a text, or around the texts of a list.
func stripped(v model.Value) model.Value { return onTexts(strings.TrimSpace)(v) }

// nonEmpty returns the non-empty entries of a map; false and 0 are not empty. Any other value has
// none.
func nonEmpty(v model.Value) model.Value {
	fields := make([]model.Field, 0, len(v.Fields()))
	for _, f := range v.Fields() {
		if f.Value.Kind() == model.Bool || f.Value.Kind() == model.Number || !f.Value.IsEmpty() {
			fields = append(fields, f)
		}
	}
	return model.MapOf(fields...)
}

// spelled returns a map of typed values in which those are texts that are equal texts in
// like: 3 as "3", 2.5 as "2.50", true as "true".
func spelled(v, like model.Value) model.Value {
	for _, f := range v.Fields() {
		if text := like.At(f.Name); text.Kind() == model.String && writes(text.Text(), f.Value) {
			v = v.With(f.Name, text)
		}
	}
	return v
}

// writes reports whether a text represents a value.
func writes(text string, v model.Value) bool {
	switch v.Kind() {
	case model.Number:
		n, ok := model.NumberOf(strings.TrimSpace(text))
		return ok && n.Equal(v)
	case model.List, model.Map:
		return !v.HasSecret() && jsonText(model.StringOf(text)).Equal(jsonText(v))
	case model.Null, model.Bool, model.String, model.Secret:
	}
	return v.Kind() == model.Bool && text == v.Text()
}
