package diff

import (
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// path is where a walk stands. Its segments are pushed and popped, and written
// out only for what is reported.
type path []segment

type segment struct {
	model.Step
	// key is what a keyed element prints as: "name=web".
	key string
}

func fieldSegment(name string) segment {
	return segment{Step: model.Step{Kind: model.FieldStep, Text: name}}
}

func indexSegment(i int) segment {
	return segment{Step: model.Step{Kind: model.IndexStep, Text: strconv.Itoa(i)}}
}

func itemSegment(item model.Value) segment {
	return segment{Step: model.Step{Kind: model.ItemStep, Text: string(item.AppendJSON(nil))}, key: "=" + item.Text()}
}

// steps returns the path in the form of field sets.
func (p path) steps() []model.Step {
	steps := make([]model.Step, len(p))
	for i, s := range p {
		steps[i] = s.Step
	}
	return steps
}

// String writes the path as people do:
// spec.containers[name=web].ports[containerPort=80,protocol=TCP],
// metadata.labels["app.kubernetes.io/name"].
func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.Kind == model.FieldStep && isPlain(s.Text):
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.Text)
		case s.Kind == model.FieldStep:
			b.WriteString("[" + strconv.Quote(s.Text) + "]")
		case s.Kind == model.IndexStep:
			b.WriteString("[" + s.Text + "]")
		default:
			b.WriteString("[" + s.key + "]")
		}
	}
	return b.String()
}

// isPlain tells whether a name can stand in a path without quotes.
func isPlain(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !(c == '_' || c == '-' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return false
		}
	}
	return name != ""
}

// elementSegment names an element of a keyed list; ok is false when it lacks a
// key that has no default.
func elementSegment(schema *model.Schema, element model.Value) (s segment, ok bool) {
	fields := make([]model.Field, 0, len(schema.Keys))
	texts := make([]string, 0, len(schema.Keys))
	for _, name := range schema.Keys {
		v, found := element.Get(name)
		if !found {
			d := schema.Element().Field(name)
			if d == nil || d.Default == nil {
				continue
			}
			v = *d.Default
		}
		fields = append(fields, model.Field{Name: name, Value: v})
		texts = append(texts, name+"="+v.Text())
	}
	if len(fields) == 0 {
		return segment{}, false
	}
	return segment{
		Step: model.Step{Kind: model.KeyStep, Text: string(model.MapOf(fields...).AppendJSON(nil))},
		key:  strings.Join(texts, ","),
	}, true
}
