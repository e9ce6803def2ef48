package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/decode"
)

// Bounds of a tree; aliases count each time that they are used.
const (
	maxDepth = 50
	maxNodes = 100_000
)

// A document is a configuration as a tree of plain values, with the line of
// every key and list item by path ("sources[0].settings.url").
type document struct {
	// name is the file as the user wrote it, or what stands in its place.
	name string
	// dir is what relative paths are relative to.
	dir   string
	tree  map[string]any
	lines map[string]int
	// origins names what overrides the file, by path.
	origins  map[string]string
	problems []Problem
	// meant are the paths of keys that a misspelt key stands for: that they are missing
	// is no second problem.
	meant map[string]bool
	// unsure holds "source", "declaration" and the like where a name is missing or
	// malformed: that others refer to a name which is not there is no second problem.
	unsure map[string]bool
}

func newDocument(name, dir string) *document {
	return &document{name: name, dir: dir, tree: map[string]any{}, lines: map[string]int{}, origins: map[string]string{},
		meant: map[string]bool{}, unsure: map[string]bool{}}
}

// parse reads a file. Where nothing at all can be read of it, tree is nil.
func parse(name, dir string, data []byte) *document {
	doc := newDocument(name, dir)
	root, line, err := singleDocument(data)
	if err != nil {
		doc.lines[""] = line
		doc.add("", "%v", err)
		doc.tree = nil
		return doc
	}
	r := reader{doc: doc, budget: maxNodes}
	doc.tree, _ = r.value("", root, 0).(map[string]any)
	if r.budget < 0 {
		doc.tree = nil // what is left of it would only mislead
	} else if doc.tree == nil {
		doc.lines[""] = root.Line
		doc.add("", "want keys and values, such as state_dir: /var/lib/driftd")
	}
	return doc
}

// singleDocument reads the one document of a file. The line is that of the
// error, 0 where unknown.
func singleDocument(data []byte) (*yaml.Node, int, error) {
	if line := firstLine(data, func(l []byte) bool { return !utf8.Valid(l) }); line > 0 {
		return nil, line, errors.New("not UTF-8: save the file as UTF-8")
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var root, second yaml.Node
	err := dec.Decode(&root)
	if errors.Is(err, io.EOF) || (err == nil && isNull(&root)) {
		return nil, 0, errors.New("the file is empty: name at least one source under sources: (config.example.yaml shows how)")
	}
	if err != nil {
		line, err := syntaxError(data, err)
		return nil, line, err
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, second.Line, errors.New("a second document begins after ---: a configuration is one document")
	}
	return root.Content[0], 0, nil
}

func isNull(root *yaml.Node) bool {
	return len(root.Content) == 0 || root.Content[0].ShortTag() == "!!null"
}

// syntaxError words an error of the YAML parser for people.
func syntaxError(data []byte, err error) (int, error) {
	if line := firstLine(data, indentedByTab); line > 0 {
		return line, errors.New("a tab in the indentation: YAML wants spaces")
	}
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("no valid YAML: %s", decode.Unquoted(text))
	}
	line, err := strconv.Atoi(m[1])
	if err != nil {
		line = 0
	}
	return line, fmt.Errorf("no valid YAML: %s", strings.TrimPrefix(text, m[0]))
}

func indentedByTab(line []byte) bool {
	text := bytes.TrimLeft(line, " \t")
	return bytes.ContainsRune(line[:len(line)-len(text)], '\t') && len(text) > 0
}

// firstLine returns the number of the first line that fits, or 0.
func firstLine(data []byte, fits func([]byte) bool) int {
	for i, line := range bytes.Split(data, []byte("\n")) {
		if fits(line) {
			return i + 1
		}
	}
	return 0
}

// A reader turns nodes into values.
type reader struct {
	doc    *document
	budget int
}

// value returns a node as map[string]any, []any, string, int, uint64, float64,
// bool, or nil.
func (r *reader) value(path string, node *yaml.Node, depth int) any {
	r.budget--
	if r.budget < 0 || depth > maxDepth {
		if r.budget >= -1 {
			r.doc.add(path, "nested or repeated beyond reason: write it out, without anchors")
		}
		r.budget = -2
		return nil
	}
	switch node.Kind {
	case yaml.AliasNode:
		return r.value(path, node.Alias, depth+1)
	case yaml.MappingNode:
		return r.mapping(path, node, depth)
	case yaml.SequenceNode:
		return r.sequence(path, node, depth)
	}
	return r.scalar(node)
}

func (r *reader) mapping(path string, node *yaml.Node, depth int) map[string]any {
	out := map[string]any{}
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		at := child(path, key.Value)
		switch first := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.Value == "":
			r.complain(key, "a key that is no word: put it on a line of its own, as in name: value")
		case key.ShortTag() == "!!merge":
			r.complain(key, "merge keys (<<) are not read: write the keys out")
		case first > 0:
			r.complain(key, fmt.Sprintf("duplicate key %q: line %d has it already, keep one", key.Value, first))
		default:
			seen[key.Value] = key.Line
			r.doc.lines[at] = key.Line
			out[key.Value] = r.value(at, node.Content[i+1], depth+1)
		}
	}
	return out
}

func (r *reader) sequence(path string, node *yaml.Node, depth int) []any {
	out := make([]any, 0, len(node.Content))
	for i, item := range node.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.doc.lines[at] = item.Line
		if item.ShortTag() == "!!null" {
			r.complain(item, "an empty list item: fill it or remove the dash")
		}
		out = append(out, r.value(at, item, depth+1))
	}
	return out
}

func (r *reader) scalar(node *yaml.Node) any {
	switch tag := node.ShortTag(); tag {
	case "!!null":
		return nil
	case "!!str", "!!timestamp":
		return node.Value
	case "!!bool", "!!int", "!!float":
		var value any
		if err := node.Decode(&value); err != nil {
			r.complain(node, "the value is not what its tag "+tag+" says: remove the tag")
		}
		return value
	default:
		r.complain(node, fmt.Sprintf("the tag %q is not read: remove it", tag))
		return node.Value
	}
}

// complain notes a problem on the line of a node.
func (r *reader) complain(node *yaml.Node, text string) {
	p := Problem{Where: fmt.Sprintf("%s:%d", r.doc.name, node.Line), Line: node.Line, Text: text}
	r.doc.problems = append(r.doc.problems, p)
}

func child(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
