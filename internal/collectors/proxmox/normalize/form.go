package normalize

import (
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// asSent keeps a value of unknown meaning: its scalars as text, since versions
// write a number as a number or as text.
func asSent(c *table.Context, v model.Value) model.Value {
	switch v.Kind() {
	case model.Bool, model.Number, model.String:
		return textOrNull(v.Text())
	case model.List:
		items := make([]model.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = asSent(c, item)
		}
		return model.ListOf(items...)
	case model.Map:
		fields := make([]model.Field, 0, len(v.Fields()))
		for _, f := range v.Fields() {
			if sent := asSent(c, f.Value); !sent.IsNull() {
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

// The forms of the tables. PVE takes an absent value for otherwise.
func text() table.Form                 { return table.Plain() }
func word(otherwise string) table.Form { return text().Or(model.StringOf(otherwise)) }
func number() table.Form               { return table.Number() }
func count(otherwise int64) table.Form { return number().Or(model.IntOf(otherwise)) }
func flag() table.Form                 { return table.Boolean() }
func on() table.Form                   { return flag().Or(model.BoolOf(true)) }
func off() table.Form                  { return flag().Or(model.BoolOf(false)) }
func drop() table.Form                 { return table.Absent() }
func secret() table.Form               { return table.Secret() }

// note is text that people write; some versions end it with a new line.
func note() table.Form {
	return table.Text(func(s string) string { return strings.TrimRight(s, "\r\n") }).Low()
}

// spaced is text in which the number of blanks has no meaning.
func spaced() table.Form {
	return table.Text(func(s string) string { return strings.Join(strings.Fields(s), " ") })
}

// synonym is a word for which PVE also takes old.
func synonym(otherwise, old, name string) table.Form {
	return table.Text(func(s string) string {
		if s == old {
			return name
		}
		return s
	}).Or(model.StringOf(otherwise))
}

// epoch is a time in seconds; 0 stands for never.
func epoch() table.Form {
	return table.Scalar(func(s string) (model.Value, bool) {
		v, ok := model.NumberOf(s)
		if v.Text() == "0" {
			v = model.Value{}
		}
		return v, ok
	})
}

// size is bytes, written with a unit or without.
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

// masked is a secret of which PVE shows asterisks only; a version that shows more
// has it sealed.
func masked() table.Form {
	f := secret()
	seal := f.Read
	f.Read = func(c *table.Context, v model.Value) model.Value {
		if v.Kind() == model.String && strings.Trim(v.Text(), "*") == "" {
			return asSent(c, v)
		}
		return seal(c, v)
	}
	f.Schema.Masked = true
	return f
}

// address is a URL; one with a password in it is sealed.
func address() table.Form {
	return table.Form{Read: func(c *table.Context, v model.Value) model.Value {
		if v.Kind() == model.String && table.HasPassword(v.Text()) {
			return c.Sealer.Seal(v.Text())
		}
		return asSent(c, v)
	}}
}
