package normalize

import (
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// verbatim returns a value that is not in the tables, with its scalars as text: versions
// differ in whether a number is a number or text.
func verbatim(c *table.Context, v model.Value) model.Value {
	switch v.Kind() {
	case model.Bool, model.Number, model.String:
		return textOrNull(v.Text())
	case model.List:
		items := make([]model.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = verbatim(c, item)
		}
		return model.ListOf(items...)
	case model.Map:
		fields := make([]model.Field, 0, len(v.Fields()))
		for _, f := range v.Fields() {
			if sent := verbatim(c, f.Value); !sent.IsNull() {
				fields = append(fields, model.Field{Name: f.Name, Value: sent})
			}
		}
		return model.MapOf(fields...)
	}
	return v
}

func textOrNull(s string) model.Value {
	if s == "" {
		return model.Value{}
	}
	return model.StringOf(s)
}

// The forms of the tables. The parameter is the default value.
func text() table.Form                 { return table.Plain() }
func word(otherwise string) table.Form { return text().Or(model.StringOf(otherwise)) }
func number() table.Form               { return table.Number() }
func count(otherwise int64) table.Form { return number().Or(model.IntOf(otherwise)) }
func flag() table.Form                 { return table.Boolean() }
func on() table.Form                   { return flag().Or(model.BoolOf(true)) }
func off() table.Form                  { return flag().Or(model.BoolOf(false)) }
func drop() table.Form                 { return table.Absent() }
func secret() table.Form               { return table.Secret() }

// note is free text. Some versions append a line break.
func note() table.Form {
	return table.Text(func(s string) string { return strings.TrimRight(s, "\r\n") }).Low()
}

// withoutExtraBlanks is text in which the number of blanks has no meaning.
func withoutExtraBlanks() table.Form {
	return table.Text(func(s string) string { return strings.Join(strings.Fields(s), " ") })
}

// synonym is a word for which PVE also accepts the synonym old.
func synonym(otherwise, old, name string) table.Form {
	return table.Text(func(s string) string {
		if s == old {
			return name
		}
		return s
	}).Or(model.StringOf(otherwise))
}

// epoch is a time in seconds; 0 means never.
func epoch() table.Form {
	return table.Scalar(func(s string) (model.Value, bool) {
		v, ok := model.NumberOf(s)
		if v.Text() == "0" {
			v = model.Value{}
		}
		return v, ok
	})
}

// size is a number of bytes, with or without a unit.
func size() table.Form {
	return table.Scalar(func(s string) (model.Value, bool) {
		n, ok := Size(s)
		return model.IntOf(n), ok
	})
}

func mac() table.Form {
	return table.Scalar(func(s string) (model.Value, bool) {
		return model.StringOf(strings.ToUpper(s)), isMAC(s)
	}).Generated()
}

// masked is a secret that PVE replaces with asterisks. Any other text is sealed.
func masked() table.Form {
	f := secret()
	seal := f.Read
	f.Read = func(c *table.Context, v model.Value) model.Value {
		if v.Kind() == model.String && strings.Trim(v.Text(), "*") == "" {
			return verbatim(c, v)
		}
		return seal(c, v)
	}
	f.Schema.Masked = true
	return f
}

// address is a URL. It is sealed if it contains a password.
func address() table.Form {
	return table.Form{Read: func(c *table.Context, v model.Value) model.Value {
		if v.Kind() == model.String && table.HasPassword(v.Text()) {
			return c.Sealer.Seal(v.Text())
		}
		return verbatim(c, v)
	}}
}
