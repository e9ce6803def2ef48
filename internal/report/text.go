package report

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns s with everything escaped that does not print as itself:
// control characters, line breaks, marks that turn the direction of writing,
// invisible characters, bytes that are not UTF-8. What it returns is one line.
func visible(s string) string {
	if isVisible(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case prints(r):
			b.WriteRune(r)
		default:
			b.WriteString(escapeRune(r))
		}
		i += size
	}
	return b.String()
}

func isVisible(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// prints tells whether a character shows as something of its own.
func prints(r rune) bool {
	if r < 0x7f {
		return r >= ' '
	}
	const brailleBlank = 0x2800
	return unicode.IsPrint(r) && r != brailleBlank &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func escapeRune(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// columns is the number of terminal cells that visible text takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += cells(r)
	}
	return n
}

func cells(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case isWide(r):
		return 2
	}
	return 1
}

// isWide tells the characters that Unicode's East Asian Width (UAX 11) calls
// wide or fullwidth, in whole blocks.
func isWide(r rune) bool {
	for _, block := range [...][2]rune{
		{0x1100, 0x115f}, {0x2e80, 0xa4cf}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60},
		{0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
	} {
		if block[0] <= r && r <= block[1] {
			return true
		}
	}
	return false
}

const ellipsis = "…"

// cut shortens visible text to about limit columns and says how much it hides.
// It begins shortly before the byte at from, where the text starts to differ
// from the one it stands beside. A limit of 0 cuts nothing.
func cut(s string, limit, from int) string {
	if limit <= 0 || columns(s) <= limit {
		return s
	}
	room := max(limit-columns("… (12,345 more)"), 12)
	lead, rest := "", s
	if start := min(before(s, from, room/3), before(s, len(s), room-1)); columns(s[:start]) > room/3 {
		lead, rest = ellipsis, s[start:]
	}
	shown := fit(rest, room-columns(lead))
	trail := ""
	if len(shown) < len(rest) {
		trail = ellipsis
	}
	hidden := utf8.RuneCountInString(s) - utf8.RuneCountInString(shown)
	return lead + shown + trail + " (" + thousands(hidden) + " more)"
}

// before returns the start of a rune some runes before the byte at from.
func before(s string, from, runes int) int {
	for ; runes > 0 && from > 0; runes-- {
		_, size := utf8.DecodeLastRuneInString(s[:from])
		from -= size
	}
	return from
}

// fit returns the longest prefix of s that fits into so many columns.
func fit(s string, limit int) string {
	n := 0
	for i, r := range s {
		if n += cells(r); n > limit {
			return s[:i]
		}
	}
	return s
}

// shared is the length in bytes of the prefix that two texts have in common.
func shared(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			n = i
			break
		}
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) {
		n--
	}
	return n
}

// wrap breaks text at spaces into lines of at most width columns. The first
// begins with first, the others with indent. A width of 0 breaks nothing.
func wrap(text string, width int, first, indent string) []string {
	var lines []string
	line := first
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line += word
		case width > 0 && columns(line)+1+columns(word) > width:
			lines = append(lines, line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-columns(s)))
}

// count says a number of things: "1 resource", "1,200 resources".
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return thousands(n) + " " + thing
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
