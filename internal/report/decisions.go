package report

import (
	"bufio"
	"cmp"
	"io"
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// WriteDecisions writes decisions as a table or as JSON: active ones first, in order of their end.
func WriteDecisions(w io.Writer, format string, entries []model.DecisionStatus, o Options) error {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b model.DecisionStatus) int {
		return cmp.Or(model.CompareBool(len(a.Holds) == 0, len(b.Holds) == 0), model.CompareBool(a.Until.IsZero(), b.Until.IsZero()),
			a.Until.Compare(b.Until), cmp.Compare(a.ID, b.ID))
	})
	return choose(w, format, "write decisions",
		func(b *bufio.Writer) error { return listDecisions(newTable(b, o), entries) },
		func(b *bufio.Writer) error { return decisionsJSON(b, entries) })
}

func decisionsJSON(w *bufio.Writer, entries []model.DecisionStatus) error {
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	e.open("decisions", "[")
	for i := range entries {
		d := entries[i]
		d.At, d.Until, d.Replaced, d.Changes = phrase.UTC(d.At), phrase.UTC(d.Until), phrase.UTC(d.Replaced), nil
		e.value("", d)
	}
	e.close("]")
	e.close("}")
	return e.err
}

func listDecisions(t *table, entries []model.DecisionStatus) error {
	if len(entries) == 0 {
		t.line("No decisions.")
		return t.emit()
	}
	rows := [][]string{{"ID", "KIND", "HOLDS", "ABOUT", "BY", "UNTIL", "REASON"}}
	for i := range entries {
		rows = append(rows, decisionRow(&entries[i]))
	}
	return t.rows(rows, func(_, _ int, cell string) string { return cell })
}

func decisionRow(d *model.DecisionStatus) []string {
	about := phrase.Kind(d.Subject.Kind) + " " + d.Subject.ID
	if d.Subject.Source != "" {
		about = d.Subject.Source + " " + about
	}
	if d.Subject.Verdict != "" {
		about += " " + d.Subject.VerdictText()
	}
	if d.Covers > 0 {
		about = "baseline of " + phrase.Count(d.Covers, "finding")
	}
	end := "forever"
	if !d.Until.IsZero() {
		end = phrase.Stamp(d.Until)
	}
	return []string{phrase.Visible(d.ID), phrase.Visible(string(d.Kind)), holds(d), phrase.Visible(about), phrase.Visible(phrase.Phrase{}.Person(d.By).String()), end, phrase.Visible(d.Reason)}
}

// holds returns the finding that a decision applies to, or why it applies to none.
func holds(d *model.DecisionStatus) string {
	switch {
	case len(d.Holds) == 1:
		return phrase.Visible(d.Holds[0])
	case len(d.Holds) > 1:
		return phrase.Count(len(d.Holds), "finding")
	case d.Why != "":
		return "no: " + phrase.Visible(d.Why)
	}
	return "no"
}
