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

// Limits of a tree; an alias counts each time it is used.
const (
	maxDepth = 50
	maxNodes = 100_000
)

// A document is a configuration as a tree of plain values, with the line of every key and
// list item by path ("sources[0].settings.url").
type document struct {
	// name is the file as the user wrote it, or the origin of settings without a file.
	name string
	// dir is the folder of relative paths.
	dir   string
	tree  map[string]any
	lines map[string]int
	// origins holds the variables and flags that override the file, by path.
	origins  map[string]string
	problems []Problem
	// meant are the paths for which a misspelt key was meant. They are not also reported as
	// missing.
	meant map[string]bool
	// unsure holds "source", "declaration" and the like if a name is missing or malformed.
	// References to unknown names are not reported then.
	unsure map[string]bool
}

func newDocument(name, dir string) *document {
	return &document{name: name, dir: dir, tree: map[string]any{}, lines: map[string]int{}, origins: map[string]string{},
		meant: map[string]bool{}, unsure: map[string]bool{}}
}

// parse parses a file. If it has no valid YAML, tree is nil.
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
		doc.tree = nil // a partial tree would cause misleading errors
	} else if doc.tree == nil {
		doc.lines[""] = root.Line
		doc.add("", "want keys and values, such as state_dir: /var/lib/driftd")
	}
	return doc
}

// singleDocument parses the only document of a file. It also returns the line of the error, 0
// if unknown.
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

// syntaxError returns the line and a readable form of an error of the YAML parser.
func syntaxError(data []byte, err error) (int, error) {
	if line := firstLine(data, indentedByTab); line > 0 {
		return line, errors.New("a tab in the indentation: use spaces")
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

// firstLine returns the number of the first line for which fits returns true, or 0.
func firstLine(data []byte, fits func([]byte) bool) int {
	for i, line := range bytes.Split(data, []byte("\n")) {
		if fits(line) {
			return i + 1
		}
	}
	return 0
}

// A reader converts YAML nodes to values.
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
			r.doc.add(path, "nested too deeply, or too large with its aliases: write it out, without anchors")
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
			r.complain(key, "a key that is not plain text: write it on a line of its own, as in name: value")
		case key.ShortTag() == "!!merge":
			r.complain(key, "YAML merge keys (<<) are not supported: write the keys out")
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
			r.complain(node, "the value does not have the type of its tag "+tag+": remove the tag")
		}
		return value
	default:
		r.complain(node, fmt.Sprintf("the tag %q is not supported: remove it", tag))
		return node.Value
	}
}

// complain adds a problem with the line of a node.
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
