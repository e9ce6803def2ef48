package table

import (
	"github.com/driftd/driftd/internal/model"
)

// A Context contains the inputs of forms that read values of one system.
type Context struct {
	// Sealer digests secrets.
	Sealer model.Sealer
	// Plain reads a value without a form, and a value that does not match its form.
	Plain Reader
	// Texts keeps one copy of repeated texts; nil keeps none. A Context with Texts is not safe for
	// concurrent use.
	Texts Texts
	// Err is the error of a form that rejected a value; nil if there is none.
	Err error
}

// A Reader returns the canonical form of the value raw, or null if raw is equivalent to an absent
// value.
type Reader func(c *Context, raw model.Value) model.Value

// A Form describes one notation of a value in a system's responses, and how two values in it are
// compared. The methods return modified copies.
type Form struct {
	Read   Reader
	Schema model.Schema
	// Secret reports whether Read returns digests.
	Secret bool
	// ReadsBlank reports whether Read is called for values that are Blank, too.
	ReadsBlank bool
	// Count is the number of fields that a name which ends in "#" represents.
	Count int
	// Severity is the severity of drift of the field, and Reason is printed with it. If Severity is
	// "", the rules of the kind apply.
	Severity model.Severity
	Reason   string
}

// Or returns the form with v as the default, which is the value that the system uses for an absent
// one.
func (f Form) Or(v model.Value) Form { f.Schema.Default = &v; return f }

// Derived returns the form for a value that the system derives from other fields if none is given.
func (f Form) Derived() Form { f.Schema.Derived = true; return f }

// Generated returns the form for a value that the system generates if none is given.
func (f Form) Generated() Form { f.Schema.Generated = true; return f }

// Volatile returns the form for a value that changes by itself and is never drift.
func (f Form) Volatile() Form { f.Schema.Volatile = true; return f }

// Content returns the form for a value that, if it is empty, differs from an absent one.
func (f Form) Content() Form { f.Schema.Content = true; return f }

// As returns the form with the format by which scalars are compared.
func (f Form) As(format model.Format) Form { f.Schema.Format = format; return f }

// To returns the form for references, whose values are IDs of objects of the kind.
func (f Form) To(kind string) Form {
	f.Schema.Refers = model.Reference{Kind: kind}
	return f
}

// ToKindIn returns the form for references to objects of several kinds. The kind is the prefix
// followed by the value of another field of the object.
func (f Form) ToKindIn(field, prefix string) Form {
	f.Schema.Refers = model.Reference{Kind: prefix, KindField: field}
	return f
}

// UpTo returns the form for n numbered fields.
func (f Form) UpTo(n int) Form { f.Count = n; return f }

// Low returns the form with low severity, for a label, whose drift has no effect.
func (f Form) Low() Form { return f.rated(model.Low, "a label") }

// Medium returns the form with medium severity and the reason.
func (f Form) Medium(reason string) Form { return f.rated(model.Medium, reason) }

// High returns the form with high severity and the reason.
func (f Form) High(reason string) Form { return f.rated(model.High, reason) }

func (f Form) rated(severity model.Severity, reason string) Form {
	f.Severity, f.Reason = severity, reason
	return f
}

// Blank reports whether a value is null, "", an empty list or an empty map. Most systems use these
// interchangeably for an absent value.
func Blank(v model.Value) bool {
	switch v.Kind() {
	case model.Null, model.String, model.List, model.Map:
		return v.IsEmpty()
	}
	return false
}

// Texts is a set of short texts of which only one copy each is kept. It is bounded.
type Texts map[string]string

const (
	maxTexts      = 1 << 14
	maxTextLength = 40
)

// Keep returns a text equal to the given one, which is the kept copy if there is one. It keeps a
// short text if there is room. A nil Texts keeps none.
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
