package model

import (
	"strconv"
	"strings"
)

// WriteField appends the field with the given name to the path in b. It quotes names as necessary:
// spec.replicas, metadata.labels["a.b/c"].
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

// Below reports whether path is equal to above or below it: spec.replicas is below spec, and
// labels["a.b/c"] is below labels. Callers handle the path "" of a whole resource themselves.
func Below(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Overlap reports whether two paths are equal or one of them is below the other.
func Overlap(a, b string) bool { return Below(a, b) || Below(b, a) }

// WithoutKeys returns path without the brackets of list elements. Brackets with a quoted field
// name, such as labels["a.b/c"], remain.
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

// CutBracket cuts a leading bracket off a path, which must not be empty. If the path does not begin
// with a bracket, it returns "" and the path. Brackets within quotes do not end the bracket.
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
