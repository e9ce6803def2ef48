package table

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A Field is one field of a kind, or of a map in it.
type Field struct {
	// Raw is the name of the field in the system's responses, and Name its name in values. A Name
	// that ends in "#" represents Form.Count numbered fields.
	Raw, Name string
	Form      Form
}

// Fields is a list of the fields of a map, sorted by Name.
type Fields []Field

// Of returns fields with the form. The argument names contains their names, separated by spaces. A
// field with another name in responses is written raw>name.
func (f Form) Of(names string) Fields {
	var all Fields
	for word := range strings.FieldsSeq(names) {
		raw, name, _ := strings.Cut(word, ">")
		all = append(all, Field{Raw: raw, Name: cmp.Or(name, raw), Form: f})
	}
	return Join(all)
}

// Join returns the fields of all lists. If several fields have the same name, the last one is kept.
func Join(all ...Fields) Fields {
	joined := slices.Concat(all...)
	slices.SortStableFunc(joined, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
	last := joined[:0]
	for i := range joined {
		if i+1 == len(joined) || joined[i].Name != joined[i+1].Name {
			last = append(last, joined[i])
		}
	}
	return last
}

// Field returns the field with the name, or nil if there is none. For the name of a numbered field,
// it returns the field that represents it.
func (f Fields) Field(name string) *Field {
	if i, ok := f.search(name); ok {
		return &f[i]
	}
	if prefix := strings.TrimRight(name, "0123456789"); len(prefix) < len(name) {
		if i, ok := f.search(prefix + "#"); ok {
			return &f[i]
		}
	}
	return nil
}

func (f Fields) search(name string) (int, bool) {
	return slices.BinarySearchFunc(f, name, func(field Field, name string) int { return cmp.Compare(field.Name, name) })
}

// Has reports whether there is a field with exactly the name.
func (f Fields) Has(name string) bool {
	_, ok := f.search(name)
	return ok
}

// Read appends the fields that the map from contains to list, in canonical form, and returns the
// extended slice. It omits fields whose values are Blank before or after reading.
func (f Fields) Read(c *Context, from model.Value, list []model.Field) []model.Field {
	for i := range f {
		field := &f[i]
		raw, ok := from.Get(field.Raw)
		if !ok || Blank(raw) && !field.Form.ReadsBlank {
			continue
		}
		if v := field.Form.Read(c, raw); !Blank(v) {
			list = append(list, model.Field{Name: field.Name, Value: v})
		}
	}
	return list
}

// Schema returns the schema for comparing maps of the fields. It refers to the schemas of the
// forms.
func (f Fields) Schema() *model.Schema {
	schemas := make(map[string]*model.Schema, len(f))
	for i := range f {
		for _, name := range f[i].Names() {
			schemas[name] = &f[i].Form.Schema
		}
	}
	return &model.Schema{Fields: schemas}
}

// Names returns the names that the field represents: Name, or Form.Count numbered names.
func (f *Field) Names() []string {
	prefix, numbered := strings.CutSuffix(f.Name, "#")
	if !numbered {
		return []string{f.Name}
	}
	names := make([]string, f.Form.Count)
	for i := range names {
		names[i] = prefix + strconv.Itoa(i)
	}
	return names
}
