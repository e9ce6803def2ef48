package report

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// markdownLimit bounds a value in Markdown, in columns.
const markdownLimit = 240

// A markdown document is in GitHub's dialect. All foreign data is in code, which
// contains no links, mentions and tags.
type markdown struct{ strings.Builder }

func writeMarkdown(w *bufio.Writer, r *model.Report, o Options) error {
	out := newOutline(r, newClock(o))
	m := &markdown{}
	text, _ := out.headline()
	m.printf("**%s** — %s\n", text, out.scan().Render(code))
	if missing := out.listed(); missing != "" {
		m.printf("\n%s\n", missing)
	}
	if err := m.blocks(w, out, out.groups); err != nil {
		return err
	}
	if len(out.resolved) > 0 {
		m.printf("\n## Resolved\n")
	}
	if err := m.blocks(w, out, groupsOf(out.resolved)); err != nil {
		return err
	}
	m.phrases("Unchecked", out.unchecked())
	m.phrases("Not fully read", out.unread())
	m.phrases("Not judged", out.notJudged())
	m.phrases("Not governed", out.notGoverned())
	m.phrases("Compared", out.tallies())
	return m.emit(w)
}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.Builder, format, args...) }

func (m *markdown) emit(w *bufio.Writer) error {
	_, err := w.WriteString(m.String())
	m.Reset()
	return err
}

func (m *markdown) blocks(w *bufio.Writer, out *outline, all []group) error {
	for b := range out.blocks(all) {
		m.block(&b)
		if err := m.emit(w); err != nil {
			return err
		}
	}
	return nil
}

func (m *markdown) phrases(title string, phrases []phrase.Phrase) {
	if len(phrases) == 0 {
		return
	}
	m.printf("\n## %s\n\n", title)
	for _, p := range phrases {
		m.printf("- %s\n", p.Render(code))
	}
}

func (m *markdown) block(b *Block) {
	resource := b.Kind + " " + b.Resource
	if b.Name != "" {
		resource += " (" + b.Name + ")"
	}
	m.printf("\n### %s %s: %s\n\n", word(strings.ToUpper(string(b.Severity))), word(b.VerdictText), code(resource))
	m.printf("%s (finding %s)", b.Where.Render(code), code(b.ID))
	if len(b.Who) > 0 {
		m.printf("  \n%s", b.Who.Render(code))
	}
	if len(b.Standing) > 0 {
		m.printf("  \n%s", b.Standing.Render(code))
	}
	if b.Reason != "" {
		m.printf("  \nnote: %s", code(b.Reason))
	}
	m.links(b.Links)
	m.printf("\n")
	m.rows(b.Fields)
	for i := range b.Fields {
		switch f := b.Fields[i].Cut(markdownLimit); {
		case len(f.Claims) > 0:
			m.claims(&f)
		case len(f.Lines) > 0:
			m.text(&f)
		}
	}
	if b.More > 0 {
		m.printf("\n%s\n", b.Rest().Render(code))
	}
	if len(b.Alike) > 0 {
		m.printf("\n%s\n", b.Alike.Render(code))
	}
}

// links writes links to web pages. Their addresses are escaped, so that they end at the bracket.
func (m *markdown) links(all []model.Link) {
	for i, l := range all {
		before := ", "
		if i == 0 {
			before = "  \nPages: "
		}
		m.printf("%s[%s](<%s>)", before, l.To, l.URL)
	}
}

// pageOf returns a link to a web page; "" without an address.
func pageOf(address string) string {
	if address == "" {
		return ""
	}
	return fmt.Sprintf(" ([%s](<%s>))", model.LinkDeclared, address)
}

// claims writes the values of a disputed field as a table.
func (m *markdown) claims(f *phrase.Field) {
	m.heading(f, f.Disagreement())
	m.printf("\n\n| | says | where | last set |\n| --- | --- | --- | --- |\n")
	for _, c := range f.Claims {
		m.printf("| %s | %s | %s%s | %s |\n", code(c.Declaration), code(c.Text), c.At().Render(code), pageOf(c.URL), c.Actor.Render(code))
	}
	m.printf("| %s | %s | | %s |\n", code(f.Sides[0].Label), code(f.Sides[0].Text), f.LiveActor.Render(code))
}

// heading writes the name and the remark of a field that has no row.
func (m *markdown) heading(f *phrase.Field, text string) {
	m.printf("\n%s: %s", pathCode(f), text)
	if len(f.Remark) > 0 {
		m.printf(", %s", f.Remark.Render(code))
	}
}

// rows writes the fields whose values have one line.
func (m *markdown) rows(fields []phrase.Field) {
	head := "\n| field | declared → live |\n| --- | --- |\n"
	for i := range fields {
		if len(fields[i].Lines)+len(fields[i].Claims) > 0 {
			continue
		}
		f := fields[i].Cut(markdownLimit)
		m.printf("%s| %s | %s |\n", head, pathCode(&f), cell(&f))
		head = ""
	}
}

func pathCode(f *phrase.Field) string {
	if f.LivePath == "" {
		return code(f.Path)
	}
	return code(f.Path) + " (live: " + code(f.LivePath) + ")"
}

func cell(f *phrase.Field) string {
	if len(f.Remark) > 0 {
		return f.Inline(code) + ", " + f.Remark.Render(code)
	}
	return f.Inline(code)
}

// text writes the difference of a text as a fenced block that the text cannot end.
func (m *markdown) text(f *phrase.Field) {
	fence := "```"
	for _, l := range f.Lines {
		fence = max(fence, strings.Repeat("`", longestRun(l.Text, '`')+1))
	}
	m.heading(f, f.Legend())
	m.printf("\n\n%sdiff\n", fence)
	for _, l := range f.Lines {
		if l.Op == '~' {
			m.printf("@@ %s @@\n", phrase.Count(l.Gap, "line"))
		} else {
			m.printf("%s\n", strings.TrimRight(l.Sign()+" "+l.Text, " "))
		}
	}
	m.printf("%s\n", fence)
}

func longestRun(s string, char rune) int {
	longest, n := 0, 0
	for _, r := range s {
		if r != char {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

// word returns a fixed word as it is, and other text as code.
func word(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == "" {
		return s
	}
	return code(s)
}

// code writes visible text as code: between backticks where these are enough,
// else with each special character as a character reference.
func code(s string) string {
	if s == "" {
		s = "(none)"
	}
	if !strings.ContainsAny(s, "`|<>&\\") && strings.TrimSpace(s) == s {
		return "`" + s + "`"
	}
	var b strings.Builder
	b.WriteString("<code>")
	for _, r := range s {
		if r < 0x80 && strings.ContainsRune("!\"#$%&'()*+.:;<=>?@[\\]^_`{|}~", r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	b.WriteString("</code>")
	return b.String()
}
