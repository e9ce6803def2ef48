// Package plain renders findings as plain text: the resource, its location, the actor, the times,
// the fields that differ, and the page with details. It is pure.
package plain

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// A Text renders phrases for one receiver.
type Text struct {
	// Quote escapes foreign data for the receiver. Its argument is one line of visible characters. nil
	// means no escapes.
	Quote func(string) string
	// URL is the address of driftd's pages, or "".
	URL string
}

// Limits of foreign data in columns.
const (
	maxName  = 200
	maxValue = 100
)

// Subject returns the verdict and the resource: "changed: Deployment shop/web".
func (t Text) Subject(f *model.Finding) string { return t.render(phrase.Subject(f)) }

// Summary returns Subject and Where in one line.
func (t Text) Summary(f *model.Finding) string {
	return t.render(phrase.Subject(f).Then(phrase.Where(f)))
}

// Where returns the source and the place of the declaration; "" for a part of a declaration.
func (t Text) Where(f *model.Finding) string { return t.render(phrase.Where(f).Sentence()) }

// Actor returns the actor with time, evidence and confidence, or "" if the actor was not determined.
func (t Text) Actor(f *model.Finding) string {
	return t.render(phrase.Clock{}.ActorOf(f).Sentence())
}

// Muted returns the reason why the finding causes no notifications, or "".
func (t Text) Muted(f *model.Finding) string {
	return t.render(phrase.Clock{}.Muted(f).Sentence())
}

// Seen returns when the finding was first seen, and when it ended.
func (t Text) Seen(f *model.Finding) string {
	return t.render(phrase.Clock{}.Seen(f).Sentence())
}

// Reason returns the reason why the finding could not be checked, or why it has its severity. It returns ""
// if there is neither.
func (t Text) Reason(f *model.Finding) string { return t.Line(f.Why(), phrase.ReasonLimit) }

// Next returns the address of the finding's page, or the command that displays the finding if there are no
// pages.
func (t Text) Next(f *model.Finding) string {
	if page := Page(t.URL, f); page != "" {
		return page
	}
	return "driftd findings show " + t.Line(f.ID, maxName)
}

// Line returns foreign data as one line of at most limit columns, quoted.
func (t Text) Line(data string, limit int) string {
	data = phrase.Line(data, limit)
	if t.Quote == nil {
		return data
	}
	return t.Quote(data)
}

func (t Text) render(p phrase.Phrase) string {
	return p.Render(func(data string) string { return t.Line(data, phrase.ReasonLimit) })
}

// Page returns the address of a finding's page, or "" if url, the address of the pages, is "".
func Page(url string, f *model.Finding) string {
	if url == "" {
		return ""
	}
	return strings.TrimSuffix(url, "/") + "/findings/" + f.ID
}

// Fields returns at most most fields, the most severe first, each on one line, followed by the number of
// omitted fields. total is the number of all fields.
func (t Text) Fields(f *model.Finding, total, most int) []string {
	fields := phrase.Clock{}.Fields(f, most)
	lines := make([]string, 0, len(fields)+1)
	for i := range fields {
		lines = append(lines, t.field(fields[i].Cut(maxValue)))
	}
	if more := total - len(fields); more > 0 {
		lines = append(lines, "and "+phrase.Count(more, "more field"))
	}
	return lines
}

func (t Text) field(f phrase.Field) string {
	line := t.Line(f.Path, maxName) + ": " + f.Inline(func(value string) string { return t.Line(value, maxName) })
	if len(f.Remark) > 0 {
		line += ", " + t.render(f.Remark)
	}
	return line
}
