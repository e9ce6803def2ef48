package discipline

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/decode"
)

// A node is a value of a YAML document with its line. The zero node is an absent value.
type node struct {
	n *yaml.Node
	// above is the number of lines above the document. left is how many more values may be visited: aliases can make a short
	// document very long.
	above int
	left  *int
}

// maxNodes bounds the values of a document that are visited, each time that they are.
const maxNodes = 5_000_000

// at returns the value at a path of keys. The last of equal keys counts, and merge keys are followed.
func (n node) at(keys ...string) node {
	for _, key := range keys {
		n = n.field(key, maxMerges)
	}
	return n
}

// maxMerges bounds the merge keys that are followed for one field.
const maxMerges = 8

func (n node) field(key string, merges int) node {
	m := n.target()
	if m == nil || m.Kind != yaml.MappingNode {
		return node{}
	}
	*n.left -= len(m.Content) / 2
	var merged *yaml.Node
	for i := len(m.Content) - 2; i >= 0; i -= 2 {
		switch name := m.Content[i]; {
		case name.Value == key && name.Kind == yaml.ScalarNode:
			return node{m.Content[i+1], n.above, n.left}
		case name.Tag == "!!merge" && merged == nil:
			merged = m.Content[i+1]
		}
	}
	if merged == nil || merges == 0 {
		return node{}
	}
	below := node{merged, n.above, n.left}
	if found := below.field(key, merges-1); found.n != nil {
		return found
	}
	for _, one := range below.items() {
		if found := one.field(key, merges-1); found.n != nil {
			return found
		}
	}
	return node{}
}

// target returns the value that an alias stands for, and any other value itself; nil once too many were visited.
func (n node) target() *yaml.Node {
	if n.n == nil || *n.left <= 0 {
		return nil
	}
	*n.left--
	if n.n.Kind == yaml.AliasNode {
		return n.n.Alias
	}
	return n.n
}

// items returns the elements of a list.
func (n node) items() []node {
	l := n.target()
	if l == nil || l.Kind != yaml.SequenceNode {
		return nil
	}
	items := l.Content[:min(len(l.Content), *n.left)]
	*n.left -= len(items)
	all := make([]node, 0, len(items))
	for _, item := range items {
		all = append(all, node{item, n.above, n.left})
	}
	return all
}

// text returns a scalar as it is written; "" for null and for other values.
func (n node) text() string {
	t := n.target()
	if t == nil || t.Kind != yaml.ScalarNode || t.Tag == "!!null" {
		return ""
	}
	return t.Value
}

// isTrue reports whether the value is the boolean true.
func (n node) isTrue() bool {
	t := n.target()
	return t != nil && t.Tag == "!!bool" && strings.EqualFold(t.Value, "true")
}

// isFalse reports whether the value is the boolean false.
func (n node) isFalse() bool {
	t := n.target()
	return t != nil && t.Tag == "!!bool" && strings.EqualFold(t.Value, "false")
}

func (n node) exists() bool { return n.n != nil }

// line returns the line of the value in its file.
func (n node) line() int {
	if n.n == nil {
		return 0
	}
	return n.above + n.n.Line
}

// Bounds of a document that is parsed, in bytes. An API server takes no object of more than 1.5 MiB.
const maxDocument = 2 << 20

var errDocument = errors.New("a document of more than 2 MiB")

// parseYAML returns the documents of a part of a stream that begins after some lines. An error quotes no value.
func parseYAML(text []byte, above int) ([]node, error) {
	if len(text) > maxDocument {
		return nil, errDocument
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var docs []node
	for {
		var root yaml.Node
		err := decoder.Decode(&root)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return docs, explained(text, err)
		}
		left := maxNodes
		docs = append(docs, node{root.Content[0], above, &left})
	}
}

// explained returns an error of the parser in words that quote no value, with the line in the text.
func explained(text []byte, err error) error {
	_, strict := decode.YAML(bytes.NewReader(text))
	for _, e := range decode.SyntaxErrors(strict) {
		return e
	}
	if strict != nil {
		return strict
	}
	return errors.New(decode.Unquoted(strings.TrimPrefix(err.Error(), "yaml: ")))
}

// A part is the text of a document of a stream, without its marker, and the number of lines above.
type part struct {
	text  []byte
	above int
}

// split returns the documents of a stream. No value of YAML can have a line that begins with a marker.
func split(text []byte) []part {
	var parts []part
	begin, above, line := 0, 0, 0
	for offset := 0; offset < len(text); {
		end := len(text)
		if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
			end = offset + i + 1
		}
		line++
		if isMarker(text[offset:end]) {
			parts = append(parts, part{text[begin:offset], above})
			begin, above = end, line
		}
		offset = end
	}
	return append(parts, part{text[begin:], above})
}

// isMarker reports whether a line separates documents, and has nothing else but a comment.
func isMarker(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	if !ok || len(rest) > 0 && !bytes.ContainsRune([]byte(" \t\r\n"), rune(rest[0])) {
		return false
	}
	rest = bytes.TrimSpace(rest)
	return len(rest) == 0 || rest[0] == '#'
}
