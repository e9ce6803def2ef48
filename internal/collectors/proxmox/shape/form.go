package shape

import (
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A form is one way in which Proxmox writes a value, and how two readings of
// it compare.
type form struct {
	read   reader
	schema model.Schema
	// times is how many keys there are of a name that ends in "#" (net0 to
	// net31).
	times int
	// severity rates drift of the field, and why says why; "" goes by the kind.
	severity model.Severity
	why      string
}

// A reader returns the canonical value, or null for what says nothing. What is
// not in its form it keeps as text; what it returned it reads as the same.
type reader func(model.Sealer, model.Value) model.Value

// or names what PVE takes where the value is absent.
func (f form) or(v model.Value) form { f.schema.Default = &v; return f }

// derived tells that PVE fills the value in by other ones.
func (f form) derived() form { f.schema.Derived = true; return f }

// generated tells that PVE makes a value up when none is given.
func (f form) generated() form { f.schema.Generated = true; return f }

// volatile tells that the value changes by itself.
func (f form) volatile() form { f.schema.Volatile = true; return f }

// content tells that empty is not the same as absent.
func (f form) content() form { f.schema.Content = true; return f }

// upTo gives a numbered name its count.
func (f form) upTo(n int) form { f.times = n; return f }

// low rates drift that harms nobody.
func (f form) low() form { f.severity, f.why = model.Low, "a label"; return f }

// high rates drift that matters more than the kind's other fields.
func (f form) high(why string) form { f.severity, f.why = model.High, why; return f }

// scalar makes a reader of what a text says; parse returns false when the text
// is not in the form.
func scalar(parse func(text string) (model.Value, bool)) reader {
	return func(_ model.Sealer, v model.Value) model.Value {
		if v.Kind() >= model.List {
			return asSent(v)
		}
		if parsed, ok := parse(strings.TrimSpace(v.Text())); ok {
			return parsed
		}
		return asSent(v)
	}
}

// asSent keeps a value of unknown meaning: its scalars as text, since a number
// of one version is a text of another.
func asSent(v model.Value) model.Value {
	switch v.Kind() {
	case model.Bool, model.Number, model.String:
		return textOrNull(v.Text())
	case model.List:
		items := make([]model.Value, len(v.Items()))
		for i, item := range v.Items() {
			items[i] = asSent(item)
		}
		return model.ListOf(items...)
	case model.Map:
		fields := make([]model.Field, 0, len(v.Fields()))
		for _, f := range v.Fields() {
			if sent := asSent(f.Value); !sent.IsNull() {
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

// text is kept as sent.
func text() form {
	return form{read: func(_ model.Sealer, v model.Value) model.Value { return asSent(v) }}
}

// word is text that PVE takes for otherwise.
func word(otherwise string) form { return text().or(model.StringOf(otherwise)) }

// note is text that people write; some versions end it with a new line.
func note() form {
	return rewritten(text(), func(s string) string { return strings.TrimRight(s, "\r\n") }).low()
}

// spaced is text in which the number of blanks does not count.
func spaced() form {
	return rewritten(text(), func(s string) string { return strings.Join(strings.Fields(s), " ") })
}

// rewritten is text of which several spellings mean one thing; rewrite returns
// the same for all of them.
func rewritten(f form, rewrite func(string) string) form {
	f.read = func(_ model.Sealer, v model.Value) model.Value {
		if v.Kind() >= model.List {
			return asSent(v)
		}
		return textOrNull(rewrite(v.Text()))
	}
	return f
}

// synonym is text that PVE takes for otherwise, in which old means name.
func synonym(otherwise, old, name string) form {
	return rewritten(word(otherwise), func(s string) string {
		if s == old {
			return name
		}
		return s
	})
}

// flag is a boolean: 0 and 1, as number or text, yes, no, on, off.
func flag() form {
	return form{read: scalar(func(s string) (model.Value, bool) {
		set, ok := parseFlag(s)
		return model.BoolOf(set), ok
	})}
}

func parseFlag(s string) (set, ok bool) {
	switch strings.ToLower(s) {
	case "1", "on", "yes", "true":
		return true, true
	case "0", "off", "no", "false":
		return false, true
	}
	return false, false
}

// on and off are flags that PVE takes for on, or off, when they are absent.
func on() form  { return flag().or(model.BoolOf(true)) }
func off() form { return flag().or(model.BoolOf(false)) }

func number() form { return form{read: scalar(model.NumberOf)} }

// count is a whole number that PVE takes for otherwise.
func count(otherwise int64) form { return number().or(model.IntOf(otherwise)) }

// epoch is a moment in seconds; 0 stands for never.
func epoch() form {
	return form{read: scalar(func(s string) (model.Value, bool) {
		v, ok := model.NumberOf(s)
		if v.Text() == "0" {
			v = model.Value{}
		}
		return v, ok
	})}
}

// size is bytes, written with a unit or without.
func size() form {
	return form{read: scalar(func(s string) (model.Value, bool) {
		n, ok := Size(s)
		return model.IntOf(n), ok
	})}
}

func mac() form {
	return form{read: scalar(func(s string) (model.Value, bool) {
		return model.StringOf(strings.ToUpper(s)), isMAC(s)
	})}.generated()
}

// secret is sealed.
func secret() form {
	return form{read: func(sealer model.Sealer, v model.Value) model.Value {
		if v.Kind() == model.String && v.Text() == "" {
			return model.Value{}
		}
		return sealer.SealTree(v)
	}}.high("a credential changed")
}

// masked is a secret of which PVE shows asterisks only; a version that shows
// more has it sealed.
func masked() form {
	f := secret()
	seal := f.read
	f.read = func(sealer model.Sealer, v model.Value) model.Value {
		if v.Kind() == model.String && strings.Trim(v.Text(), "*") == "" {
			return asSent(v)
		}
		return seal(sealer, v)
	}
	f.schema.Masked = true
	return f
}

// address is a URL; one with a password in it is sealed.
func address() form {
	return form{read: func(sealer model.Sealer, v model.Value) model.Value {
		if v.Kind() != model.String {
			return asSent(v)
		}
		parsed, err := url.Parse(v.Text())
		if err != nil && strings.Contains(v.Text(), "@") || err == nil && hasPassword(parsed) {
			return sealer.Seal(v.Text())
		}
		return asSent(v)
	}}
}

func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has
}

// drop leaves out what changes by itself, or what another field says too.
func drop() form {
	return form{read: func(model.Sealer, model.Value) model.Value { return model.Value{} }}
}
