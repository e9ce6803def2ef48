package phrase

import (
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// Visible returns s on one line, with invisible content escaped: control characters, line breaks, marks
// that change the writing direction, invisible characters, and invalid UTF-8.
func Visible(s string) string {
	if isVisible(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case Prints(r):
			b.WriteRune(r)
		default:
			b.WriteString(escapeRune(r))
		}
		i += size
	}
	return b.String()
}

// isVisible reports whether s has printable ASCII characters only.
func isVisible(s string) bool {
	// Lists have millions of characters: eight bytes are compared at a time. The highest bit of a byte is
	// set by itself, by an underflow below ' ', or by an overflow above '~'.
	const each, high = 0x0101010101010101, 0x8080808080808080
	for ; len(s) >= 8; s = s[8:] {
		b := binary.LittleEndian.Uint64([]byte(s[:8]))
		if (b|(b-each*' ')|(b+each))&high != 0 {
			return false
		}
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// VisibleColumns returns the result of Visible, and its width in columns.
func VisibleColumns(s string) (visible string, columns int) {
	if isVisible(s) {
		return s, len(s)
	}
	visible = Visible(s)
	return visible, Columns(visible)
}

// Prints reports whether a character is visible without an escape.
func Prints(r rune) bool {
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

// Columns returns the number of terminal cells that visible text takes.
func Columns(s string) int {
	if isVisible(s) {
		return len(s)
	}
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

// isWide reports whether Unicode's East Asian Width (UAX 11) has a character as
// wide or fullwidth. It compares whole blocks.
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

// Ellipsis marks omitted text.
const Ellipsis = "…"

// Line returns the result of Visible for s, shortened to limit columns.
func Line(s string, limit int) string { return Clip(Visible(s), limit) }

// Clip returns visible text shortened to limit columns and limit characters, because a letter may have any
// number of combining marks.
func Clip(s string, limit int) string {
	if len(s) <= limit { // no character has more columns than bytes
		return s
	}
	if Columns(s) <= limit && utf8.RuneCountInString(s) <= limit {
		return s
	}
	return fit(s, max(limit-1, 0)) + Ellipsis
}

// ClipMiddle is like Clip, but omits the middle of the text: similar names often differ only at the end.
func ClipMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	if Columns(s) <= limit && utf8.RuneCountInString(s) <= limit {
		return s
	}
	head := fit(s, max(limit-1, 0)/2)
	room, from := max(limit-1, 0)-max(Columns(head), utf8.RuneCountInString(head)), len(s)
	for from > len(head) {
		start := before(s, from, 1)
		if end := s[start:]; max(Columns(end), utf8.RuneCountInString(end)) > room {
			break
		}
		from = start
	}
	return head + Ellipsis + s[from:]
}

// Cut returns visible text shortened to about limit columns, with the number of omitted characters. The
// result begins shortly before the byte offset from, at which the text begins to differ from its
// counterpart. If limit is 0, Cut returns the whole text.
func Cut(s string, limit, from int) string {
	if limit <= 0 || Columns(s) <= limit {
		return s
	}
	room := max(limit-Columns("… (12,345 more)"), 12)
	lead, rest := "", s
	if start := min(before(s, from, room/3), before(s, len(s), room-1)); Columns(s[:start]) > room/3 {
		lead, rest = Ellipsis, s[start:]
	}
	shown := fit(rest, room-Columns(lead))
	trail := ""
	if len(shown) < len(rest) {
		trail = Ellipsis
	}
	hidden := utf8.RuneCountInString(s) - utf8.RuneCountInString(shown)
	return lead + shown + trail + " (" + Number(hidden) + " more)"
}

// before returns the start of a rune some runes before the byte at from.
func before(s string, from, runes int) int {
	for ; runes > 0 && from > 0; runes-- {
		_, size := utf8.DecodeLastRuneInString(s[:from])
		from -= size
	}
	return from
}

// fit returns the longest prefix of s with at most so many columns and characters.
func fit(s string, limit int) string {
	columns, runes := 0, 0
	for i, r := range s {
		columns, runes = columns+cells(r), runes+1
		if max(columns, runes) > limit {
			return s[:i]
		}
	}
	return s
}

// Shared returns the length in bytes of the common prefix of two texts.
func Shared(a, b string) int {
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

// Count returns a number of things in words: "1 resource", "1,200 resources".
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return Number(n) + " " + thing
}

// Number returns n with thousands separators: "1,200".
func Number(n int) string { return humanize.Comma(int64(n)) }
