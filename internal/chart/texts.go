package chart

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// separator separates the documents of a template.
const separator = "\n---\n"

// WithTexts returns the output of a template as helm-controller reads it. It adds labels with kustomize, to which words such as yes and off
// are texts, and a day is a time; to Helm alone, they are booleans and texts.
func WithTexts(output string) string {
	documents := Split(output)
	for i := range documents {
		documents[i] = withTexts(documents[i])
	}
	return strings.Join(documents, separator)
}

// withTexts puts quotes around the scalars of a document that are texts.
func withTexts(document string) string {
	var top yaml.Node
	if yaml.Unmarshal([]byte(document), &top) != nil {
		return document
	}
	lines := strings.SplitAfter(document, "\n")
	// The parser returns nodes in the order of the document, so that the last ones come first here, and earlier columns stay as they are.
	found := plainTexts(&top, nil)
	slices.Reverse(found)
	for _, scalar := range found {
		if scalar.Line > len(lines) {
			continue
		}
		line := []rune(lines[scalar.Line-1])
		start := min(scalar.Column-1, len(line))
		value, anchor := string(line[start:]), ""
		if scalar.Anchor != "" {
			without := strings.TrimLeft(strings.TrimPrefix(value, "&"+scalar.Anchor), "\t ")
			anchor, value = strings.TrimSuffix(value, without), without
		}
		if rest, ok := strings.CutPrefix(value, scalar.Value); ok {
			lines[scalar.Line-1] = string(line[:start]) + anchor + `"` + textOf(scalar) + `"` + rest
		}
	}
	return strings.Join(lines, "")
}

// plainTexts returns the scalars without quotes and tags below a node that Helm alone reads otherwise.
func plainTexts(n *yaml.Node, found []*yaml.Node) []*yaml.Node {
	if n.Kind == yaml.ScalarNode && n.Style == 0 && textOf(n) != "" {
		found = append(found, n)
	}
	for _, below := range n.Content {
		found = plainTexts(below, found)
	}
	return found
}

// textOf returns the text that kustomize makes of a scalar; "" if Helm alone reads it in the same way.
func textOf(scalar *yaml.Node) string {
	switch scalar.Value {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return scalar.Value
	}
	var at time.Time
	if scalar.ShortTag() != "!!timestamp" || scalar.Decode(&at) != nil {
		return ""
	}
	return at.Format(time.RFC3339Nano)
}
