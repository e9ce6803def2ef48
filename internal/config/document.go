package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
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

// A place is a line of a file.
type place struct {
	// file is the index of the file: 0 is the configuration file, the others are those that it includes.
	file, line int
}

// A document is a configuration as a tree of plain values, with the place of every key and
// list item by path ("sources[0].settings.url").
type document struct {
	// files are the configuration file as the user wrote it, or the origin of settings without a file, and the files that it includes.
	files []string
	// dir is the folder of relative paths.
	dir    string
	tree   map[string]any
	places map[string]place
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
	return &document{files: []string{name}, dir: dir, tree: map[string]any{}, places: map[string]place{}, origins: map[string]string{},
		meant: map[string]bool{}, unsure: map[string]bool{}}
}

// parse parses a configuration file. If it has no valid YAML, tree is nil.
func parse(name, dir string, data []byte) *document {
	doc := newDocument(name, dir)
	doc.tree = doc.read(0, data)
	return doc
}

// read returns the tree of a file; nil if that has no valid YAML. An included file may be empty.
func (d *document) read(file int, data []byte) map[string]any {
	root, line, err := singleDocument(data)
	if errors.Is(err, errEmpty) && file > 0 {
		return nil
	}
	if err != nil {
		d.complain(place{file, line}, err.Error())
		return nil
	}
	r := reader{doc: d, file: file, budget: maxNodes}
	tree, isMap := r.value("", root, 0).(map[string]any)
	if r.budget < 0 {
		return nil // a partial tree would cause misleading errors
	}
	if !isMap {
		d.complain(place{file, root.Line}, "want keys and values, such as state_dir: /var/lib/driftd")
	}
	return tree
}

// errEmpty is the error of a file without a value.
var errEmpty = errors.New("the file is empty: name at least one source under sources: (config.example.yaml shows how)")

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
		return nil, 0, errEmpty
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
	file   int
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
	out := r.merged(path, node, depth)
	seen := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		at := child(path, key.Value)
		switch first := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.Value == "":
			r.complain(key, "a key that is not plain text: write it on a line of its own, as in name: value")
		case key.ShortTag() == "!!merge": // see merged
		case first > 0:
			r.complain(key, fmt.Sprintf("duplicate key %q: line %d has it already, keep one", key.Value, first))
		default:
			seen[key.Value] = key.Line
			r.doc.places[at] = place{r.file, key.Line}
			out[key.Value] = r.value(at, node.Content[i+1], depth+1)
		}
	}
	return out
}

// merged returns the keys that the merge keys (<<) of a mapping add to it. Of several mappings the first one that has a key counts.
// https://yaml.org/type/merge.html
func (r *reader) merged(path string, node *yaml.Node, depth int) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.ShortTag() != "!!merge" {
			continue
		}
		all := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			all = value.Content
		}
		for _, one := range slices.Backward(all) {
			tree, ok := r.value(path, one, depth+1).(map[string]any)
			if !ok {
				r.complain(key, "<< adds the keys of another section: name its anchor, as in <<: *defaults")
			}
			maps.Copy(out, tree)
		}
	}
	return out
}

func (r *reader) sequence(path string, node *yaml.Node, depth int) []any {
	out := make([]any, 0, len(node.Content))
	for i, item := range node.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		r.doc.places[at] = place{r.file, item.Line}
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
	r.doc.complain(place{r.file, node.Line}, text)
}

// complain adds a problem at a place.
func (d *document) complain(at place, text string) {
	p := Problem{Where: d.files[at.file], File: at.file, Line: at.line, Text: text}
	if at.line > 0 {
		p.Where = fmt.Sprintf("%s:%d", p.Where, at.line)
	}
	if !slices.Contains(d.problems, p) {
		d.problems = append(d.problems, p)
	}
}

func child(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
