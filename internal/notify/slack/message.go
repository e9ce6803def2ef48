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
	// maxShown is the maximum number of findings in a message, and maxWeight their maximum
	// estimated size in bytes. Slack refuses blocks of more than about 13,000 bytes with
	// msg_blocks_too_long.
	maxShown  = 10
	maxWeight = 9000
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

// bare returns the message without blocks: the text of its notification.
func (m message) bare() message { return message{text: m.text + "\nMore: driftd findings list"} }

// rootMessage returns the first message of a thread, in the state of m.
func rootMessage(m model.Message, buttons bool) message {
	if !m.First {
		m.Title = m.Subject
	}
	shown := newSheet(m)
	over := len(m.All) > 0 && m.OpenCount+m.MutedCount == 0
	title := &richText{}
	switch bad := openOnes(m.All); {
	case over && m.MergedCount > 0:
		head(title, "⚪", closedWord(m))
	case over:
		head(title, "✅", "RESOLVED")
	case len(bad) > 0:
		head(title, sign(worst(bad)), kindWord(m.Kind), severityWord(worst(bad)))
	case len(m.All) > 0:
		head(title, "⚪", strings.ToUpper(mutedWord(m)))
	default:
		head(title, "🔔", cmp.Or(kindWord(m.Kind), "DRIFTD"))
	}
	title.struck = over
	title.name(m.Title, maxTitle)
	if count(m) > 1 {
		title.struck = false
		title.words("\n" + tally(m))
	}
	shown.add(block(title.section()))
	items := m.All
	if len(items) == 0 {
		items = m.News
	}
	shown.items(items, max(count(m), len(items)), false)
	if m.First {
		// the notes of a later message are about its news, which is in a reply
		shown.notes(m.Notes)
	}
	if buttons && answerable(m) > 0 {
		shown.buttons(m)
	}
	return shown.message(m, over)
}

// newsMessage returns a later message: news, or a reminder.
func newsMessage(m model.Message) message {
	shown := newSheet(m)
	title := &richText{}
	switch m.Kind {
	case model.ResolvedMessage:
		head(title, "✅", "RESOLVED")
	case model.DecidedMessage:
		head(title, "⚪", kindWord(m.Kind))
	default:
		head(title, sign(m.Severity), cmp.Or(kindWord(m.Kind), mostPressing(m.News)), severityWord(m.Severity))
	}
	title.name(m.Title, maxTitle)
	shown.add(block(title.section()))
	if len(m.News) > 0 {
		shown.items(m.News, m.NewsCount, false)
	} else {
		shown.items(openOnes(m.All), m.OpenCount, true)
	}
	shown.notes(m.Notes)
	return shown.message(m, false)
}

// answerable counts the findings that are open, acknowledged or snoozed: those with a
// possible decision. A daily digest has none.
func answerable(m model.Message) int {
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

// openOnes returns the open items.
func openOnes(items []model.Item) []model.Item {
	return slices.DeleteFunc(slices.Clone(items), func(it model.Item) bool { return !isOpen(it) })
}

func isOpen(it model.Item) bool { return model.Notified{News: it.News}.Open() }

// head begins a title with a sign, the kind of the message and the severity.
func head(p *richText, sign string, words ...string) {
	p.words(sign + " ").bold(strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " · ")).words("  ")
}

func worst(items []model.Item) model.Severity {
	found := model.Info
	for i := range items {
		if s := items[i].Finding.Severity; s.Rank() < found.Rank() {
			found = s
		}
	}
	return found
}

func severityWord(s model.Severity) string {
	if s.Rank() < len(model.Severities()) {
		return strings.ToUpper(string(s))
	}
	return "DRIFT"
}

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

// kindWord returns the word for a kind of message; "" for new findings.
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

// mostPressing returns the word for the most urgent news.
func mostPressing(news []model.Item) string {
	if len(news) == 0 {
		return ""
	}
	return strings.ToUpper(phrase.News(&news[0]))
}

// tally counts the findings of a thread by status.
func tally(m model.Message) string {
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

// mutedWord returns why findings are muted, where that is the same for all.
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

// closedWord returns the word for a thread in which nothing is open. Only one in
// which everything is over is resolved.
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

// A sheet builds a message within Slack's limits.
type sheet struct {
	m      model.Message
	blocks []slack.Block
	weight int
	// shown is the number of findings in the message.
	shown int
}

func newSheet(m model.Message) *sheet { return &sheet{m: m} }

// add adds a block.
func (s *sheet) add(block slack.Block) {
	s.weight += weigh(block)
	s.blocks = append(s.blocks, block)
}

// items adds as many findings as there is room for, and a line with the number of the others. With
// brief set, each finding is one line.
func (s *sheet) items(items []model.Item, count int, brief bool) {
	for _, it := range items[:min(len(items), maxShown)] {
		described := describe(it, s.m.URL, brief || s.shown >= maxFull)
		if s.shown > 0 && s.weight+weigh(described) > maxWeight {
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
func (s *sheet) notes(notes []string) {
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

// message finishes the message.
func (s *sheet) message(m model.Message, over bool) message {
	text := []string{"[" + strings.ToLower(cmp.Or(kindWord(m.Kind), severityWord(m.Severity))) + "] " + fallback(m.Title, maxTitle)}
	if over {
		text[0] += " (" + strings.ToLower(closedWord(m)) + ")"
	}
	items := m.News
	if len(items) == 0 {
		items = openOnes(m.All)
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

// weigh estimates how many bytes Slack keeps for a block: its JSON, with escapes
// for what is not ASCII.
func weigh(b slack.Block) int {
	text, err := json.Marshal(b)
	if err != nil {
		return maxWeight
	}
	weight := len(`,"block_id":"xxxxx"`)
	for len(text) > 0 {
		_, size := utf8.DecodeRune(text)
		switch size {
		case 1:
			weight++
		case 4:
			weight += len(`\ud83d\ude00`)
		default:
			weight += len(`\u0000`)
		}
		text = text[size:]
	}
	return weight
}
