package model

import (
	"strconv"
	"strings"
)

// WriteField adds the step of a field to the path of a change in b: spec.replicas, metadata.labels["a.b/c"].
func WriteField(b *strings.Builder, name string) {
	if !isPlain(name) {
		b.WriteString("[" + strconv.Quote(name) + "]")
		return
	}
	if b.Len() > 0 {
		b.WriteByte('.')
	}
	b.WriteString(name)
}

// isPlain reports whether a name needs no quotes in a path.
func isPlain(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !(c == '_' || c == '-' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') {
			return false
		}
	}
	return name != ""
}

// WithoutKeys removes the brackets of list elements from a path. A bracket with a
// field name (labels["a.b/c"]) remains.
func WithoutKeys(path string) string {
	var b strings.Builder
	for path != "" {
		bracket, rest := CutBracket(path)
		switch {
		case bracket == "":
			b.WriteByte(path[0])
			rest = path[1:]
		case strings.HasPrefix(bracket, `["`):
			b.WriteString(bracket)
		}
		path = rest
	}
	return b.String()
}

// CutBracket cuts a bracket off the front of a path; it returns "" if the path begins
// with something else. A bracket in quotes is none.
func CutBracket(path string) (bracket, rest string) {
	if path[0] != '[' {
		return "", path
	}
	quoted := false
	for i := 1; i < len(path); i++ {
		switch c := path[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == ']' && !quoted:
			return path[:i+1], path[i+1:]
		}
	}
	return path, ""
}
