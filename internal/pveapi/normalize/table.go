package normalize

import (
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// read returns fields in canonical form. A field that is not in the table is kept verbatim,
// except the digest, which is that of a file and not of the object.
func read(fields table.Fields, c *table.Context, raw []model.Field) []model.Field {
	list := make([]model.Field, 0, len(raw))
	for _, f := range raw {
		read := c.Plain
		if known := fields.Field(f.Name); known != nil {
			read = known.Form.Read
		} else if f.Name == "digest" {
			continue
		}
		if v := read(c, f.Value); !v.IsNull() {
			list = append(list, model.Field{Name: f.Name, Value: v})
		}
	}
	return list
}

// properties is a property string, or the equivalent map. A part without a name gets
// defaultName. rework converts the parts before they are read; it may be nil.
func properties(defaultName string, fields table.Fields, rework func([]model.Field) []model.Field) table.Form {
	return table.Form{Schema: *fields.Schema(), Read: func(c *table.Context, v model.Value) model.Value {
		parts, ok := slices.Clone(v.Fields()), v.Kind() == model.Map
		if v.Kind() < model.List {
			parts, ok = Properties(v.Text(), defaultName)
		}
		if !ok {
			return verbatim(c, v)
		}
		if rework != nil {
			parts = rework(parts)
		}
		return table.MapOf(read(fields, c, parts))
	}}
}

// props is a property string with the parts of the table.
func props(defaultName string, fields table.Fields) table.Form {
	return properties(defaultName, fields, nil)
}

// single is a property string with one part. Its value is that of the part, unless a newer
// version adds parts.
func single(name string, only table.Form) table.Form {
	inside := props(name, only.Of(name))
	f := only
	f.Read = func(c *table.Context, v model.Value) model.Value {
		read := inside.Read(c, v)
		if alone, ok := read.Get(name); ok && len(read.Fields()) == 1 {
			return alone
		}
		return read
	}
	return f
}

// renamed returns a function that renames a part that has another name in newer versions.
func renamed(old, name string) func([]model.Field) []model.Field {
	return func(parts []model.Field) []model.Field {
		if i := at(parts, old); i >= 0 && !has(parts, name) {
			parts[i].Name = name
		}
		return parts
	}
}
