package cli

import (
	"strings"

	"github.com/driftd/driftd/internal/phrase"
)

// visible is phrase.Visible for a text of several lines: it keeps line breaks and tabs.
func visible(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexAny(s, "\n\t")
		if i < 0 {
			return b.String() + phrase.Visible(s)
		}
		b.WriteString(phrase.Visible(s[:i]) + s[i:i+1])
		s = s[i+1:]
	}
}
