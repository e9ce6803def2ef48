package table

import (
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// Plain is the form of values that are read by Context.Plain.
func Plain() Form {
	return Form{Read: func(c *Context, v model.Value) model.Value { return c.Plain(c, v) }}
}

// AsSent is a Reader of systems that write each value in one way only.
func AsSent(c *Context, v model.Value) model.Value { return c.Keep(v) }

// Absent is the form of values that are not kept: they change by themselves, or
// repeat another field.
func Absent() Form {
	return Form{Read: func(*Context, model.Value) model.Value { return model.Value{} }}
}

// Scalar is the form of scalars with more than one notation. Parse returns false for a
// text in an unknown notation.
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

// Text is the form of texts with more than one spelling. Rewrite returns the same
// text for all spellings.
func Text(rewrite func(text string) string) Form {
	return Form{Read: func(c *Context, v model.Value) model.Value {
		if v.Kind() < model.List {
			v = model.StringOf(rewrite(v.Text()))
		}
		return c.Plain(c, v)
	}}
}

// Boolean is the form of booleans, which systems also write as 0 and 1 or as text.
func Boolean() Form {
	return Scalar(func(text string) (model.Value, bool) {
		set, ok := ParseBoolean(text)
		return model.BoolOf(set), ok
	})
}

// ParseBoolean parses the notations of booleans: 1, on, yes and true, in any case.
func ParseBoolean(text string) (set, ok bool) {
	switch strings.ToLower(text) {
	case "1", "on", "yes", "true":
		return true, true
	case "0", "off", "no", "false":
		return false, true
	}
	return false, false
}

// Number is the form of numbers, which systems also write as text.
func Number() Form { return Scalar(model.NumberOf) }

// Secret is the form of secrets: only a digest of the value is kept.
func Secret() Form {
	f := Form{Secret: true, Read: func(c *Context, v model.Value) model.Value {
		if Blank(v) {
			return model.Value{}
		}
		return c.Sealer.SealTree(v)
	}}
	return f.High("a credential changed")
}

// HasPassword reports whether a text may be a URL with a password.
func HasPassword(text string) bool {
	parsed, err := url.Parse(text)
	if err != nil {
		return strings.Contains(text, "@")
	}
	_, has := parsed.User.Password()
	return has
}
