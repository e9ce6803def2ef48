package cli

import (
	"strconv"
	"strings"
	"unicode"
)

// printable makes text from elsewhere fit for a terminal: it keeps its lines,
// and shows what would steer the terminal instead of sending it.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
	}
	return b.String()
}
