package slack

import (
	"strings"

	"github.com/driftd/driftd/internal/phrase"
)

// clean makes foreign text one line of at most limit characters in which nothing
// is hidden, and no angle brackets, in which Slack writes mentions and links.
func clean(text string, limit int) string {
	return strings.NewReplacer("<", "‹", ">", "›").Replace(phrase.Line(text, limit))
}

// literal is clean for text that is not shown as code: a colon that would begin
// an emoji's name becomes a character that looks like one.
func literal(text string, limit int) string {
	parts := strings.Split(clean(text, limit), ":")
	var b strings.Builder
	b.WriteString(parts[0])
	for i, part := range parts[1:] {
		if i+2 < len(parts) && part != "" && !strings.Contains(part, " ") {
			b.WriteString("∶")
		} else {
			b.WriteString(":")
		}
		b.WriteString(part)
	}
	return b.String()
}

// fallback is literal for text in which Slack looks for marks and mentions: they
// become characters that look alike and mean nothing.
func fallback(text string, limit int) string {
	return strings.NewReplacer("&", "&amp;", "*", "∗", "~", "∼", "`", "ˋ", "@", "＠").Replace(literal(text, limit))
}
