package table

import (
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Plain returns the form of values that Context.Plain reads.
func Plain() Form {
	return Form{Read: func(c *Context, v model.Value) model.Value { return c.Plain(c, v) }}
}

// AsSent is a Reader that returns values unchanged, for systems that write each value in only one
// way.
func AsSent(c *Context, v model.Value) model.Value { return c.Keep(v) }

// Absent returns the form of values to omit, because they change by themselves or repeat another
// field.
func Absent() Form {
	return Form{Read: func(*Context, model.Value) model.Value { return model.Value{} }}
}

// Scalar returns the form of scalars with more than one notation. The function parse returns false
// for a text in an unknown notation, which is then read by Context.Plain.
func Scalar(parse func(text string) (model.Value, bool)) Form {
	return Form{Read: func(c *Context, v model.Value) model.Value {
		if v.Kind() < model.List {
			if parsed, ok := parse(strings.TrimSpace(v.Text())); ok {
				return parsed
			}
		}
		return c.Plain(c, v)
	}}
}

// Text returns the form of texts with more than one spelling. The function rewrite must return the
// same text for all spellings.
func Text(rewrite func(text string) string) Form {
	return Form{Read: func(c *Context, v model.Value) model.Value {
		if v.Kind() < model.List {
			v = model.StringOf(rewrite(v.Text()))
		}
		return c.Plain(c, v)
	}}
}

// Boolean returns the form of booleans, which systems also write as 0 and 1 or as text.
func Boolean() Form {
	return Scalar(func(text string) (model.Value, bool) {
		set, ok := ParseBoolean(text)
		return model.BoolOf(set), ok
	})
}

// ParseBoolean parses 1, on, yes and true as true, and 0, off, no and false as false, in any case.
// For any other text, ok is false.
func ParseBoolean(text string) (set, ok bool) {
	switch strings.ToLower(text) {
	case "1", "on", "yes", "true":
		return true, true
	case "0", "off", "no", "false":
		return false, true
	}
	return false, false
}

// Number returns the form of numbers, which systems also write as text.
func Number() Form { return Scalar(model.NumberOf) }

// Secret returns the form of secrets, of which only a digest is kept. A change has high severity.
func Secret() Form {
	f := Form{Secret: true, Read: func(c *Context, v model.Value) model.Value {
		if Blank(v) {
			return model.Value{}
		}
		return c.Sealer.SealTree(v)
	}}
	return f.High("a credential changed")
}

// HasPassword reports whether text may be a URL with a password. If text is not a valid URL, it
// reports whether text contains "@".
func HasPassword(text string) bool {
	parsed, err := url.Parse(text)
	if err != nil {
		return strings.Contains(text, "@")
	}
	_, has := parsed.User.Password()
	return has
}
