// Package printable sanitizes untrusted texts for messages, logs and tables.
package printable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is the number of characters that Text returns at most.
const maxText = 300

// Text is Line with a limit of 300 characters.
func Text(s string) string { return Line(s, maxText) }

// Line returns s on one line of at most limit characters. It replaces each run of white space
// and unprintable characters by one space, and bytes that are not UTF-8 by U+FFFD. A text that
// is too long ends with "…".
func Line(s string, limit int) string {
	// No character has more than four bytes.
	cut := len(s) > utf8.UTFMax*limit
	if cut {
		s = s[:utf8.UTFMax*limit]
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if cut || len(runes) > limit {
		return string(runes[:min(len(runes), limit-1)]) + "…"
	}
	return string(runes)
}
