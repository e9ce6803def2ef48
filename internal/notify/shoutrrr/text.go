package shoutrrr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify/plain"
)

// Bounds of a text, in characters and in lines.
const (
	maxTitle  = 300
	maxNote   = 200
	maxNotes  = 10
	maxFields = 3
)

// text says a message in plain text: the title, where it is given, what is new
// and the notes. It is no longer than limit bytes, ends at the end of a line,
// and says how many findings it leaves out.
func text(m *model.Message, words plain.Words, title string, limit int) string {
	var head, tail []string
	if title != "" {
		head = append(head, title, "")
	}
	for _, note := range m.Notes[:min(len(m.Notes), maxNotes)] {
		tail = append(tail, words.Line(note, maxNote))
	}
	items, total := m.News, m.NewsCount
	if len(items) == 0 {
		items, total = m.All, m.OpenCount+m.MutedCount+m.ResolvedCount+m.MergedCount
	}
	room := limit - size(head) - size(tail) - len("…and 1234567890 more\n\n")
	lines := head
	shown := 0
	for i := range items {
		block := say(&items[i], words)
		if size(block) > room {
			if part := begin(block, room); i == 0 && len(part) > 0 {
				lines, shown = append(lines, part...), 1
			}
			break
		}
		lines, shown, room = append(lines, block...), shown+1, room-size(block)
	}
	if more := total - shown; more > 0 {
		lines = append(lines, "…and "+plain.Thousands(more)+" more", "")
	}
	return strings.TrimSpace(strings.Join(begin(append(lines, tail...), limit), "\n"))
}

// say says one finding, with an empty line after it.
func say(item *model.Item, words plain.Words) []string {
	f := &item.Finding
	lines := []string{clip(fmt.Sprintf("[%s] %s, %s", item.News, words.Subject(f), words.Line(string(f.Severity), maxNote)))}
	for _, line := range append(about(item, words), words.Next(f)) {
		if line != "" {
			lines = append(lines, "  "+clip(line))
		}
	}
	return append(lines, "")
}

// about says of a finding what is worth knowing where its news is that: of one
// that is over or decided about nobody asks any more who did it.
func about(item *model.Item, words plain.Words) []string {
	f := &item.Finding
	told := model.Told{News: item.News}
	switch {
	case told.Muted():
		return []string{words.Where(f), words.Decided(f)}
	case item.News == model.WasMerged:
		return []string{words.Where(f), "merged into " + words.Line(f.MergedInto, maxNote)}
	case !told.Open():
		return []string{words.Where(f), words.Since(f)}
	}
	lines := []string{words.Line(item.Why, maxNote), words.Where(f), words.Who(f), words.Since(f), words.Reason(f)}
	if f.Flapping || item.News == model.StartsToFlap {
		lines = append(lines, plain.Flapping)
	}
	return append(lines, words.Fields(f, item.Fields, maxFields)...)
}

// maxLine bounds a line, in bytes: mail has no longer ones (RFC 5322, 2.1.1).
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

// size is what lines take, each with its end.
func size(lines []string) int {
	n := 0
	for _, line := range lines {
		n += len(line) + 1
	}
	return n
}

// begin returns as many lines as there is room for.
func begin(lines []string, room int) []string {
	for i, line := range lines {
		if room -= len(line) + 1; room < 0 {
			return lines[:i]
		}
	}
	return lines
}
