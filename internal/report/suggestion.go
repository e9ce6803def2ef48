package report

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/remedy"
)

// SuggestionVersion is the version of a suggestion's JSON.
const SuggestionVersion = 1

// WriteSuggestion writes the suggestion for a finding, as text or as JSON. The text begins with the
// finding. Commands are not wrapped, so that they can be copied.
func WriteSuggestion(w io.Writer, format string, f *model.Finding, s *remedy.Suggestion, o Options) error {
	return choose(w, format, "write suggestion",
		func(b *bufio.Writer) error { return showSuggestion(newTable(b, o), f, newClock(o), s) },
		func(b *bufio.Writer) error {
			e := json.NewEncoder(b)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return e.Encode(struct {
				Version int `json:"version"`
				*remedy.Suggestion
			}{SuggestionVersion, s})
		})
}

func showSuggestion(t *table, f *model.Finding, c phrase.Clock, s *remedy.Suggestion) error {
	b := newBlock(f, c, mostFields)
	b.Where, b.Who, b.Standing = nil, nil, nil
	t.verdicts = len(b.VerdictText)
	t.block(&b)
	t.line()
	t.line(t.paint(bold, "Next: "), phrase.Visible(s.Next))
	for _, section := range s.Sections() {
		t.line()
		t.line(t.paint(bold, section.Name+": "), phrase.Visible(section.Title))
		for i, block := range section.Blocks {
			if i > 0 {
				t.line()
			}
			for line := range strings.SplitSeq(block.Text, "\n") {
				t.line("    ", phrase.Visible(line))
			}
		}
		for _, note := range section.Notes {
			for _, line := range wrap(phrase.Visible(note), t.width, "  - ", "    ") {
				t.line(line)
			}
		}
	}
	return t.emit()
}
