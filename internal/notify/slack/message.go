package slack

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// Limits of messages, below those of Slack.
const (
	// maxShown is the maximum number of findings in a message. maxSize is the maximum estimated
	// size of the blocks in bytes. Slack refuses blocks of more than about 13,000 bytes with
	// msg_blocks_too_long.
	maxShown = 10
	maxSize  = 9000
	// maxNamed is the maximum number of findings in the notification text.
	maxNamed = 3
	// maxFull is the maximum number of findings that are described in full. The others, which are
	// less severe, take one line.
	maxFull = 3
	// maxNotes is the maximum number of notes after the findings.
	maxNotes = 8
)

// A message consists of blocks and the text of notifications.
type message struct {
	text   string
	blocks []slack.Block
}

// options returns the options for posting and editing a message. They disable marks, mentions
// and links in its text.
func (m message) options() []slack.MsgOption {
	return []slack.MsgOption{
		slack.MsgOptionText(m.text, false), slack.MsgOptionBlocks(m.blocks...),
		slack.MsgOptionDisableMarkdown(), slack.MsgOptionParse(false), slack.MsgOptionLinkNames(false),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
}

// withoutBlocks returns a message that has only the text of the notification.
func (m message) withoutBlocks() message {
	return message{text: m.text + "\nMore: driftd findings list"}
}

// rootMessage returns the first message of a thread with the findings of m, which may be a later
// message.
func rootMessage(m model.Message, buttons bool) message {
	if !m.First {
		m.Title = m.Subject
	}
	shown := newMessageBuilder(m)
	allEnded := len(m.All) > 0 && m.OpenCount+m.MutedCount == 0
	title := &richText{}
	switch open := openItems(m.All); {
	case allEnded && m.MergedCount > 0:
		addHead(title, "⚪", closedWord(m))
	case allEnded:
		addHead(title, "✅", "RESOLVED")
	case len(open) > 0:
		addHead(title, sign(worst(open)), kindWord(m.Kind), severityWord(worst(open)))
	case len(m.All) > 0:
		addHead(title, "⚪", strings.ToUpper(mutedWord(m)))
	default:
		addHead(title, "🔔", cmp.Or(kindWord(m.Kind), "DRIFTD"))
	}
	title.struck = allEnded
	title.name(m.Title, maxTitle)
	if count(m) > 1 {
		title.struck = false
		title.words("\n" + statusCounts(m))
	}
	shown.add(block(title.section()))
	items := m.All
	if len(items) == 0 {
		items = m.News
	}
	shown.items(items, max(count(m), len(items)), false)
	if m.First {
		// The notes of a later message are about its news, which is in a reply.
		shown.notes(m.Notes)
	}
	if buttons && countDecidable(m) > 0 {
		shown.buttons(m)
	}
	return shown.message(m, allEnded)
}

// newsMessage returns a later message of a thread: news or a reminder.
func newsMessage(m model.Message) message {
	shown := newMessageBuilder(m)
	title := &richText{}
	switch m.Kind {
	case model.ResolvedMessage:
		addHead(title, "✅", "RESOLVED")
	case model.DecidedMessage:
		addHead(title, "⚪", kindWord(m.Kind))
	default:
		addHead(title, sign(m.Severity), cmp.Or(kindWord(m.Kind), newsWord(m.News)), severityWord(m.Severity))
	}
	title.name(m.Title, maxTitle)
	shown.add(block(title.section()))
	if len(m.News) > 0 {
		shown.items(m.News, m.NewsCount, false)
	} else {
		shown.items(openItems(m.All), m.OpenCount, true)
	}
	shown.notes(m.Notes)
	return shown.message(m, false)
}

// countDecidable returns the number of findings that a button can decide on: those that are
// open, acknowledged or snoozed. It returns 0 for a daily digest.
func countDecidable(m model.Message) int {
	if m.Kind == model.DigestMessage && len(m.News) == 0 {
		return 0
	}
	n := m.OpenCount
	for _, it := range m.All {
		if it.News == model.WasAcknowledged || it.News == model.WasSnoozed {
			n++
		}
	}
	return n
}

// openItems returns the open items.
func openItems(items []model.Item) []model.Item {
	return slices.DeleteFunc(slices.Clone(items), func(it model.Item) bool { return !isOpen(it) })
}

func isOpen(it model.Item) bool { return model.Notified{News: it.News}.Open() }

// addHead adds the beginning of a title: a sign, and the words that are not empty.
func addHead(p *richText, sign string, words ...string) {
	p.words(sign + " ").bold(strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " · ")).words("  ")
}

// worst returns the worst severity of items.
func worst(items []model.Item) model.Severity {
	found := model.Info
	for i := range items {
		if s := items[i].Finding.Severity; s.Rank() < found.Rank() {
			found = s
		}
	}
	return found
}

// severityWord returns the word for a severity, or "DRIFT" if it is unknown.
func severityWord(s model.Severity) string {
	if s.Rank() < len(model.Severities()) {
		return strings.ToUpper(string(s))
	}
	return "DRIFT"
}

// sign returns the symbol of a severity.
func sign(s model.Severity) string {
	switch s {
	case model.Critical:
		return "🔴"
	case model.High:
		return "🟠"
	case model.Medium:
		return "🟡"
	case model.Low:
		return "🔵"
	}
	return "⚪"
}

// kindWord returns the word for a kind of message. It returns "" for new findings.
func kindWord(k model.MessageKind) string {
	switch k {
	case model.ChangedMessage:
		return "CHANGED"
	case model.DecidedMessage:
		return "DECIDED"
	case model.ReminderMessage:
		return "STILL OPEN"
	case model.UncheckedMessage:
		return "NOT CHECKED"
	case model.DigestMessage:
		return "DIGEST"
	case model.TestMessage:
		return "TEST"
	}
	return ""
}

// newsWord returns the word for the most urgent news, which is the first.
func newsWord(news []model.Item) string {
	if len(news) == 0 {
		return ""
	}
	return strings.ToUpper(phrase.News(&news[0]))
}

// statusCounts returns the number of findings of a thread with each status.
func statusCounts(m model.Message) string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{m.OpenCount, "open"}, {m.MutedCount, mutedWord(m)}, {m.ResolvedCount, "resolved"}, {m.MergedCount, "merged"}} {
		if part.n > 0 {
			parts = append(parts, phrase.Number(part.n)+" "+part.what)
		}
	}
	return strings.Join(parts, " · ")
}

// mutedWord returns the common reason why findings are muted. It returns "muted" if there is
// none.
func mutedWord(m model.Message) string {
	word, seen := "", 0
	for _, it := range m.All {
		if !(model.Notified{News: it.News}).Muted() {
			continue
		}
		if seen++; word != "" && word != phrase.Event(it.News) {
			return "muted"
		}
		word = phrase.Event(it.News)
	}
	if seen != m.MutedCount {
		return "muted"
	}
	return word
}

// closedWord returns the word for a thread without open findings: resolved if no finding
// was merged, merged if all were.
func closedWord(m model.Message) string {
	switch {
	case m.MergedCount == 0:
		return "RESOLVED"
	case m.ResolvedCount == 0:
		return "MERGED"
	}
	return "CLOSED"
}

func andMore(n int) string { return " and " + phrase.Number(n) + " more" }

// A messageBuilder builds a message within Slack's limits.
type messageBuilder struct {
	m      model.Message
	blocks []slack.Block
	size   int
	// shown is the number of findings in the message.
	shown int
}

func newMessageBuilder(m model.Message) *messageBuilder { return &messageBuilder{m: m} }

// add adds a block.
func (s *messageBuilder) add(block slack.Block) {
	s.size += blockSize(block)
	s.blocks = append(s.blocks, block)
}

// items adds as many findings as fit, and a line with the number of the others. count is the number
// of all. If brief is set, each finding is one line.
func (s *messageBuilder) items(items []model.Item, count int, brief bool) {
	for _, it := range items[:min(len(items), maxShown)] {
		described := describe(it, s.m.URL, brief || s.shown >= maxFull)
		if s.shown > 0 && s.size+blockSize(described) > maxSize {
			break
		}
		s.add(described)
		s.shown++
	}
	if more := count - s.shown; more > 0 {
		p := (&richText{}).words("…" + andMore(more) + ": ").code("driftd findings list")
		if s.m.URL != "" {
			p.words(" · ")
			p.link(s.m.URL, "all findings")
		}
		s.add(block(p.section()))
	}
}

// notes adds the notes, one per line.
func (s *messageBuilder) notes(notes []string) {
	if len(notes) == 0 {
		return
	}
	p := &richText{}
	for i, note := range notes[:min(len(notes), maxNotes)] {
		if i > 0 {
			p.words("\n")
		}
		p.words("• ").data(note, maxReason)
	}
	if more := len(notes) - maxNotes; more > 0 {
		p.words("\n• …" + andMore(more))
	}
	s.add(block(p.section()))
}

// message returns the message. allEnded is set if no finding of the thread is open.
func (s *messageBuilder) message(m model.Message, allEnded bool) message {
	text := []string{"[" + strings.ToLower(cmp.Or(kindWord(m.Kind), severityWord(m.Severity))) + "] " + fallback(m.Title, maxTitle)}
	if allEnded {
		text[0] += " (" + strings.ToLower(closedWord(m)) + ")"
	}
	items := m.News
	if len(items) == 0 {
		items = openItems(m.All)
	}
	for _, it := range items[:min(len(items), maxNamed)] {
		what := it.Finding.VerdictText()
		if word := phrase.News(&it); word != "" {
			what = word + " · " + what
		}
		text = append(text, what+": "+fallback(cmp.Or(it.Finding.Name, it.Finding.Key.ID), maxName))
	}
	return message{strings.Join(text, "\n"), s.blocks}
}

// blockSize returns an estimate of the bytes that Slack stores for a block: its JSON, with
// escape sequences for characters outside of ASCII.
func blockSize(b slack.Block) int {
	text, err := json.Marshal(b)
	if err != nil {
		return maxSize
	}
	total := len(`,"block_id":"xxxxx"`)
	for len(text) > 0 {
		_, size := utf8.DecodeRune(text)
		switch size {
		case 1:
			total++
		case 4:
			total += len(`\ud83d\ude00`)
		default:
			total += len(`\u0000`)
		}
		text = text[size:]
	}
	return total
}
