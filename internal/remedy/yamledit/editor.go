package yamledit

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/model"
)

// An editor edits the text of one object.
type editor struct {
	data []byte
	// lines are the offsets of the lines.
	lines  []int
	object *yaml.Node
}

// apply edits the text at a spot.
func (e *editor) apply(s spot, value *model.Value) ([]byte, error) {
	node, parent := e.object, (*yaml.Node)(nil)
	if err := plain(node); err != nil {
		return nil, err
	}
	for i := range s.known {
		next := child(node, &s.known[i])
		if next == nil {
			return nil, unsupported("it comes from an alias or a merge key")
		}
		if err := plain(next); err != nil {
			return nil, err
		}
		node, parent = next, node
	}
	switch {
	case len(s.rest) > 0:
		return e.insert(node, s.rest, *value)
	case value == nil:
		return e.remove(parent, &s.known[len(s.known)-1])
	}
	return e.replace(node, *value)
}

// plain returns an error for a node whose text stands for more than its own value.
func plain(node *yaml.Node) error {
	if node.Kind == yaml.AliasNode || node.Anchor != "" || node.Style&yaml.TaggedStyle != 0 {
		return unsupported("it has an anchor, an alias or a tag")
	}
	return nil
}

// child returns the node of a step; nil if there is none.
func child(node *yaml.Node, step *fieldpath.Step) *yaml.Node {
	if step.Kind == fieldpath.Field {
		return value(node, step.Name)
	}
	if node.Kind != yaml.SequenceNode || step.Index >= len(node.Content) {
		return nil
	}
	return node.Content[step.Index]
}

// offset returns the byte at which a node begins.
func (e *editor) offset(node *yaml.Node) int {
	at := e.lines[node.Line-1]
	for range node.Column - 1 {
		_, size := utf8.DecodeRune(e.data[at:])
		at += size
	}
	return at
}

// splice replaces the bytes from start to end.
func (e *editor) splice(start, end int, text string) []byte {
	return slices.Concat(e.data[:start], []byte(text), e.data[end:])
}

// replace replaces the text of a node.
func (e *editor) replace(node *yaml.Node, value model.Value) ([]byte, error) {
	start := e.offset(node)
	end, err := e.end(node)
	switch {
	case err != nil:
		return nil, err
	case node.Kind != yaml.ScalarNode && node.Style&yaml.FlowStyle == 0, node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0, start == end:
		return nil, unsupported("it has several lines")
	}
	return e.splice(start, end, flowText(value, node.Style)), nil
}

// insert adds a value below a node.
func (e *editor) insert(node *yaml.Node, rest []fieldpath.Step, value model.Value) ([]byte, error) {
	for _, step := range rest[1:] {
		if step.Kind != fieldpath.Field {
			continue
		}
		if rest[0].Kind != fieldpath.Field {
			return nil, unsupported("the file does not have the element that contains it")
		}
	}
	content, key := nested(rest[1:], value), ""
	switch {
	case rest[0].Kind == fieldpath.Field && node.Kind == yaml.MappingNode:
		key = keyText(rest[0].Name) + ": "
	case rest[0].Kind != fieldpath.Field && node.Kind == yaml.SequenceNode:
	default:
		return nil, unsupported("the file has another structure")
	}
	if node.Style&yaml.FlowStyle != 0 {
		return e.insertFlow(node, key+flowText(content, 0))
	}
	if len(node.Content) == 0 {
		return nil, unsupported("the file has nothing there")
	}
	end, err := e.end(node)
	if err != nil {
		return nil, err
	}
	indent := strings.Repeat(" ", node.Column-1)
	lines := []string{indent + key + flowText(content, 0)}
	if key == "" {
		lines = item(indent, content)
	}
	return e.insertLines(end, lines), nil
}

// item returns the lines of a list element: a map of scalars with one field a line.
func item(indent string, value model.Value) []string {
	fields := slices.Clone(value.Fields())
	if len(fields) == 0 || slices.ContainsFunc(fields, func(f model.Field) bool { return len(f.Value.Items())+len(f.Value.Fields()) > 0 }) {
		return []string{indent + "- " + flowText(value, 0)}
	}
	slices.SortStableFunc(fields, func(a, b model.Field) int {
		switch {
		case a.Name == "name" && b.Name != "name":
			return -1
		case b.Name == "name" && a.Name != "name":
			return 1
		}
		return 0
	})
	lines, lead := make([]string, len(fields)), "- "
	for i, f := range fields {
		lines[i], lead = indent+lead+keyText(f.Name)+": "+flowText(f.Value, 0), "  "
	}
	return lines
}

func (e *editor) insertFlow(node *yaml.Node, text string) ([]byte, error) {
	if len(node.Content) == 0 {
		at := e.offset(node) + 1
		return e.splice(at, at, text), nil
	}
	end, err := e.end(node.Content[len(node.Content)-1])
	return e.splice(end, end, ", "+text), err
}

// insertLines adds lines after the line that contains an offset.
func (e *editor) insertLines(after int, lines []string) []byte {
	text, newline := strings.Join(lines, "\n")+"\n", "\n"
	if bytes.Contains(e.data, []byte("\r\n")) {
		text, newline = strings.ReplaceAll(text, "\n", "\r\n"), "\r\n"
	}
	at := e.lineEnd(after)
	if at == 0 || e.data[at-1] != '\n' {
		text = newline + strings.TrimSuffix(text, newline)
	}
	return e.splice(at, at, text)
}

// lineEnd returns the offset after the line break that follows an offset.
func (e *editor) lineEnd(at int) int {
	if i := bytes.IndexByte(e.data[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(e.data)
}

// remove removes a field or an element from a node.
func (e *editor) remove(parent *yaml.Node, step *fieldpath.Step) ([]byte, error) {
	n, size := step.Index, 1
	if step.Kind == fieldpath.Field {
		n, size = pair(parent, step.Name), 2
	}
	first := parent.Content[n]
	end, err := e.end(parent.Content[n+size-1])
	if err != nil {
		return nil, err
	}
	switch {
	case parent.Style&yaml.FlowStyle != 0:
		return e.removeFlow(parent, n, size, end)
	case len(parent.Content) == size:
		return nil, unsupported("nothing would be left around it")
	}
	start := e.lines[first.Line-1]
	lead := string(e.data[start:e.offset(first)])
	if strings.Trim(lead, " ") != "" && (size == 2 || strings.TrimSpace(lead) != "-") {
		return nil, unsupported("it begins in the middle of a line")
	}
	return e.splice(start, e.lineEnd(end), ""), nil
}

func (e *editor) removeFlow(parent *yaml.Node, n, size, end int) ([]byte, error) {
	if n > 0 {
		start, err := e.end(parent.Content[n-1])
		return e.splice(start, end, ""), err
	}
	if len(parent.Content) > size {
		end = e.offset(parent.Content[size])
	}
	return e.splice(e.offset(parent.Content[0]), end, ""), nil
}

// end returns the offset after the text of a node.
func (e *editor) end(node *yaml.Node) (int, error) {
	switch {
	case node.Kind == yaml.AliasNode:
		return e.offset(node) + 1 + len(node.Value), nil
	case node.Kind == yaml.ScalarNode:
		return e.scalarEnd(node)
	case node.Style&yaml.FlowStyle != 0:
		at := e.offset(node) + 1
		if len(node.Content) > 0 {
			last, err := e.end(node.Content[len(node.Content)-1])
			if err != nil {
				return 0, err
			}
			at = last
		}
		closing := bytes.IndexAny(e.data[at:], "]}")
		if closing < 0 || strings.Trim(string(e.data[at:at+closing]), " ,\r\n") != "" {
			return 0, unsupported("its end in the file is not found")
		}
		return at + closing + 1, nil
	case len(node.Content) == 0:
		return 0, unsupported("its end in the file is not found")
	}
	return e.end(node.Content[len(node.Content)-1])
}

// scalarEnd returns the offset after the text of a scalar.
func (e *editor) scalarEnd(node *yaml.Node) (int, error) {
	start := e.offset(node)
	text := e.data[start:]
	switch {
	case node.Style&yaml.TaggedStyle != 0 || node.Anchor != "":
		return 0, unsupported("a value near it has an anchor or a tag")
	case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return e.blockEnd(start), nil
	case node.Style&yaml.SingleQuotedStyle != 0:
		for i := 1; i < len(text); i++ {
			if text[i] != '\'' {
				continue
			}
			if i+1 == len(text) || text[i+1] != '\'' {
				return start + i + 1, nil
			}
			i++
		}
	case node.Style&yaml.DoubleQuotedStyle != 0:
		for i := 1; i < len(text); i++ {
			switch text[i] {
			case '\\':
				i++
			case '"':
				return start + i + 1, nil
			}
		}
	case bytes.HasPrefix(text, []byte(node.Value)):
		return start + len(node.Value), nil
	}
	return 0, unsupported("its end in the file is not found")
}

// blockEnd returns the offset in the last line of a literal or folded text whose header is at
// start.
func (e *editor) blockEnd(start int) int {
	end, indent := start, -1
	for at := e.lineEnd(start); at < len(e.data); at = e.lineEnd(at) {
		line := strings.TrimRight(string(e.data[at:e.lineEnd(at)]), "\r\n")
		width := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case width == len(line):
			continue
		case indent < 0:
			indent = width
		case width < indent:
			return end
		}
		end = at
	}
	return end
}
