package diff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A path is the path of a node. Segments are formatted only for reported nodes.
type path []segment

// A segment is the name of a field, or the position or key of an element.
type segment struct {
	kind  model.StepKind
	name  string
	index int
	// liveIndex is the position in the live list, where it may be another one.
	liveIndex int
	schema    *model.Schema
	element   *model.Value
}

func fieldSegment(name string) segment { return segment{kind: model.FieldStep, name: name} }

// indexSegment returns the segment of an element by its position in the two lists.
func indexSegment(i, live int) segment {
	return segment{kind: model.IndexStep, index: i, liveIndex: live}
}

// elementSegment returns the segment of an element of a keyed list or a set.
func elementSegment(schema *model.Schema, element *model.Value) segment {
	kind := model.KeyStep
	if schema.List == model.Set {
		kind = model.ItemStep
	}
	return segment{kind: kind, schema: schema, element: element}
}

func (s segment) step() model.Step {
	switch s.kind {
	case model.FieldStep:
		return model.Step{Kind: s.kind, Text: s.name}
	case model.IndexStep:
		return model.Step{Kind: s.kind, Text: strconv.Itoa(s.index)}
	case model.ItemStep:
		return model.Step{Kind: s.kind, Text: string(s.element.AppendJSON(nil))}
	}
	name, _ := keyOf(s.schema, *s.element)
	return model.Step{Kind: s.kind, Text: string(name.AppendJSON(nil))}
}

// steps returns the path in the form of field sets.
func (p path) steps() []model.Step {
	steps := make([]model.Step, len(p))
	for i, s := range p {
		steps[i] = s.step()
	}
	return steps
}

// String returns the path in the form of Change.Path:
// spec.containers[name=web].ports[containerPort=80,protocol=TCP],
// metadata.labels["app.kubernetes.io/name"].
func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		if s.kind == model.FieldStep {
			model.WriteField(&b, s.name)
		} else {
			b.WriteString("[" + s.inBrackets() + "]")
		}
	}
	return b.String()
}

// in returns the part of a value at the path, or null if there is none.
func (p path) in(v model.Value) model.Value {
	for _, s := range p {
		if s.kind == model.FieldStep {
			v = v.At(s.name)
			continue
		}
		at := s.index
		if s.kind != model.IndexStep {
			at = slices.IndexFunc(v.Items(), func(item model.Value) bool {
				return s.kind == model.ItemStep && item.Equal(*s.element) || s.kind == model.KeyStep && sameElement(s.schema, *s.element, item)
			})
		}
		if at < 0 || at >= len(v.Items()) {
			return model.Value{}
		}
		v = v.Items()[at]
	}
	return v
}

func (s segment) inBrackets() string {
	switch s.kind {
	case model.IndexStep:
		return strconv.Itoa(s.index)
	case model.ItemStep:
		return "=" + shown(*s.element)
	}
	var texts []string
	name, _ := keyOf(s.schema, *s.element)
	for _, key := range s.schema.Keys {
		if v, ok := name.Get(key); ok {
			texts = append(texts, key+"="+shown(v))
		}
	}
	return strings.Join(texts, ",")
}

// live returns the path with the positions of the live lists.
func (p path) live() path {
	live := slices.Clone(p)
	for i := range live {
		if live[i].index = live[i].liveIndex; live[i].index < 0 && live[i].name != "" {
			live[i].kind = model.FieldStep
		}
	}
	return live
}

// keyOf returns the key fields of an element of a keyed list; ok is false if it has none.
func keyOf(schema *model.Schema, element model.Value) (key model.Value, ok bool) {
	fields := make([]model.Field, 0, len(schema.Keys))
	for _, name := range schema.Keys {
		if v := keyField(schema.Element().Field(name), element, name); !v.IsNull() {
			fields = append(fields, model.Field{Name: name, Value: v})
		}
	}
	return model.MapOf(fields...), len(fields) > 0
}

// keyField returns a key field of an element, or its default.
func keyField(field *model.Schema, element model.Value, name string) model.Value {
	v, ok := element.Get(name)
	if field != nil && field.Default != nil && (!ok || isUnset(field, v)) {
		return *field.Default
	}
	return v
}

// sameElement reports whether two elements of a list have the same key.
func sameElement(schema *model.Schema, a, b model.Value) bool {
	if schema.List == model.Set {
		return a.Equal(b)
	}
	named := false
	for _, name := range schema.Keys {
		field := schema.Element().Field(name)
		x, y := keyField(field, a, name), keyField(field, b, name)
		if !x.Equal(y) {
			return false
		}
		named = named || !x.IsNull()
	}
	return named
}

// shown formats a scalar in a path: quoted if it has characters with a meaning there.
func shown(v model.Value) string {
	if v.Kind() == model.Secret {
		return model.SecretText
	}
	if strings.ContainsAny(v.Text(), "[]\",") || !strconv.CanBackquote(v.Text()) {
		return strconv.Quote(v.Text())
	}
	return v.Text()
}
