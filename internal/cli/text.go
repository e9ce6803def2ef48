package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// printable returns text from outside with its control characters escaped, except line
// breaks, so that it cannot control the terminal.
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

// inLine is printable for a text that must stay in one line, such as a name.
func inLine(s string) string {
	return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(printable(s))
}

// clip shortens a cell of a table.
func clip(s string, most int) string {
	if all := []rune(s); len(all) > most {
		return string(all[:most-1]) + "…"
	}
	return s
}

// count returns a number with its noun: "1 source", "2 sources".
func count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
