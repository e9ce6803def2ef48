package report

import (
	"strings"

	"github.com/driftd/driftd/internal/phrase"
)

// wrap breaks text at spaces into lines of at most width columns. The first
// begins with first, the others with indent. A width of 0 breaks nothing.
func wrap(text string, width int, first, indent string) []string {
	var lines []string
	line := first
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line += word
		case width > 0 && phrase.Columns(line)+1+phrase.Columns(word) > width:
			lines = append(lines, line)
			line = indent + word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-phrase.Columns(s)))
}
