package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/model"
)

// A Document is one document of a YAML or JSON stream.
type Document struct {
	Value model.Value
	// Line is the line in the stream on which the content of the document begins, starting at 1.
	Line int
	// ItemLines contains the line of each element of "items" in a document whose kind ends in List.
	// Otherwise it is nil.
	ItemLines []int
}

// YAML decodes a stream of YAML or JSON documents in the same way as kubectl (YAML 1.1 booleans and octal
// numbers, merge keys), except that a duplicate key is an error. It skips empty documents. If documents are
// malformed, it returns the others, and an error that joins one *SyntaxError for each malformed document.
func YAML(r io.Reader) ([]Document, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("more than %d MiB", MaxBytes>>20)
	}
	var docs []Document
	var broken []error
	aliased := aliasCount{limit: max(maxAliased, len(data))}
	for _, p := range split(data) {
		p.aliased = &aliased
		read, err := p.documents()
		docs = append(docs, read...)
		for _, fault := range SyntaxErrors(err) {
			fault.Document = p.text
		}
		if err != nil {
			broken = append(broken, err)
		}
	}
	return docs, errors.Join(broken...)
}

// A part is the text of one document of a stream. Line is that of its first
// byte.
type part struct {
	text []byte
	line int
	// aliased is that of the stream.
	aliased *aliasCount
}

// split cuts a stream at its document markers. No YAML or JSON value can hold
// a line that begins with one, so that a broken document ends there as well.
func split(data []byte) []part {
	var parts []part
	begin, beginLine, line, started := 0, 1, 0, false
	cut := func(end, nextLine int) {
		if started {
			parts = append(parts, part{text: data[begin:end], line: beginLine})
		}
		begin, beginLine, started = end, nextLine, false
	}
	for offset := 0; offset < len(data); {
		line++
		end := len(data)
		if i := bytes.IndexByte(data[offset:], '\n'); i >= 0 {
			end = offset + i + 1
		}
		text := data[offset:end]
		switch {
		case isMarker(text, "---"):
			if started {
				cut(offset, line)
			}
			started = true
		case isMarker(text, "..."):
			cut(end, line+1)
		case !started:
			started = !isPreamble(text)
		}
		offset = end
	}
	cut(len(data), line)
	return parts
}

func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0)
}

// isPreamble reports whether a line may precede a document's content: a comment, a
// directive, or an empty line.
func isPreamble(line []byte) bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	return len(text) == 0 || text[0] == '#' || line[0] == '%'
}

// maxFlow is the size up to which braces that are not JSON may be YAML: what
// is larger was written by a program, and is JSON that was cut off.
const maxFlow = 1 << 20

func (p part) documents() ([]Document, error) {
	if offset := invalidAt(p.text); offset >= 0 {
		return nil, p.fault(lineAt(p.text, offset), errors.New("not UTF-8 text; save the file as UTF-8"))
	}
	if text := bytes.TrimLeft(p.text, "\ufeff \t\r\n"); len(text) > 0 && text[0] == '{' {
		if docs, err := p.json(); err == nil || len(docs) > 0 || len(p.text) > maxFlow {
			return docs, err
		}
	}
	return p.yaml()
}

// json reads JSON documents that follow one another.
func (p part) json() ([]Document, error) {
	text := bytes.TrimPrefix(p.text, []byte("\ufeff"))
	r := newJSONReader(text)
	var docs []Document
	for r.next(space) < len(text) {
		doc := Document{Line: p.line + lineAt(text, r.next(space)) - 1}
		v, err := r.value(0)
		if err != nil {
			syntax := r.locate(err)
			return docs, p.fault(syntax.Line, syntax.Err)
		}
		if doc.Value = v; isList(v) {
			doc.ItemLines = p.lines(text, r.elements)
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

func (p part) lines(text []byte, offsets []int) []int {
	lines := make([]int, len(offsets))
	line, from := p.line, 0
	for i, offset := range offsets {
		line += bytes.Count(text[from:offset], []byte("\n"))
		lines[i], from = line, offset
	}
	return lines
}

// isList reports whether a document is a list of objects.
func isList(v model.Value) bool {
	items, ok := v.Get("items")
	return ok && items.Kind() == model.List && strings.HasSuffix(v.At("kind").Str(), "List")
}

func (p part) yaml() ([]Document, error) {
	var docs []Document
	dec := yaml.NewDecoder(bytes.NewReader(p.text))
	for {
		var root yaml.Node
		err := dec.Decode(&root)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			line, err := explain(p.text, err)
			return docs, p.fault(line, err)
		}
		doc, err := p.document(root.Content[0])
		if err != nil {
			return docs, err
		}
		if !doc.Value.IsNull() {
			docs = append(docs, doc)
		}
	}
}

func (p part) document(root *yaml.Node) (Document, error) {
	tree := yamlTree{first: p.line, aliased: p.aliased}
	v, err := tree.value(root, 0)
	if err != nil {
		return Document{}, err
	}
	doc := Document{Value: v, Line: p.line + root.Line - 1}
	if isList(v) {
		doc.ItemLines = p.itemLines(root, len(v.At("items").Items()))
	}
	return doc, nil
}

// itemLines returns the line of each of n items; of items that were merged in,
// that of the document.
func (p part) itemLines(root *yaml.Node, n int) []int {
	lines := slices.Repeat([]int{p.line + root.Line - 1}, n)
	for i := 0; i+1 < len(root.Content); i += 2 {
		items := target(root.Content[i+1]).Content
		if root.Content[i].Value != "items" || len(items) != n {
			continue
		}
		for j, item := range items {
			lines[j] = p.line + item.Line - 1
		}
	}
	return lines
}

// fault returns an error at a line of the part.
func (p part) fault(line int, err error) *SyntaxError {
	return &SyntaxError{Line: p.line + line - 1, Err: err}
}

// invalidAt returns the offset of the first byte that is not UTF-8, or -1.
func invalidAt(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}
