// Package yamledit sets and removes fields of objects in YAML files. It changes only the text of these
// fields, and leaves comments, order and layout as they are. It parses the result of each edit, and returns
// an error if it differs from the expected one.
package yamledit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
)

// A Change sets the field at Path to Value, or removes it if Value is nil. Was is the current value in the
// file, or nil if the field is not set.
type Change struct {
	Path       string
	Was, Value *model.Value
	// Schema is the schema of the object, or nil if it is unknown. Its defaults complete the keys of list
	// elements that the file omits, such as the protocol of a port.
	Schema *model.Schema
}

// ErrUnsupported is returned if the file can be read, but does not allow the edit.
var ErrUnsupported = errors.New("edit it by hand")

func unsupported(why string) error { return fmt.Errorf("%s: %w", why, ErrUnsupported) }

// Object changes fields of the object that begins on a line of a YAML stream, and returns the new stream.
// Lines are counted from 1.
func Object(data []byte, line int, changes []Change) ([]byte, error) {
	if bytes.ContainsAny(data, "\u0085\u2028\u2029\ufeff") || bytes.Contains(bytes.ReplaceAll(data, []byte("\r\n"), nil), []byte("\r")) {
		return nil, unsupported("the file has unusual line breaks")
	}
	for i := range changes {
		edited, err := one(data, line, &changes[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", changes[i].Path, err)
		}
		data = edited
	}
	return data, nil
}

// one makes one change, and compares the result with the expected one.
func one(data []byte, line int, c *Change) ([]byte, error) {
	before, err := decode.YAML(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	at, err := find(before, line)
	if err != nil {
		return nil, err
	}
	spot, err := locate(at.in(before), c)
	if err != nil {
		return nil, err
	}
	e, err := newEditor(data, line)
	if err != nil {
		return nil, err
	}
	edited, err := e.apply(spot, c.Value)
	if err != nil {
		return nil, err
	}
	after, err := decode.YAML(bytes.NewReader(edited))
	if err != nil {
		return nil, unsupported("the edited file cannot be read")
	}
	want := spot.expected(at.in(before), c.Value)
	if !at.same(before, after, want) {
		return nil, unsupported("the edited file reads differently than expected")
	}
	return edited, nil
}

// A position is the place of an object in a stream: the document, and the item of a list; item is
// -1 for a document that is no list.
type position struct{ document, item int }

// find returns the position of the object that begins on a line.
func find(documents []decode.Document, line int) (position, error) {
	for i := range documents {
		if n := slices.Index(documents[i].ItemLines, line); n >= 0 {
			return position{i, n}, nil
		}
	}
	for i := range documents {
		if documents[i].Line == line {
			return position{i, -1}, nil
		}
	}
	return position{}, fmt.Errorf("no object begins on line %d: the file has changed since the scan", line)
}

// in returns the object at a position.
func (p position) in(documents []decode.Document) model.Value {
	v := documents[p.document].Value
	if p.item >= 0 {
		return v.At("items").Items()[p.item]
	}
	return v
}

// same reports whether the documents after an edit are those before it, with want at the
// position.
func (p position) same(before, after []decode.Document, want model.Value) bool {
	if p.item >= 0 {
		items := slices.Clone(before[p.document].Value.At("items").Items())
		items[p.item] = want
		want = before[p.document].Value.With("items", model.ListOf(items...))
	}
	if len(before) != len(after) {
		return false
	}
	for i := range before {
		expected := before[i].Value
		if i == p.document {
			expected = want
		}
		if !after[i].Value.Equal(expected) {
			return false
		}
	}
	return true
}

// A spot is where an edit takes place in an object: the steps that exist, as names and indexes,
// and the rest, which is absent.
type spot struct {
	known []fieldpath.Step
	rest  []fieldpath.Step
}

// locate follows the path of a change as far as the object has it.
func locate(object model.Value, c *Change) (s spot, err error) {
	steps, ok := fieldpath.Parse(c.Path)
	if !ok {
		return s, unsupported("the path cannot be translated")
	}
	at, schema := object, c.Schema
	for i := range steps {
		next, known, ok := follow(at, &steps[i], schema)
		if !ok {
			s.rest = steps[i:]
			break
		}
		at, s.known, schema = next, append(s.known, known), Below(schema, &steps[i])
	}
	switch found := len(s.rest) == 0; {
	case !found && c.Was != nil:
		return s, unsupported("it is not found in the file: a kustomization or another tool adds it, or the file writes it in another form")
	case found && c.Was == nil:
		return s, unsupported("the file has a value, and the declaration has none: a kustomization or another tool removes it")
	case found && !at.Equal(*c.Was):
		return s, unsupported("the file has another value than the declaration: a kustomization or another tool changes it")
	case !found && c.Value == nil:
		return s, unsupported("the file does not have it")
	case found && c.Value == nil && len(s.known) == 0:
		return s, unsupported("it is the whole object")
	}
	return s, nil
}

// follow makes one step; ok is false if it leads to nothing.
func follow(at model.Value, step *fieldpath.Step, schema *model.Schema) (next model.Value, known fieldpath.Step, ok bool) {
	if step.Kind == fieldpath.Field {
		next, ok = at.Get(step.Name)
		return next, *step, ok
	}
	n := Element(at, step, schema)
	if n < 0 {
		return next, known, false
	}
	return at.Items()[n], fieldpath.Step{Kind: fieldpath.Index, Index: n}, true
}

// Element returns the index of the only element of a list that a step selects, or -1 if there is none or
// more than one. Elements without the keys of the schema are treated as if they had the default keys.
func Element(list model.Value, step *fieldpath.Step, schema *model.Schema) int {
	if schema == nil || step.Kind != fieldpath.Keyed {
		return step.Element(list)
	}
	items := slices.Clone(list.Items())
	for i := range items {
		for _, key := range schema.Keys {
			d := schema.Element().Field(key)
			if _, has := items[i].Get(key); !has && items[i].Kind() == model.Map && d != nil && d.Default != nil {
				items[i] = items[i].With(key, *d.Default)
			}
		}
	}
	return step.Element(model.ListOf(items...))
}

// Below returns the schema of the value to which a step leads.
func Below(schema *model.Schema, step *fieldpath.Step) *model.Schema {
	if step.Kind == fieldpath.Field {
		return schema.Field(step.Name)
	}
	return schema.Element()
}

// expected returns the object after an edit.
func (s *spot) expected(object model.Value, value *model.Value) model.Value {
	return set(object, s.known, s.rest, value)
}

func set(at model.Value, known, rest []fieldpath.Step, value *model.Value) model.Value {
	switch {
	case len(known) == 0 && len(rest) == 0:
		return *value
	case len(known) == 0 && rest[0].Kind == fieldpath.Field:
		return at.With(rest[0].Name, nested(rest[1:], *value))
	case len(known) == 0:
		return model.ListOf(append(slices.Clone(at.Items()), nested(rest[1:], *value))...)
	}
	last := value == nil && len(known) == 1
	if known[0].Kind == fieldpath.Field {
		if last {
			return at.Without(known[0].Name)
		}
		below, _ := at.Get(known[0].Name)
		return at.With(known[0].Name, set(below, known[1:], rest, value))
	}
	items := slices.Clone(at.Items())
	if n := known[0].Index; last {
		items = slices.Delete(items, n, n+1)
	} else {
		items[n] = set(items[n], known[1:], rest, value)
	}
	return model.ListOf(items...)
}

// nested wraps a value in the maps and lists of the steps that lead to it.
func nested(steps []fieldpath.Step, value model.Value) model.Value {
	for _, step := range slices.Backward(steps) {
		if step.Kind == fieldpath.Field {
			value = model.MapOf(model.Field{Name: step.Name, Value: value})
		} else {
			value = model.ListOf(value)
		}
	}
	return value
}

// newEditor parses a stream, and finds the node of the object that begins on a line.
func newEditor(data []byte, line int) (*editor, error) {
	e := &editor{data: data, lines: []int{0}}
	for i, c := range data {
		if c == '\n' {
			e.lines = append(e.lines, i+1)
		}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return nil, unsupported("its place in the file is not found")
		}
		if len(document.Content) == 1 && e.root(document.Content[0], line) {
			return e, nil
		}
	}
}

// root sets the object to the node, or to the item of the list that it is, which begins on a line.
func (e *editor) root(node *yaml.Node, line int) bool {
	if items := value(node, "items"); items != nil && strings.HasSuffix(textOf(value(node, "kind")), "List") {
		for _, item := range items.Content {
			if item.Line == line {
				e.object = item
				return true
			}
		}
	}
	e.object = node
	return node.Line == line
}

func textOf(node *yaml.Node) string {
	if node == nil {
		return ""
	}
	return node.Value
}

// value returns the value of a key of a mapping; nil if it has none.
func value(node *yaml.Node, name string) *yaml.Node {
	if n := pair(node, name); n >= 0 {
		return node.Content[n+1]
	}
	return nil
}

// pair returns the index of a key among the contents of a mapping; -1 if there is none.
func pair(node *yaml.Node, name string) int {
	if node.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := node.Content[i]; key.Kind == yaml.ScalarNode && key.Value == name {
			return i
		}
	}
	return -1
}
