package cli

import (
	"fmt"
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

// inLine is printable for what stands in one line, as a name does.
func inLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(printable(s))
}

// clip shortens what stands in a table.
func clip(s string, most int) string {
	if all := []rune(s); len(all) > most {
		return string(all[:most-1]) + "…"
	}
	return s
}

// count says a number of things: "1 source", "2 sources".
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
