package decode

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// explain returns the line, within text, of an error of the YAML parser, and a clearer
// error.
func explain(text []byte, err error) (int, error) {
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	line, message := leadingLine(message)
	if anchor, ok := strings.CutPrefix(message, "unknown anchor '"); ok {
		name, _, _ := strings.Cut(anchor, "'")
		line = lineAt(text, bytes.Index(text, []byte("*"+name)))
	}
	message = Unquoted(message)
	if strings.HasPrefix(message, "control characters") {
		line = lineAt(text, bytes.IndexFunc(text, isControl))
	}
	if tab := tabbedLine(text, line); tab > 0 && isIndentation(message) {
		return tab, errors.New("a tab indents this line; YAML wants spaces")
	}
	if bytes.Contains(text, []byte("{{")) {
		message += " (a template that was not rendered?)"
	}
	return line, errors.New(message)
}

// Unquoted rewords the one message of the YAML parser that contains a value. The value may be secret,
// because a password that begins with "*" is parsed as an alias.
func Unquoted(message string) string {
	if strings.HasPrefix(message, "unknown anchor ") {
		return "an alias (*) without an anchor (&): quote a value that begins with *"
	}
	return message
}

// leadingLine cuts "line 3: " off. The parser counts from 0 and the scanner
// from 1; neither names the first line.
func leadingLine(message string) (int, string) {
	rest, ok := strings.CutPrefix(message, "line ")
	number, what, found := strings.Cut(rest, ": ")
	line, err := strconv.Atoi(number)
	if !ok || !found || err != nil {
		return 1, message
	}
	parsing := []string{"did not find expected key", "did not find expected ',' or ']'",
		"did not find expected ',' or '}'", "did not find expected '-' indicator",
		"did not find expected node content", "did not find expected <document start>",
		"found undefined tag handle"}
	if slices.Contains(parsing, what) {
		line++
	}
	return line, what
}

func isControl(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f
}

func isIndentation(message string) bool {
	return strings.Contains(message, "tab character") || strings.Contains(message, "cannot start any token")
}

// tabbedLine returns the first line from the given one on that a tab indents,
// or 0.
func tabbedLine(text []byte, from int) int {
	line := 0
	for content := range bytes.Lines(text) {
		line++
		indent := content[:len(content)-len(bytes.TrimLeft(content, " \t"))]
		if line >= from && bytes.IndexByte(indent, '\t') >= 0 {
			return line
		}
	}
	return 0
}
