package slack

import (
	"strings"

	"github.com/driftd/driftd/internal/phrase"
)

// clean returns text as one line of at most limit characters, without hidden characters
// and angle brackets. Slack writes mentions and links in angle brackets.
func clean(text string, limit int) string {
	return strings.NewReplacer("<", "‹", ">", "›").Replace(phrase.Line(text, limit))
}

// literal is clean for text that is not shown as code. It replaces a colon that would begin
// the name of an emoji by a similar character.
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

// fallback is literal for text in which Slack interprets marks and mentions. It replaces
// them by similar characters without a meaning.
func fallback(text string, limit int) string {
	return strings.NewReplacer("&", "&amp;", "*", "∗", "~", "∼", "`", "ˋ", "@", "＠").Replace(literal(text, limit))
}
