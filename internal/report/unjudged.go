package report

import (
	"bufio"
	"io"

	"github.com/driftd/driftd/internal/model"
)

// notJudged returns one phrase for each reason why live resources that no
// declaration claims were not judged.
func (o *outline) notJudged() []Phrase {
	all := o.report.Scan.NotJudged
	phrases := make([]Phrase, len(all))
	for i := range all {
		phrases[i] = notJudgedPhrase(&all[i])
	}
	if last := len(all) - 1; last >= 0 {
		phrases[last] = phrases[last].say("; driftd findings --not-judged lists all")
	}
	return phrases
}

// notJudgedPhrase returns how many resources were not judged, and why. The reason why a
// part of a declaration cannot be read is in the report's list of unchecked parts.
func notJudgedPhrase(n *model.NotJudged) Phrase {
	p := Phrase{}.say(count(n.Count, "resource") + " in ").quote(n.Source)
	if n.Older {
		return p.say(", in no governed namespace and older than the first complete scan")
	}
	return p.say(" may be declared in ").quote(n.Address).say(" (").quote(n.Declaration).say("), which cannot be read")
}

// notGoverned returns one phrase for each place that no declaration governs
// although one puts objects into it.
func (o *outline) notGoverned() []Phrase {
	all := o.report.Scan.NotGoverned
	phrases := make([]Phrase, len(all))
	for i, n := range all {
		phrases[i] = Phrase{}.quote(n.Place).say(" in ").quote(n.Source).say(" is not governed: ").quote(n.Remedy)
	}
	return phrases
}

// WriteNotJudged writes the live resources that were not judged and the places that are
// not governed, as a table or as JSON.
func WriteNotJudged(w io.Writer, format string, scan model.Scan, o Options) error {
	return choose(w, format, "write what was not judged",
		func(b *bufio.Writer) error { return showNotJudged(newTable(b, o), scan, o) },
		func(b *bufio.Writer) error { return notJudgedJSON(b, scan) })
}

func notJudgedJSON(w *bufio.Writer, scan model.Scan) error {
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	e.value("not_judged", append([]model.NotJudged{}, scan.NotJudged...))
	e.value("not_governed", append([]model.NotGoverned{}, scan.NotGoverned...))
	e.close("}")
	return e.err
}

func showNotJudged(t *table, scan model.Scan, o Options) error {
	out := newOutline(&model.Report{Scan: scan}, o)
	held, older := 0, 0
	for i := range scan.NotJudged {
		if n := &scan.NotJudged[i]; n.Older {
			older += n.Count
		} else {
			held += n.Count
		}
	}
	t.line(t.paint(bold, count(held, "resource")+" not judged, "+thousands(older)+" older than the first complete scan"))
	for i := range scan.NotJudged {
		n := &scan.NotJudged[i]
		t.line()
		p := notJudgedPhrase(n)
		if !n.Older {
			p = p.say(": ").quote(n.Reason)
		}
		t.prose(plain, "  ", p)
		for _, r := range n.Resources {
			p := Phrase{}.quote(shortKind(r.Kind)).say(" ").quote(r.ID)
			if r.Watched != "" {
				p = p.say(": ").quote(r.Watched)
			}
			t.prose(dim, "    ", p)
		}
		if more := n.Count - len(n.Resources); more > 0 {
			t.line("    and ", thousands(more), " more")
		}
	}
	t.phrases("Not governed", out.notGoverned())
	return t.emit()
}
