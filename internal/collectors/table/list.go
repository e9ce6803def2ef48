package table

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Block returns the form of maps with the fields.
func Block(fields Fields) Form {
	return Form{Schema: *fields.Schema(), Read: func(c *Context, v model.Value) model.Value {
		if v.Kind() != model.Map {
			return c.Plain(c, v)
		}
		return MapOf(fields.Read(c, v, make([]model.Field, 0, min(len(fields), len(v.Fields())))))
	}}
}

// MapOf returns a map of the fields, or null if there are none.
func MapOf(fields []model.Field) model.Value {
	if len(fields) == 0 {
		return model.Value{}
	}
	return model.MapOf(fields...)
}

// Set returns the form of lists of scalars in which order and repetition have no meaning.
func Set(each Form) Form { return list(model.Schema{List: model.Set}, each) }

// Bag returns the form of lists in which order has no meaning.
func Bag(each Form) Form { return list(model.Schema{List: model.Bag, Each: &each.Schema}, each) }

// Keyed returns the form of lists of maps that are identified by the fields named by keys.
func Keyed(each Form, keys ...string) Form {
	return list(model.Schema{List: model.Keyed, Keys: keys, Each: &each.Schema}, each)
}

// Sequence returns the form of lists whose elements are compared one by one, in order.
func Sequence(each Form) Form {
	return list(model.Schema{List: model.Sequence, Each: &each.Schema}, each)
}

// Ordered returns the form of lists that are compared as one value, in order.
func Ordered(each Form) Form { return list(model.Schema{Each: &each.Schema}, each) }

func list(schema model.Schema, each Form) Form {
	return Form{Schema: schema, Secret: each.Secret, Read: func(c *Context, v model.Value) model.Value {
		if v.Kind() != model.List {
			return c.Plain(c, v)
		}
		items := make([]model.Value, 0, len(v.Items()))
		for _, item := range v.Items() {
			if item = each.Read(c, item); !item.IsNull() {
				items = append(items, item)
			}
		}
		switch schema.List {
		case model.Bag, model.Keyed:
			slices.SortFunc(items, func(a, b model.Value) int { return compare(schema.Keys, a, b) })
		case model.Set:
			slices.SortFunc(items, Compare)
			items = slices.CompactFunc(items, model.Value.Equal)
		}
		return model.ListOf(items...)
	}}
}

// Entries returns the form of maps with arbitrary field names. An entry with an empty value differs
// from a missing one.
func Entries(each Form) Form {
	schema := each.Schema
	schema.Content = true
	return Form{Schema: model.Schema{Each: &schema}, Secret: each.Secret, Read: func(c *Context, v model.Value) model.Value {
		if v.Kind() != model.Map {
			return c.Plain(c, v)
		}
		fields := make([]model.Field, 0, len(v.Fields()))
		for _, f := range v.Fields() {
			if f.Value.IsNull() {
				continue
			}
			if read := each.Read(c, f.Value); !read.IsNull() {
				f.Value = read
			}
			fields = append(fields, model.Field{Name: c.Texts.Keep(f.Name), Value: f.Value})
		}
		return MapOf(fields)
	}}
}

// compare orders maps by the named fields, and maps with equal named fields by all
// of their fields.
func compare(names []string, a, b model.Value) int {
	for _, name := range names {
		if order := Compare(a.At(name), b.At(name)); order != 0 {
			return order
		}
	}
	return Compare(a, b)
}

// Compare orders values: numbers by size, even in texts, other texts by bytes, and trees by their
// JSON. It returns a negative number if a sorts before b.
func Compare(a, b model.Value) int {
	if a.Kind() >= model.List || b.Kind() >= model.List {
		return slices.Compare(a.AppendJSON(nil), b.AppendJSON(nil))
	}
	x, y := a.Text(), b.Text()
	if isDigits(x) && isDigits(y) && len(x) != len(y) {
		return cmp.Compare(len(x), len(y))
	}
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(a.Kind(), b.Kind()))
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
