package discipline

import (
	"bytes"
	"strings"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/printable"
)

var hasAcceptances = lazyregexp.New(`(?m)^["']?acceptances["']?\s*:`)

// acceptances checks a file of accepted findings. The declaration that reads it reports invalid entries.
func (c *checker) acceptances(name string, text []byte) {
	c.note(name, text)
	docs, err := parseYAML(bytes.TrimPrefix(text, []byte("\ufeff")), 0)
	for _, doc := range docs {
		for _, entry := range doc.at("acceptances").items() {
			until := entry.at("until")
			if end, err := decide.ParseEnd(until.text()); err == nil && !decide.HasEnd(end, c.Now) {
				_, kind, _ := strings.Cut(entry.at("kind").text(), "/")
				subject := "the acceptance of " + printable.Line(kind+" "+entry.at("resource").text(), 100)
				c.report(acceptanceNoEnd, name, until.line(), entry.line(), subject, "has no end within five years")
			}
		}
		if *doc.left <= 0 {
			c.gap(name, doc.line(), "the document has too many values, or aliases stand for too many")
		}
	}
	if err != nil {
		c.invalid(name, 0, err)
	}
}
