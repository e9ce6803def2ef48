package report

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// mostLines bounds the lines gone, and the lines new, that a report shows of one
// text.
const mostLines = 8

// pipeLimit is how many columns of a value a table without a width shows.
const pipeLimit = 300

// A table writes plain text, one part at a time.
type table struct {
	bytes.Buffer
	w     *bufio.Writer
	color bool
	width int
	// verdicts is the width of the column of verdicts.
	verdicts int
	// whole shows values and texts uncut.
	whole bool
}

func newTable(w *bufio.Writer, o Options) *table {
	return &table{w: w, color: o.Color, width: o.Width}
}

// emit hands on what has been written so far.
func (t *table) emit() error {
	_, err := t.WriteTo(t.w)
	return err
}

// line writes the parts, and ends the line.
func (t *table) line(parts ...string) {
	for _, part := range parts {
		t.WriteString(part)
	}
	t.WriteByte('\n')
}

// prose writes a phrase, broken into lines where it is too long for one. The
// lines after the first stand further in than any line of another meaning.
func (t *table) prose(st style, indent string, p Phrase) {
	if len(p) == 0 {
		return
	}
	for _, line := range wrap(p.String(), t.width, indent, indent+"      ") {
		t.line(t.paint(st, line))
	}
}

func writeTable(w *bufio.Writer, r *model.Report, o Options) error {
	out, t := newOutline(r, o), newTable(w, o)
	for i := range r.Findings {
		t.verdicts = max(t.verdicts, len(r.Findings[i].VerdictText()))
	}
	t.headline(out)
	if err := t.blocks(out, out.crowds); err != nil {
		return err
	}
	t.section("Resolved", len(out.resolved))
	if err := t.blocks(out, crowds(out.resolved)); err != nil {
		return err
	}
	t.phrases("Unchecked", out.unchecked())
	t.phrases("Not fully read", out.unread())
	t.phrases("Not judged", out.notJudged())
	t.phrases("Not governed", out.notGoverned())
	t.phrases("Compared", out.tallies())
	return t.emit()
}

func (t *table) headline(out *outline) {
	said, calm := out.headline()
	st := bold
	if calm {
		st = green
	}
	t.line(t.paint(st, said), " — ", out.scan().String())
	if missing := out.listed(); missing != "" {
		t.line(t.paint(bold, missing))
	}
}

func (t *table) section(title string, n int) {
	if n > 0 {
		t.line()
		t.line(t.paint(bold, title))
	}
}

func (t *table) phrases(title string, phrases []Phrase) {
	t.section(title, len(phrases))
	for _, p := range phrases {
		t.prose(plain, "  ", p)
	}
}

func (t *table) blocks(out *outline, all []crowd) error {
	for b := range out.blocks(all) {
		t.line()
		t.block(&b)
		if err := t.emit(); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) block(b *Block) {
	const widest = len("critical")
	severity := strings.ToUpper(string(b.Severity))
	t.WriteString(t.paint(severityStyle(b.Severity), pad(severity, widest)) + "  ")
	t.WriteString(pad(b.VerdictText, t.verdicts) + "  ")
	t.WriteString(b.Kind + " " + t.paint(bold, clip(b.Resource, pipeLimit)))
	if b.Name != "" {
		t.WriteString(" (" + clip(b.Name, pipeLimit) + ")")
	}
	t.line("  ", t.paint(dim, b.ID))
	t.prose(plain, "  ", b.Where)
	t.prose(plain, "  ", b.Who)
	t.prose(plain, "  ", b.Standing)
	if b.Reason != "" {
		t.prose(dim, "  ", Phrase{}.say("note: "+b.Reason))
	}
	t.fields(b.Fields)
	t.prose(dim, "    ", b.Rest())
	t.prose(bold, "  ", b.Alike)
}

func (t *table) fields(fields []Field) {
	for i := range fields {
		t.field("    ", &fields[i])
	}
}

func (t *table) field(indent string, f *Field) {
	path := f.Path
	if f.LivePath != "" {
		path += " (live: " + f.LivePath + ")"
	}
	switch {
	case len(f.Claims) > 0:
		t.line(indent, path, ": ", disagreement(f))
		t.claims(indent+"  ", f)
	case len(f.Lines) > 0:
		t.line(indent, path, ": ", legend(f))
		t.lines(indent+"  ", f.Lines)
	default:
		t.sides(indent, path, f)
	}
	t.prose(dim, indent+"  ", f.Who)
}

// sides writes a field on one line, or on one line a side where that is too
// long.
func (t *table) sides(indent, path string, f *Field) {
	if t.width == 0 && !t.whole {
		short := f.short(pipeLimit)
		f = &short
	}
	said := inline(f, func(s string) string { return s })
	if t.width == 0 || columns(indent+path+": "+said) <= t.width {
		t.line(indent, path, ": ", inline(f, func(s string) string { return t.paint(bold, s) }))
		return
	}
	t.line(indent, path, ":")
	same := shared(f.Sides[0].Text, f.Sides[1].Text)
	for _, s := range f.Sides {
		label := indent + "  " + pad(s.Label, len("declared")) + "  "
		t.line(label, cut(s.Text, t.limit(label), same))
	}
	if f.Same {
		t.line(indent, "  a secret in it changed")
	}
}

// inline says a field's sides in one line.
func inline(f *Field, mark func(string) string) string {
	from, live := f.Sides[0], f.Sides[1]
	switch {
	case f.Same && live.Text == model.SecretText:
		return mark(live.Text) + " changed"
	case f.Same:
		return mark(live.Text) + " (a secret in it changed)"
	}
	said := mark(from.Text)
	if from.Label == "recorded" {
		said += " (" + from.Label + ")"
	}
	said += arrow + mark(live.Text)
	return said + f.aside(func(s Side) string { return s.Label + " " + mark(s.Text) })
}

// inlineClaims says in one line what each declaration says of a field.
func inlineClaims(f *Field, mark func(string) string) string {
	said := make([]string, len(f.Claims), len(f.Claims)+1)
	for i, c := range f.Claims {
		said[i] = mark(c.Declaration) + " says " + mark(c.Text)
		if at := c.At().mark(mark); at != "" {
			said[i] += " (" + at + ")"
		}
	}
	return strings.Join(append(said, f.Sides[0].Label+" "+mark(f.Sides[0].Text)), ", ")
}

// limit is the room for a value after what already stands on its line.
func (t *table) limit(before string) int {
	switch {
	case t.whole:
		return 0
	case t.width == 0:
		return pipeLimit
	}
	return max(t.width-columns(before), 20)
}

// legend says which sides the lines of a difference belong to.
func legend(f *Field) string {
	said := "- " + f.Sides[0].Label + ", + " + f.Sides[1].Label
	return said + f.aside(func(s Side) string { return s.Label + " differs from both" })
}

// lines writes the difference of texts.
func (t *table) lines(indent string, all []Line) {
	if !t.whole {
		all = shorten(all, mostLines)
	}
	for _, l := range all {
		t.textLine(indent, l)
	}
}

func (t *table) textLine(indent string, l Line) {
	if l.Op == '~' {
		t.line(indent, t.paint(dim, ellipsis+" "+count(l.Gap, "line")))
		return
	}
	text := indent + l.Sign() + " " + cut(l.Text, t.limit(indent+"  "), l.From)
	switch l.Op {
	case '-':
		text = t.paint(red, text)
	case '+':
		text = t.paint(green, text)
	}
	t.line(strings.TrimRight(text, " "))
}

// disagreement says how many declarations say something of a field.
func disagreement(f *Field) string {
	names := map[string]bool{}
	for _, c := range f.Claims {
		names[c.Declaration] = true
	}
	return count(len(names), "declaration") + " disagree"
}

// widestPadded is the number of columns up to which values that stand below one
// another are made equally wide.
const widestPadded = 40

// claims writes, below one another, what each declaration says of a disputed
// field, and what is live.
func (t *table) claims(indent string, f *Field) {
	live := f.Sides[0]
	labels, values := columns(live.Label), columns(live.Text)
	for _, c := range f.Claims {
		labels, values = max(labels, columns(c.Declaration)), max(values, columns(c.Text))
	}
	if values > widestPadded {
		values = 0
	}
	for _, c := range f.Claims {
		label, at := indent+pad(c.Declaration, labels)+"  ", c.At().String()
		if at != "" {
			at = "  (" + at + ")"
		}
		text := cut(c.Text, t.limit(label+at), 0)
		if at != "" {
			at = strings.Repeat(" ", max(0, values-columns(text))) + at
		}
		t.line(label, t.paint(bold, text), t.paint(dim, at))
		t.prose(dim, indent+"  ", c.Who)
	}
	label := indent + pad(live.Label, labels) + "  "
	t.line(label, t.paint(bold, cut(live.Text, t.limit(label), 0)))
	t.prose(dim, indent+"  ", f.LiveWho)
}
