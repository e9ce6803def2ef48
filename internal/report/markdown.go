package report

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// markdownLimit is how many columns of a value Markdown shows.
const markdownLimit = 240

// A markdown document in GitHub's dialect. All foreign data stand in code, in
// which nothing is a link, a mention or a tag.
type markdown struct{ strings.Builder }

func writeMarkdown(w *bufio.Writer, r *model.Report, o Options) error {
	out := newOutline(r, o)
	m := &markdown{}
	said, _ := out.headline()
	m.printf("**%s** — %s\n", said, out.scan().mark(code))
	if missing := out.listed(); missing != "" {
		m.printf("\n%s\n", missing)
	}
	if err := m.blocks(w, out, out.crowds); err != nil {
		return err
	}
	if len(out.resolved) > 0 {
		m.printf("\n## Resolved\n")
	}
	if err := m.blocks(w, out, crowds(out.resolved)); err != nil {
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

func (m *markdown) blocks(w *bufio.Writer, out *outline, all []crowd) error {
	for b := range out.blocks(all) {
		m.block(&b)
		if err := m.emit(w); err != nil {
			return err
		}
	}
	return nil
}

func (m *markdown) phrases(title string, phrases []Phrase) {
	if len(phrases) == 0 {
		return
	}
	m.printf("\n## %s\n\n", title)
	for _, p := range phrases {
		m.printf("- %s\n", p.mark(code))
	}
}

func (m *markdown) block(b *Block) {
	resource := b.Kind + " " + b.Resource
	if b.Name != "" {
		resource += " (" + b.Name + ")"
	}
	m.printf("\n### %s %s: %s\n\n", word(strings.ToUpper(string(b.Severity))), word(b.VerdictText), code(resource))
	m.printf("%s (finding %s)", b.Where.mark(code), code(b.ID))
	if len(b.Who) > 0 {
		m.printf("  \n%s", b.Who.mark(code))
	}
	if len(b.Standing) > 0 {
		m.printf("  \n%s", b.Standing.mark(code))
	}
	if b.Reason != "" {
		m.printf("  \nnote: %s", code(b.Reason))
	}
	m.printf("\n")
	m.rows(b.Fields)
	for i := range b.Fields {
		switch f := b.Fields[i].short(markdownLimit); {
		case len(f.Claims) > 0:
			m.claims(&f)
		case len(f.Lines) > 0:
			m.text(&f)
		}
	}
	if b.More > 0 {
		m.printf("\n%s\n", b.Rest().mark(code))
	}
	if len(b.Alike) > 0 {
		m.printf("\n%s\n", b.Alike.mark(code))
	}
}

// claims writes what each declaration says of a field, and what is live, below
// one another.
func (m *markdown) claims(f *Field) {
	m.heading(f, disagreement(f))
	m.printf("\n\n| | says | where | last set |\n| --- | --- | --- | --- |\n")
	for _, c := range f.Claims {
		m.printf("| %s | %s | %s | %s |\n", code(c.Declaration), code(c.Text), c.At().mark(code), c.Who.mark(code))
	}
	m.printf("| %s | %s | | %s |\n", code(f.Sides[0].Label), code(f.Sides[0].Text), f.LiveWho.mark(code))
}

// heading names a field that does not stand in a row, and says who changed it.
func (m *markdown) heading(f *Field, said string) {
	m.printf("\n%s: %s", pathCode(f), said)
	if len(f.Who) > 0 {
		m.printf(", %s", f.Who.mark(code))
	}
}

// rows writes the fields that have one declared and one live value of one line.
func (m *markdown) rows(fields []Field) {
	head := "\n| field | declared → live |\n| --- | --- |\n"
	for i := range fields {
		if len(fields[i].Lines)+len(fields[i].Claims) > 0 {
			continue
		}
		f := fields[i].short(markdownLimit)
		m.printf("%s| %s | %s |\n", head, pathCode(&f), cell(&f))
		head = ""
	}
}

func pathCode(f *Field) string {
	if f.LivePath == "" {
		return code(f.Path)
	}
	return code(f.Path) + " (live: " + code(f.LivePath) + ")"
}

func cell(f *Field) string {
	if len(f.Who) > 0 {
		return inline(f, code) + ", " + f.Who.mark(code)
	}
	return inline(f, code)
}

// text writes the difference of a text as a fenced block that nothing in the
// text can end.
func (m *markdown) text(f *Field) {
	fence := "```"
	for _, l := range f.Lines {
		fence = max(fence, strings.Repeat("`", longestRun(l.Text, '`')+1))
	}
	m.heading(f, legend(f))
	m.printf("\n\n%sdiff\n", fence)
	for _, l := range f.Lines {
		if l.Op == '~' {
			m.printf("@@ %s @@\n", count(l.Gap, "line"))
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

// word returns a word of ours as it is; what is none stands in code.
func word(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") == "" {
		return s
	}
	return code(s)
}

// code writes visible text as code: between backticks where these are enough,
// else with every sign as a character reference, which no dialect reads.
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
