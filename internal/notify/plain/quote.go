package plain

import "strings"

// joiner has no width. It separates characters that a program would read together.
const joiner = "\u2060"

// Unmention escapes what chat services read as a mention or a link: "@everyone",
// "<!channel>" and "<@U123>" look the same and notify no one.
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
