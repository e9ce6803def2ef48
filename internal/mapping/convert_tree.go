package mapping

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// jsonText writes a tree as one JSON text, with keys in order. A text that holds
// a list or a map is written anew; another one stays, and nothing is no text.
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

// only returns the element of a list of one, or what it holds under name, and
// null for any other list.
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

// fieldsOf makes of a list of maps the list of what they hold at a path, through
// lists within lists.
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

// elementsOf returns the elements of a list, and of anything else itself.
func elementsOf(v model.Value) []model.Value {
	if v.Kind() == model.List {
		return v.Items()
	}
	return []model.Value{v}
}

// addressOf returns the address of one IP version among a list of maps with an
// ip_address; several stand side by side.
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

// bare drops the brackets around an IPv6 address.
func bare(address string) string { return strings.Trim(address, "[]") }

// has tells whether a text is an element of a list.
func has(text string) func(model.Value) model.Value {
	return func(v model.Value) model.Value {
		if v.Kind() != model.List || v.HasSecret() {
			return v
		}
		return model.BoolOf(slices.ContainsFunc(v.Items(), model.StringOf(text).Equal))
	}
}

// each makes of a list of maps the list of what they hold under name.
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

// stripped drops the blanks and line ends around a text, and around the texts of
// a list.
func stripped(v model.Value) model.Value { return onTexts(strings.TrimSpace)(v) }

// said returns a map without the entries that hold nothing; false and 0 are
// something. What is no map has none.
func said(v model.Value) model.Value {
	fields := make([]model.Field, 0, len(v.Fields()))
	for _, f := range v.Fields() {
		if f.Value.Kind() == model.Bool || f.Value.Kind() == model.Number || !f.Value.IsEmpty() {
			fields = append(fields, f)
		}
	}
	return model.MapOf(fields...)
}

// spelled returns a map of typed values with those as texts that like writes as
// texts, and that mean the same: 3 as "3", 2.5 as "2.50", true as "true".
func spelled(v, like model.Value) model.Value {
	for _, f := range v.Fields() {
		if text := like.At(f.Name); text.Kind() == model.String && writes(text.Text(), f.Value) {
			v = v.With(f.Name, text)
		}
	}
	return v
}

// writes tells whether a text writes a value.
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
