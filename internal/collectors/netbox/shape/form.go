package shape

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A form is one way in which NetBox writes a value, and how two readings of it
// compare.
type form struct {
	read   func(*Shaper, model.Value) model.Value
	schema model.Schema
	// literal tells that the changelog writes it in the same words.
	literal bool
}

// formOf returns the form that the table names behind a field's name; "" is
// what speaks for itself: scalars, choices, references.
func formOf(name string) form {
	plain := form{read: (*Shaper).plain, literal: true}
	switch name {
	case "derived":
		plain.schema.Derived = true
	case "address":
		plain.schema.Format = model.Address
	case "mac":
		plain.schema = model.Schema{Format: model.CaseFold, Derived: true}
	case "set":
		return form{read: sorted, schema: model.Schema{List: model.Set}, literal: true}
	case "bag":
		return form{read: sorted, schema: model.Schema{List: model.Bag}, literal: true}
	case "macs":
		return form{read: sorted, schema: model.Schema{List: model.Set, Derived: true}}
	case "tags":
		return form{read: tags, schema: model.Schema{List: model.Set}, literal: true}
	case "ends":
		return form{read: ends, schema: model.Schema{List: model.Bag}}
	case "json":
		return form{read: func(_ *Shaper, v model.Value) model.Value { return v }, literal: true}
	case "custom":
		return form{read: (*Shaper).customFields, schema: model.Schema{Each: &model.Schema{}}}
	case "secret":
		return form{read: func(s *Shaper, v model.Value) model.Value { return s.sealer.SealTree(v) }}
	case "url":
		plain.read, plain.literal = address, false
	}
	return plain
}

// isBlank tells what says nothing: NetBox writes null, "" or an empty list for
// the same absence.
func isBlank(v model.Value) bool {
	switch v.Kind() {
	case model.Null, model.String, model.List, model.Map:
		return v.IsEmpty()
	}
	return false
}

// plain reads scalars, choices, references and lists of them.
func (s *Shaper) plain(v model.Value) model.Value {
	switch v.Kind() {
	case model.Map:
		if choice, ok := choiceOf(v); ok {
			return s.shared(choice)
		}
		if id, ok := idOf(v); ok {
			return s.shared(id)
		}
	case model.List:
		items := make([]model.Value, 0, len(v.Items()))
		for _, item := range v.Items() {
			if item = s.plain(item); !item.IsNull() {
				items = append(items, item)
			}
		}
		return model.ListOf(items...)
	}
	return s.shared(v)
}

// choiceOf returns the value of a choice, {value, label}.
func choiceOf(v model.Value) (model.Value, bool) {
	value, ok := v.Get("value")
	if _, labelled := v.Get("label"); !ok || !labelled || len(v.Fields()) != 2 {
		return model.Value{}, false
	}
	return value, value.Kind() < model.List
}

// idOf returns the id of the object that a nested one stands for.
func idOf(v model.Value) (model.Value, bool) {
	id, ok := v.Get("id")
	return id, ok && id.Kind() == model.Number
}

// sorted reads a list whose order says nothing.
func sorted(s *Shaper, v model.Value) model.Value {
	if v.Kind() != model.List {
		return s.plain(v)
	}
	items := s.plain(v).Items()
	slices.SortFunc(items, compareValues)
	return model.ListOf(slices.CompactFunc(items, model.Value.Equal)...)
}

// compareValues orders numbers by size, texts by bytes, trees by their JSON.
func compareValues(a, b model.Value) int {
	if a.Kind() == model.Number && b.Kind() == model.Number {
		return compareNumbers(a.Text(), b.Text())
	}
	if a.Kind() < model.List && b.Kind() < model.List {
		return cmp.Or(cmp.Compare(a.Text(), b.Text()), cmp.Compare(a.Kind(), b.Kind()))
	}
	return cmp.Compare(string(a.AppendJSON(nil)), string(b.AppendJSON(nil)))
}

// compareNumbers orders ids; anything else has some order that is always the
// same.
func compareNumbers(a, b string) int {
	if strings.Trim(a+b, "0123456789") != "" {
		return cmp.Compare(a, b)
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// tags reads tags as their names: lists hold objects, changelog rows names, and
// config contexts slugs.
func tags(s *Shaper, v model.Value) model.Value {
	names := make([]model.Value, 0, len(v.Items()))
	for _, tag := range v.Items() {
		if tag.Kind() == model.Map {
			tag = tag.At("name")
		}
		if !isBlank(tag) {
			names = append(names, s.shared(tag))
		}
	}
	slices.SortFunc(names, compareValues)
	return model.ListOf(slices.CompactFunc(names, model.Value.Equal)...)
}

// ends reads the terminations of a cable: what it is plugged into, without how
// that looks.
func ends(s *Shaper, v model.Value) model.Value {
	items := make([]model.Value, 0, len(v.Items()))
	for _, end := range v.Items() {
		if _, ok := end.Get("object_id"); !ok {
			items = append(items, s.plain(end))
			continue
		}
		items = append(items, model.MapOf(
			model.Field{Name: "object_type", Value: s.shared(end.At("object_type"))},
			model.Field{Name: "object_id", Value: s.shared(end.At("object_id"))}))
	}
	slices.SortFunc(items, compareValues)
	return model.ListOf(items...)
}

// address reads a URL; one with a password in it is sealed.
func address(s *Shaper, v model.Value) model.Value {
	text := v.Str()
	if parsed, err := url.Parse(text); err == nil {
		if _, has := parsed.User.Password(); !has {
			return s.plain(v)
		}
	} else if !strings.Contains(text, "@") {
		return s.plain(v)
	}
	return s.sealer.SealTree(v)
}
