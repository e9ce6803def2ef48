package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/model"
)

// yamlAtOnce is the number of findings that are encoded together: the time that the encoder needs
// for one value grows faster than the value.
const yamlAtOnce = 100

// findingsYAML writes the document of findingsJSON as YAML, with its fields in the same order and
// its numbers as they are written. Characters that do not print as themselves are escaped.
func findingsYAML(w *bufio.Writer, findings []model.Finding) error {
	fmt.Fprintf(w, "version: %d\n", model.ReportVersion)
	if len(findings) == 0 {
		_, err := w.WriteString("findings: []\n")
		return err
	}
	_, err := w.WriteString("findings:\n")
	for some := range slices.Chunk(WorstFirst(findings), yamlAtOnce) {
		if err != nil {
			return err
		}
		err = yamlItems(w, some)
	}
	return err
}

// yamlItems writes the items of an indented list.
func yamlItems(w *bufio.Writer, findings []*model.Finding) error {
	items := make([]model.Finding, len(findings))
	for i, f := range findings {
		items[i] = public(f)
	}
	document, err := json.Marshal(items)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber()
	list, err := yamlNode(d)
	if err != nil {
		return fmt.Errorf("read the JSON form: %w", err)
	}
	var text bytes.Buffer
	e := yaml.NewEncoder(&text)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(list), e.Close()); err != nil {
		return err
	}
	for line := range bytes.Lines(escapeYAML(text.Bytes())) {
		if len(line) > 1 {
			line = append([]byte("  "), line...)
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// yamlNode reads one JSON value.
func yamlNode(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		node := &yaml.Node{Kind: yaml.SequenceNode}
		if v == '{' {
			node.Kind = yaml.MappingNode
		}
		// The tokens of an object are its names and values in turn.
		for d.More() {
			part, err := yamlNode(d)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, part)
		}
		_, err := d.Token()
		return node, err
	case string:
		node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v}
		if strings.IndexFunc(v, hides) >= 0 {
			node.Style = yaml.DoubleQuotedStyle
		}
		return node, nil
	case nil:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: "null"}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(token)}, nil
}

// escapeYAML escapes the characters that do not print as themselves. A text that has some is in
// double quotes.
func escapeYAML(b []byte) []byte {
	if bytes.IndexFunc(b, hides) < 0 {
		return b
	}
	out := make([]byte, 0, len(b)+16)
	for _, r := range string(b) {
		if hides(r) {
			out = fmt.Appendf(out, `\U%08x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}
