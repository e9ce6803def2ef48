package table

import (
	"github.com/driftd/driftd/internal/model"
)

// A Context holds the inputs of forms that read the values of one system.
type Context struct {
	// Sealer digests secrets.
	Sealer model.Sealer
	// Plain reads a value without a form, and a value that is not in its form.
	Plain Reader
	// Texts keeps one copy of repeated texts; nil keeps none. A Context with Texts must
	// be used by one goroutine only.
	Texts Texts
	// Err is the error of a form that rejected a value, or nil.
	Err error
}

// A Reader returns the canonical value of raw, or Null for a value that is the same
// as an absent one.
type Reader func(c *Context, raw model.Value) model.Value

// A Form is one way in which a system writes a value, and how two values in it compare.
type Form struct {
	Read   Reader
	Schema model.Schema
	// Secret reports that Read returns digests.
	Secret bool
	// ReadsBlank reports that Read also reads values that are Blank.
	ReadsBlank bool
	// Count is the number of fields that a name ending in "#" stands for.
	Count int
	// Severity is the severity of drift of the field, and Reason is printed with it. With
	// "", the rules of the kind apply.
	Severity model.Severity
	Reason   string
}

// Or returns the form with a default: the value that the system uses for an absent one.
func (f Form) Or(v model.Value) Form { f.Schema.Default = &v; return f }

// Derived returns the form of a value that the system derives from other fields if
// none is given.
func (f Form) Derived() Form { f.Schema.Derived = true; return f }

// Generated returns the form of a value that the system generates if none is given.
func (f Form) Generated() Form { f.Schema.Generated = true; return f }

// Volatile returns the form of a value that changes by itself and is never drift.
func (f Form) Volatile() Form { f.Schema.Volatile = true; return f }

// Content returns the form of a value that differs from an absent one if it is empty.
func (f Form) Content() Form { f.Schema.Content = true; return f }

// As returns the form with the format by which its scalars compare.
func (f Form) As(format model.Format) Form { f.Schema.Format = format; return f }

// To returns the form of references: values are IDs of objects of the kind.
func (f Form) To(kind string) Form {
	f.Schema.Refers = model.Reference{Kind: kind}
	return f
}

// ToKindIn returns the form of references to objects whose kind is the prefix with the value
// of another field of the object.
func (f Form) ToKindIn(field, prefix string) Form {
	f.Schema.Refers = model.Reference{Kind: prefix, KindField: field}
	return f
}

// UpTo returns the form of n numbered fields.
func (f Form) UpTo(n int) Form { f.Count = n; return f }

// Low returns the form of a label: drift of it has no effect.
func (f Form) Low() Form { return f.rated(model.Low, "a label") }

// Medium returns the form with a severity and its reason.
func (f Form) Medium(reason string) Form { return f.rated(model.Medium, reason) }

// High returns the form with a severity and its reason.
func (f Form) High(reason string) Form { return f.rated(model.High, reason) }

func (f Form) rated(severity model.Severity, reason string) Form {
	f.Severity, f.Reason = severity, reason
	return f
}

// Blank reports whether a value is null, "", an empty list or an empty map, which
// most systems write for the same absence.
func Blank(v model.Value) bool {
	switch v.Kind() {
	case model.Null, model.String, model.List, model.Map:
		return v.IsEmpty()
	}
	return false
}

// Texts keeps one copy of each short text, up to a maximum number of texts.
type Texts map[string]string

const (
	maxTexts      = 1 << 14
	maxTextLength = 40
)

// Keep returns the text, as a kept copy if there is one.
func (t Texts) Keep(text string) string {
	if kept, ok := t[text]; ok {
		return kept
	}
	if t != nil && len(text) <= maxTextLength && len(t) < maxTexts {
		t[text] = text
	}
	return text
}

// Keep returns the scalar with the kept copy of its text.
func (c *Context) Keep(v model.Value) model.Value {
	switch v.Kind() {
	case model.String:
		return model.StringOf(c.Texts.Keep(v.Text()))
	case model.Number:
		if n, ok := model.NumberOf(c.Texts.Keep(v.Text())); ok {
			return n
		}
	}
	return v
}
