package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// joiner takes no room and keeps what it stands between apart for programs.
const joiner = "\u2060"

// Visible makes s one line of at most limit characters: what does not print as
// itself (control characters, line breaks, marks that turn the direction of
// writing, bytes that are not UTF-8) is escaped, and the end is cut.
func Visible(s string, limit int) string {
	var b strings.Builder
	n := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		piece := s[i : i+size]
		switch {
		case r == utf8.RuneError && size == 1:
			piece = fmt.Sprintf(`\x%02x`, s[i])
		case !prints(r):
			piece = escaped(r)
		}
		length := utf8.RuneCountInString(piece)
		if rest := len(s) - i - size; n+length > limit || n+length == limit && rest > 0 {
			return b.String() + "…"
		}
		b.WriteString(piece)
		n += length
		i += size
	}
	return b.String()
}

// prints tells whether a character shows as something of its own.
func prints(r rune) bool {
	const brailleBlank = 0x2800
	return unicode.IsPrint(r) && r != brailleBlank &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func escaped(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Unmention takes from data what chat services take for a mention or a link:
// "@everyone", "<!channel>", "<@U123>" read the same, and reach nobody.
func Unmention(s string) string {
	return strings.NewReplacer("@", "@"+joiner, "<", "<"+joiner).Replace(s)
}

// Unmark takes from data what Markdown takes for a mark, and mentions too.
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
