package mapping

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A template creates an id from attributes: "{pool_id}/vm/{vm_id}". Of the alternatives in
// "{user_id|group_id}" the first one that is set is used. Dots lead to nested attributes,
// through the first element of a list; ".path" is an attribute of the current element;
// "{port|'0'}" is 0 if there is no port; "{id:2}" is the third part of an id with slashes,
// "{id:-1}" the last; "{arn:3}" is the region of an ARN, whose parts are between colons.
type template []part

type part struct {
	literal string
	fields  []field
}

type field struct {
	// literal is the text of a field in quotes; "" for an attribute.
	literal string
	names   []string
	element bool
	// segment is the index of the part between slashes; it is used only if cut is true.
	segment int
	cut     bool
}

func parseTemplate(text string) (template, error) {
	var t template
	for text != "" {
		literal, rest, open := strings.Cut(text, "{")
		if literal != "" {
			t = append(t, part{literal: literal})
		}
		if !open {
			return t, nil
		}
		inside, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, fmt.Errorf("%q lacks a }", text)
		}
		var p part
		for name := range strings.SplitSeq(inside, "|") {
			f, err := parseField(name)
			if err != nil {
				return nil, err
			}
			p.fields = append(p.fields, f)
		}
		t, text = append(t, p), after
	}
	return t, nil
}

func parseField(text string) (field, error) {
	if literal, ok := strings.CutPrefix(text, "'"); ok {
		literal, ok = strings.CutSuffix(literal, "'")
		if !ok || literal == "" {
			return field{}, fmt.Errorf("{%s}: want a text between two quotes", text)
		}
		return field{literal: literal}, nil
	}
	name, segment, cut := strings.Cut(text, ":")
	f := field{cut: cut}
	if cut {
		n, err := strconv.Atoi(segment)
		if err != nil {
			return f, fmt.Errorf("{%s}: want a number after the colon", text)
		}
		f.segment = n
	}
	name, f.element = strings.CutPrefix(name, ".")
	if name == "" {
		return f, fmt.Errorf("{%s}: an attribute's name is missing", text)
	}
	f.names = strings.Split(name, ".")
	return f, nil
}

// A missingError is the error that an instance lacks an attribute.
type missingError struct{ attribute string }

func (e *missingError) Error() string { return "attribute " + e.attribute + " is not set" }

// expand fills in the template. It returns an error if an attribute is not set, not a scalar,
// or secret.
func (t template) expand(attributes, element model.Value) (string, error) {
	var b strings.Builder
	for _, p := range t {
		text := p.literal
		for i := 0; text == "" && i < len(p.fields); i++ {
			text = p.fields[i].text(attributes, element)
		}
		if text == "" {
			return "", &missingError{strings.Join(p.fields[0].names, ".")}
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

func (f field) text(attributes, element model.Value) string {
	v := f.value(attributes, element)
	if v.Kind() == model.Bool {
		return v.Text()
	}
	if v.IsEmpty() || v.Kind() == model.Secret {
		return ""
	}
	return f.part(v.Text())
}

// value returns the value of the attribute, or the literal.
func (f field) value(attributes, element model.Value) model.Value {
	if f.literal != "" {
		return model.StringOf(f.literal)
	}
	v := attributes
	if f.element {
		v = element
	}
	for _, name := range f.names {
		v, _ = first(v).Get(name)
	}
	return v
}

// part returns the part of a text that the field selects.
func (f field) part(text string) string {
	if !f.cut {
		return text
	}
	parts := strings.Split(text, "/")
	if strings.HasPrefix(text, "arn:") {
		parts = strings.SplitN(text, ":", arnParts)
	}
	n := f.segment
	if n < 0 {
		n += len(parts)
	}
	if n < 0 || n >= len(parts) {
		return ""
	}
	return parts[n]
}

// arnParts is the number of parts of an ARN. The last one, the resource, may have colons. See
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
const arnParts = 6

// first returns the first element of a list, and any other value unchanged.
func first(v model.Value) model.Value {
	if v.Kind() != model.List {
		return v
	}
	if len(v.Items()) == 0 {
		return model.Value{}
	}
	return v.Items()[0]
}
