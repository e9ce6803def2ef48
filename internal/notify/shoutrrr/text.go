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

// text returns m as plain text: the title if it is not empty, the news and the notes. The
// text has at most limit bytes and ends with a whole line. It states the number of
// findings that are left out.
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
			if part := firstLines(block, room); i == 0 && len(part) > 0 {
				lines, shown = append(lines, part...), 1
			}
			break
		}
		lines, shown, room = append(lines, block...), shown+1, room-size(block)
	}
	if more := total - shown; more > 0 {
		lines = append(lines, "…and "+phrase.Number(more)+" more", "")
	}
	return strings.TrimSpace(strings.Join(firstLines(append(lines, tail...), limit), "\n"))
}

// describe returns the lines for one finding, followed by an empty line.
func describe(item *model.Item, t plain.Text) []string {
	f := &item.Finding
	lines := []string{clip(fmt.Sprintf("[%s] %s, %s", cmp.Or(phrase.News(item), "open"), t.Subject(f), t.Line(string(f.Severity), maxNote)))}
	for _, line := range append(details(item, t), t.Next(f)) {
		if line != "" {
			lines = append(lines, "  "+clip(line))
		}
	}
	return append(lines, "")
}

// details returns the lines below the title of a finding. Ended and muted findings have no
// actor and no fields.
func details(item *model.Item, t plain.Text) []string {
	f := &item.Finding
	notice := model.Notified{News: item.News}
	switch {
	case notice.Muted():
		return []string{t.Where(f), t.Muted(f)}
	case !notice.Open():
		return []string{t.Where(f), t.Seen(f)}
	}
	lines := []string{t.Line(item.Why, maxNote), t.Where(f), t.Actor(f), t.Seen(f), t.Reason(f)}
	if f.Flapping || item.News == model.StartsToFlap {
		lines = append(lines, phrase.Words(phrase.Flapping).Sentence().String())
	}
	return append(lines, t.Fields(f, item.Fields, maxFields)...)
}

// maxLine is the maximum length of a line in bytes. Mail permits 998 (RFC 5322, 2.1.1).
const maxLine = 900

// clip shortens a line to maxLine bytes.
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

// size returns the number of bytes of lines, each with a line break.
func size(lines []string) int {
	n := 0
	for _, line := range lines {
		n += len(line) + 1
	}
	return n
}

// firstLines returns the first lines that fit into room bytes.
func firstLines(lines []string, room int) []string {
	for i, line := range lines {
		if room -= len(line) + 1; room < 0 {
			return lines[:i]
		}
	}
	return lines
}
