package shape

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// fields say in which form each key is written. A name that ends in "#" stands
// for that name with a number.
type fields map[string]form

// and returns the fields of both tables.
func (f fields) and(other fields) fields {
	both := maps.Clone(f)
	maps.Copy(both, other)
	return both
}

// form returns the form of a key; one that the table does not know is kept as
// sent. A digest is of a file, not of the object.
func (f fields) form(key string) form {
	if known, ok := f[key]; ok {
		return known
	}
	if prefix := strings.TrimRight(key, "0123456789"); len(prefix) < len(key) {
		if known, ok := f[prefix+"#"]; ok {
			return known
		}
	}
	if key == "digest" {
		return drop()
	}
	return text()
}

// read returns those of the fields that say something, in canonical form.
func (f fields) read(sealer model.Sealer, raw []model.Field) []model.Field {
	read := make([]model.Field, 0, len(raw))
	for _, field := range raw {
		if v := f.form(field.Name).read(sealer, field.Value); !v.IsNull() {
			read = append(read, model.Field{Name: field.Name, Value: v})
		}
	}
	return read
}

// schema says how maps of these fields compare.
func (f fields) schema() model.Schema {
	s := model.Schema{Fields: make(map[string]*model.Schema, len(f))}
	for name, form := range f {
		for _, key := range form.keys(name) {
			s.Fields[key] = &form.schema
		}
	}
	return s
}

// keys returns the keys that a name in a table stands for.
func (f form) keys(name string) []string {
	prefix, numbered := strings.CutSuffix(name, "#")
	if !numbered {
		return []string{name}
	}
	keys := make([]string, f.times)
	for i := range keys {
		keys[i] = prefix + strconv.Itoa(i)
	}
	return keys
}

// properties is a property string, or the map that it is of already. A part
// without a name gets defaultName; rework, which may be nil, adds what several
// parts say together and drops what they say twice.
func properties(defaultName string, table fields, rework func([]model.Field) []model.Field) form {
	return form{schema: table.schema(), read: func(sealer model.Sealer, v model.Value) model.Value {
		parts, ok := slices.Clone(v.Fields()), v.Kind() == model.Map
		if v.Kind() < model.List {
			parts, ok = Properties(v.Text(), defaultName)
		}
		if !ok {
			return asSent(v)
		}
		if rework != nil {
			parts = rework(parts)
		}
		if parts = table.read(sealer, parts); len(parts) == 0 {
			return model.Value{}
		}
		return model.MapOf(parts...)
	}}
}

// props is a property string of the table's parts.
func props(defaultName string, table fields) form { return properties(defaultName, table, nil) }

// single is a property string that says one thing, which newer versions could
// extend: it is that thing's value while it is alone.
func single(name string, only form) form {
	inside := props(name, fields{name: only})
	f := only
	f.read = func(sealer model.Sealer, v model.Value) model.Value {
		read := inside.read(sealer, v)
		if alone, ok := read.Get(name); ok && len(read.Fields()) == 1 {
			return alone
		}
		return read
	}
	return f
}

// renamed reads a part that has another name in newer versions.
func renamed(old, name string) func([]model.Field) []model.Field {
	return func(parts []model.Field) []model.Field {
		if i := at(parts, old); i >= 0 && !has(parts, name) {
			parts[i].Name = name
		}
		return parts
	}
}
