package report

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// pipeLimit bounds a value in a table without a width, in columns.
const pipeLimit = 300

// A table writes plain text, one part at a time.
type table struct {
	*bytes.Buffer
	w     *bufio.Writer
	color bool
	width int
	// verdicts is the width of the column of verdicts.
	verdicts int
	// whole is set to write values and texts in full.
	whole bool
}

func newTable(w *bufio.Writer, o Options) *table {
	return &table{Buffer: new(bytes.Buffer), w: w, color: o.Color, width: o.Width}
}

// emit flushes the text.
func (t *table) emit() error {
	_, err := t.WriteTo(t.w)
	return err
}

// line writes the parts and a line break.
func (t *table) line(parts ...string) {
	for _, part := range parts {
		t.WriteString(part)
	}
	t.WriteByte('\n')
}

// prose writes a phrase, wrapped where it is too long. The lines after the first are
// indented further than any other text.
func (t *table) prose(st style, indent string, p phrase.Phrase) {
	if len(p) == 0 {
		return
	}
	for _, line := range wrap(p.String(), t.width, indent, indent+"      ") {
		t.line(t.paint(st, line))
	}
}

func writeTable(w *bufio.Writer, r *model.Report, o Options) error {
	out, t := newOutline(r, newClock(o)), newTable(w, o)
	out.flags = o.Flags
	for i := range r.Findings {
		t.verdicts = max(t.verdicts, len(r.Findings[i].VerdictText()))
	}
	t.headline(out)
	if len(out.open) > many {
		var counts tally
		for _, f := range out.open {
			counts.add(f.Severity, f.Verdict)
		}
		t.prose(bold, "", phrase.Words(counts.String()))
	}
	shown, rest := out.most(o.Most)
	if err := t.blocks(out, shown); err != nil {
		return err
	}
	t.rest(rest, out.command("driftd report --all"), o.List)
	t.section("Resolved", len(out.resolved))
	if err := t.blocks(out, groupsOf(out.resolved)); err != nil {
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
	text, calm := out.headline()
	st := bold
	if calm {
		st = green
	}
	t.line(t.paint(st, text), " — ", out.scan().String())
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

func (t *table) phrases(title string, phrases []phrase.Phrase) {
	t.section(title, len(phrases))
	for _, p := range phrases {
		t.prose(plain, "  ", p)
	}
}

func (t *table) blocks(out *outline, all []group) error {
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
	t.WriteString(b.Kind + " " + t.paint(bold, phrase.Clip(b.Resource, pipeLimit)))
	if b.Name != "" {
		t.WriteString(" (" + phrase.Clip(b.Name, pipeLimit) + ")")
	}
	t.line("  ", t.paint(dim, b.ID))
	t.prose(plain, "  ", b.Where)
	t.prose(plain, "  ", b.Who)
	t.prose(plain, "  ", b.Standing)
	if b.Reason != "" {
		t.prose(dim, "  ", phrase.Words("note: "+b.Reason))
	}
	t.fields(b.Fields)
	t.prose(dim, "    ", b.Rest())
	t.prose(bold, "  ", b.Alike)
}

func (t *table) fields(fields []phrase.Field) {
	for i := range fields {
		t.field("    ", &fields[i])
	}
}

func (t *table) field(indent string, f *phrase.Field) {
	path := f.Path
	if f.LivePath != "" {
		path += " (live: " + f.LivePath + ")"
	}
	switch {
	case len(f.Claims) > 0:
		t.line(indent, path, ": ", f.Disagreement())
		t.claims(indent+"  ", f)
	case len(f.Lines) > 0:
		t.line(indent, path, ": ", f.Legend())
		t.lines(indent+"  ", f.Lines)
	default:
		t.sides(indent, path, f)
	}
	t.prose(dim, indent+"  ", f.Remark)
}

// sides writes a field on one line, or each side on its own line where that is too
// long.
func (t *table) sides(indent, path string, f *phrase.Field) {
	if t.width == 0 && !t.whole {
		short := f.Cut(pipeLimit)
		f = &short
	}
	text := f.Inline(func(s string) string { return s })
	if t.width == 0 || phrase.Columns(indent+path+": "+text) <= t.width {
		t.line(indent, path, ": ", f.Inline(func(s string) string { return t.paint(bold, s) }))
		return
	}
	t.line(indent, path, ":")
	for i, s := range f.Sides {
		label := indent + "  " + pad(s.Label, len("declared")) + "  "
		t.line(label, f.CutSide(i, t.limit(label)))
	}
	if f.Same {
		t.line(indent, "  a secret in it changed")
	}
}

// limit returns the room for a value on a line that begins with before.
func (t *table) limit(before string) int {
	switch {
	case t.whole:
		return 0
	case t.width == 0:
		return pipeLimit
	}
	return max(t.width-phrase.Columns(before), 20)
}

// lines writes the difference of texts.
func (t *table) lines(indent string, all []phrase.DiffLine) {
	if !t.whole {
		all = phrase.Shorten(all, phrase.MostLines)
	}
	for _, l := range all {
		t.textLine(indent, l)
	}
}

func (t *table) textLine(indent string, l phrase.DiffLine) {
	if l.Op == '~' {
		t.line(indent, t.paint(dim, phrase.Ellipsis+" "+phrase.Count(l.Gap, "line")))
		return
	}
	text := indent + l.Sign() + " " + phrase.Cut(l.Text, t.limit(indent+"  "), l.From)
	switch l.Op {
	case '-':
		text = t.paint(red, text)
	case '+':
		text = t.paint(green, text)
	}
	t.line(strings.TrimRight(text, " "))
}

// widestPadded is the width up to which values in a column are padded.
const widestPadded = 40

// claims writes the values of a disputed field below one another: one for each
// declaration, and the live one.
func (t *table) claims(indent string, f *phrase.Field) {
	live := f.Sides[0]
	labels, values := phrase.Columns(live.Label), phrase.Columns(live.Text)
	for _, c := range f.Claims {
		labels, values = max(labels, phrase.Columns(c.Declaration)), max(values, phrase.Columns(c.Text))
	}
	if values > widestPadded {
		values = 0
	}
	for _, c := range f.Claims {
		label, at := indent+pad(c.Declaration, labels)+"  ", c.At().String()
		if at != "" {
			at = "  (" + at + ")"
		}
		text := phrase.Cut(c.Text, t.limit(label+at), 0)
		if at != "" {
			at = strings.Repeat(" ", max(0, values-phrase.Columns(text))) + at
		}
		t.line(label, t.paint(bold, text), t.paint(dim, at))
		t.prose(dim, indent+"  ", c.Actor)
	}
	label := indent + pad(live.Label, labels) + "  "
	t.line(label, t.paint(bold, phrase.Cut(live.Text, t.limit(label), 0)))
	t.prose(dim, indent+"  ", f.LiveActor)
}
