package report

import (
	"bufio"
	"io"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// notJudged returns one phrase for each reason why live resources that no
// declaration claims were not judged.
func (o *outline) notJudged() []phrase.Phrase {
	all := o.report.Scan.NotJudged
	phrases := make([]phrase.Phrase, len(all))
	for i := range all {
		phrases[i] = notJudgedPhrase(&all[i])
	}
	if last := len(all) - 1; last >= 0 {
		phrases[last] = phrases[last].Words("; " + o.command("driftd findings --not-judged") + " lists all")
	}
	return phrases
}

// notJudgedPhrase returns how many resources were not judged, and why. The reason why a
// part of a declaration cannot be read is in the report's list of unchecked parts.
func notJudgedPhrase(n *model.NotJudged) phrase.Phrase {
	p := phrase.Words(phrase.Count(n.Count, "resource") + " in ").Data(n.Source)
	if n.Older {
		return p.Words(", in no governed namespace and older than the first complete scan")
	}
	return p.Words(" may be declared in ").Data(n.Address).Words(" (").Data(n.Declaration).Words("), which cannot be read")
}

// notGoverned returns one phrase for each place that no declaration governs
// although one puts objects into it.
func (o *outline) notGoverned() []phrase.Phrase {
	all := o.report.Scan.NotGoverned
	phrases := make([]phrase.Phrase, len(all))
	for i, n := range all {
		phrases[i] = phrase.Phrase{}.Data(n.Place).Words(" in ").Data(n.Source).Words(" is not governed: ").Data(n.Remedy)
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
	out := newOutline(&model.Report{Scan: scan}, newClock(o))
	held, older := 0, 0
	for i := range scan.NotJudged {
		if n := &scan.NotJudged[i]; n.Older {
			older += n.Count
		} else {
			held += n.Count
		}
	}
	t.line(t.paint(bold, phrase.Count(held, "resource")+" not judged, "+phrase.Number(older)+" older than the first complete scan"))
	for i := range scan.NotJudged {
		n := &scan.NotJudged[i]
		t.line()
		p := notJudgedPhrase(n)
		if !n.Older {
			p = p.Words(": ").Data(n.Reason)
		}
		t.prose(plain, "  ", p)
		for _, r := range n.Resources {
			p := phrase.Phrase{}.Data(phrase.Kind(r.Kind)).Words(" ").Data(r.ID)
			if r.Watched != "" {
				p = p.Words(": ").Data(r.Watched)
			}
			t.prose(dim, "    ", p)
		}
		if more := n.Count - len(n.Resources); more > 0 {
			t.line("    and ", phrase.Number(more), " more")
		}
	}
	t.phrases("Not governed", out.notGoverned())
	return t.emit()
}
