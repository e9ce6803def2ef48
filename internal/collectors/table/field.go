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
	// Raw is the name in the system's answers, Name the name in values. A Name that
	// ends in "#" stands for Form.Count fields with a number.
	Raw, Name string
	Form      Form
}

// Fields are the fields of a map, sorted by Name.
type Fields []Field

// Of returns fields of the form. Names are separated by blanks; a field that has
// another name in answers is written raw>name.
func (f Form) Of(names string) Fields {
	var all Fields
	for word := range strings.FieldsSeq(names) {
		raw, name, _ := strings.Cut(word, ">")
		all = append(all, Field{Raw: raw, Name: cmp.Or(name, raw), Form: f})
	}
	return Join(all)
}

// Join returns the fields of all lists. Of two fields with one name the last wins.
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

// Field returns the field with a name, or nil. A numbered name is found by its prefix.
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

// Has reports whether there is a field with the name.
func (f Fields) Has(name string) bool {
	_, ok := f.search(name)
	return ok
}

// Read appends the fields that a map has to list, in canonical form. Fields that
// are Blank before or after reading are left out.
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

// Schema returns how maps of the fields compare.
func (f Fields) Schema() *model.Schema {
	schemas := make(map[string]*model.Schema, len(f))
	for i := range f {
		for _, name := range f[i].Names() {
			schemas[name] = &f[i].Form.Schema
		}
	}
	return &model.Schema{Fields: schemas}
}

// Names returns the names that the field's name stands for.
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
