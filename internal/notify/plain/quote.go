package plain

import "strings"

// joiner is a character without width. It separates characters that would form a mark.
const joiner = "\u2060"

// Unmention escapes the mentions and links of chat services. "@everyone", "<!channel>" and
// "<@U123>" look the same, but are only text.
func Unmention(s string) string {
	return strings.NewReplacer("@", "@"+joiner, "<", "<"+joiner).Replace(s)
}

// Unmark escapes the marks of Markdown, and mentions.
func Unmark(s string) string {
	var b strings.Builder
	for _, r := range Unmention(s) {
		if strings.ContainsRune("\\`*_{}[]()#+!|~>", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
