package shoutrrr

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify/plain"
	"github.com/driftd/driftd/internal/phrase"
)

// Bounds of a text, in characters and in lines.
const (
	maxTitle  = 300
	maxNote   = 200
	maxNotes  = 10
	maxFields = 3
)

// text returns a message as plain text: the title, where it is given, the news and the
// notes. It has at most limit bytes, ends at the end of a line, and counts the
// findings that it leaves out.
func text(m *model.Message, t plain.Text, title string, limit int) string {
	var head, tail []string
	if title != "" {
		head = append(head, title, "")
	}
	for _, note := range m.Notes[:min(len(m.Notes), maxNotes)] {
		tail = append(tail, t.Line(note, maxNote))
	}
	items, total := m.News, m.NewsCount
	if len(items) == 0 {
		items, total = m.All, m.OpenCount+m.MutedCount+m.ResolvedCount+m.MergedCount
	}
	room := limit - size(head) - size(tail) - len("…and 1234567890 more\n\n")
	lines := head
	shown := 0
	for i := range items {
		block := describe(&items[i], t)
		if size(block) > room {
			if part := begin(block, room); i == 0 && len(part) > 0 {
				lines, shown = append(lines, part...), 1
			}
			break
		}
		lines, shown, room = append(lines, block...), shown+1, room-size(block)
	}
	if more := total - shown; more > 0 {
		lines = append(lines, "…and "+phrase.Number(more)+" more", "")
	}
	return strings.TrimSpace(strings.Join(begin(append(lines, tail...), limit), "\n"))
}

// describe returns one finding, with an empty line after it.
func describe(item *model.Item, t plain.Text) []string {
	f := &item.Finding
	lines := []string{clip(fmt.Sprintf("[%s] %s, %s", cmp.Or(phrase.News(item), "open"), t.Subject(f), t.Line(string(f.Severity), maxNote)))}
	for _, line := range append(about(item, t), t.Next(f)) {
		if line != "" {
			lines = append(lines, "  "+clip(line))
		}
	}
	return append(lines, "")
}

// about returns the lines below a finding. One that is over or muted has no actor and
// no fields.
func about(item *model.Item, t plain.Text) []string {
	f := &item.Finding
	told := model.Notified{News: item.News}
	switch {
	case told.Muted():
		return []string{t.Where(f), t.Muted(f)}
	case !told.Open():
		return []string{t.Where(f), t.Seen(f)}
	}
	lines := []string{t.Line(item.Why, maxNote), t.Where(f), t.Actor(f), t.Seen(f), t.Reason(f)}
	if f.Flapping || item.News == model.StartsToFlap {
		lines = append(lines, phrase.Words(phrase.Flapping).Sentence().String())
	}
	return append(lines, t.Fields(f, item.Fields, maxFields)...)
}

// maxLine bounds a line in bytes, as mail requires (RFC 5322, 2.1.1).
const maxLine = 900

func clip(line string) string {
	if len(line) <= maxLine {
		return line
	}
	cut := maxLine
	for !utf8.RuneStart(line[cut]) {
		cut--
	}
	return line[:cut] + "…"
}

// size returns the bytes of lines, each with its end.
func size(lines []string) int {
	n := 0
	for _, line := range lines {
		n += len(line) + 1
	}
	return n
}

// begin returns the first lines that fit into room bytes.
func begin(lines []string, room int) []string {
	for i, line := range lines {
		if room -= len(line) + 1; room < 0 {
			return lines[:i]
		}
	}
	return lines
}
