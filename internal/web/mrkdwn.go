package web

import (
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/phrase"
)

// A bit is a piece of a message in Slack's mrkdwn, in one style. Its text is visible. Only the text
// of a block has line breaks.
type bit struct {
	Text                            string
	Bold, Italic, Strike, Code, Pre bool
	// Break reports the end of a line.
	Break bool
	// URL is set for a link: over http or https, or to a page of this site.
	URL string
}

// maxMarks bounds the parsed text of one part, in bytes.
const maxMarks = 12000

// readMarks parses a text as Slack displays it. Characters that are not valid markup are text.
func readMarks(text string, now time.Time) []bit {
	if len(text) > maxMarks {
		text = strings.ToValidUTF8(text[:maxMarks], "")
	}
	m := &marks{rest: text, now: now}
	for m.rest != "" {
		m.next()
	}
	m.flush()
	return m.bits
}

// marks is the state of parsing a text.
type marks struct {
	rest  string
	now   time.Time
	plain strings.Builder
	// last is the character before rest.
	last  rune
	style bit
	bits  []bit
}

// next parses one markup element or one character.
func (m *marks) next() {
	switch {
	case strings.HasPrefix(m.rest, "```"):
		if m.enclosed("```", func(b *bit) { b.Pre = true }) {
			return
		}
	case m.rest[0] == '`':
		if m.enclosed("`", func(b *bit) { b.Code = true }) {
			return
		}
	case m.rest[0] == '<':
		if m.link() {
			return
		}
	case m.rest[0] == '\n':
		m.flush()
		m.bits = append(m.bits, bit{Break: true})
		m.skip(1)
		return
	}
	if m.toggle() || m.emoji() || m.entity() {
		return
	}
	_, size := utf8.DecodeRuneInString(m.rest)
	m.plain.WriteString(m.rest[:size])
	m.skip(size)
}

func (m *marks) skip(size int) {
	m.last, _ = utf8.DecodeLastRuneInString(m.rest[:size])
	m.rest = m.rest[size:]
}

// flush ends a piece of text.
func (m *marks) flush() {
	if m.plain.Len() == 0 {
		return
	}
	b := m.style
	b.Text = phrase.Visible(m.plain.String())
	m.bits = append(m.bits, b)
	m.plain.Reset()
}

// enclosed parses verbatim text between two marks.
func (m *marks) enclosed(mark string, style func(*bit)) bool {
	inside, _, found := strings.Cut(m.rest[len(mark):], mark)
	if !found || inside == "" || mark == "`" && strings.Contains(inside, "\n") {
		return false
	}
	m.flush()
	lines := strings.Split(strings.Trim(inside, "\n"), "\n")
	for i := range lines {
		lines[i] = phrase.Visible(unescape(lines[i]))
	}
	b := m.style
	style(&b)
	b.Text = strings.Join(lines, "\n")
	m.bits = append(m.bits, b)
	m.skip(len(inside) + 2*len(mark))
	return true
}

// toggle begins or ends bold, italic or struck-out text. A mark must be next to a character that is
// not part of a word, and must be closed on its line.
func (m *marks) toggle() bool {
	on := map[byte]*bool{'*': &m.style.Bold, '_': &m.style.Italic, '~': &m.style.Strike}[m.rest[0]]
	if on == nil {
		return false
	}
	after, _ := utf8.DecodeRuneInString(m.rest[1:])
	if *on {
		if inWord(after) || unicode.IsSpace(m.last) {
			return false
		}
	} else {
		line, _, _ := strings.Cut(m.rest[1:], "\n")
		if inWord(m.last) || m.rest[1:] == "" || unicode.IsSpace(after) || strings.LastIndexByte(line, m.rest[0]) < 1 {
			return false
		}
	}
	m.flush()
	*on = !*on
	m.skip(1)
	return true
}

func inWord(r rune) bool {
	return r != 0 && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// link parses <address|words> and <!date^…|words>. Mentions remain text.
func (m *marks) link() bool {
	inside, _, found := strings.Cut(m.rest[1:], ">")
	if !found || strings.ContainsAny(inside, "<\n") {
		return false
	}
	target, words, named := strings.Cut(inside, "|")
	m.flush()
	b := m.style
	switch {
	case strings.HasPrefix(target, "!date^"):
		b.Text = m.date(target, words)
	case strings.HasPrefix(target, "!"), strings.HasPrefix(target, "@"), strings.HasPrefix(target, "#"):
		if b.Text = words; !named {
			b.Text = target
		}
	default:
		b.URL = safeURL(unescape(target))
		if b.Text = words; !named {
			b.Text = target
		}
	}
	b.Text = phrase.Visible(unescape(b.Text))
	m.bits = append(m.bits, b)
	m.skip(len(inside) + 2)
	return true
}

// date formats <!date^seconds^form|words>, which Slack shows in the reader's time zone.
func (m *marks) date(target, words string) string {
	part := strings.Split(target, "^")
	seconds, err := strconv.ParseInt(part[1], 10, 64)
	if err != nil || len(part) < 3 {
		return words
	}
	at := time.Unix(seconds, 0).UTC()
	date, long, clock := at.Format("2 Jan 2006"), at.Format("Monday, 2 January 2006"), at.Format("15:04 UTC")
	ago := at.Format("2 Jan 15:04 UTC")
	if age := m.now.Sub(at); age >= 0 {
		ago = phrase.Ago(age)
	}
	return strings.NewReplacer("{date_num}", at.Format(time.DateOnly), "{date_long_pretty}", long, "{date_long}", long,
		"{date_short_pretty}", date, "{date_short}", date, "{date_pretty}", date, "{date}", date,
		"{time_secs}", at.Format("15:04:05 UTC"), "{time}", clock, "{ago}", ago).Replace(part[2])
}

// safeURL returns the address if a link may point to it, otherwise "".
func safeURL(s string) string {
	if strings.HasPrefix(s, "/") {
		if access.LocalPath(s) == s {
			return s
		}
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}

// emoji parses a shortcode that driftd's messages use.
func (m *marks) emoji() bool {
	if m.rest[0] != ':' {
		return false
	}
	name, _, found := strings.Cut(m.rest[1:], ":")
	sign, known := shortcodes()[name]
	if !found || !known {
		return false
	}
	m.plain.WriteString(sign)
	m.skip(len(name) + 2)
	return true
}

// shortcodes returns the emoji that driftd's messages use, and a few others.
func shortcodes() map[string]string {
	return map[string]string{
		"red_circle": "🔴", "large_orange_circle": "🟠", "large_yellow_circle": "🟡", "large_green_circle": "🟢", "large_blue_circle": "🔵",
		"white_circle": "⚪", "black_circle": "⚫", "large_red_square": "🟥", "large_orange_square": "🟧", "large_yellow_square": "🟨",
		"large_green_square": "🟩", "large_blue_square": "🟦", "white_check_mark": "✅", "heavy_check_mark": "✔", "x": "❌",
		"warning": "⚠", "rotating_light": "🚨", "bell": "🔔", "no_bell": "🔕", "eyes": "👀", "zzz": "💤", "repeat": "🔁",
		"arrows_counterclockwise": "🔄", "information_source": "ℹ", "question": "❓", "hourglass": "⌛", "tada": "🎉", "mag": "🔍", "lock": "🔒",
	}
}

func emojis(s string) string {
	for name, sign := range shortcodes() {
		s = strings.ReplaceAll(s, ":"+name+":", sign)
	}
	return s
}

// entity parses one of the three characters that Slack escapes.
func (m *marks) entity() bool {
	for escaped, plain := range map[string]string{"&lt;": "<", "&gt;": ">", "&amp;": "&"} {
		if strings.HasPrefix(m.rest, escaped) {
			m.plain.WriteString(plain)
			m.skip(len(escaped))
			return true
		}
	}
	return false
}

func unescape(s string) string {
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}
