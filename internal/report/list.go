package report

import (
	"bufio"
	"io"
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// WriteFindings writes one line for each finding, worst first, as a table, or
// all of each as JSON.
func WriteFindings(w io.Writer, format string, findings []model.Finding, o Options) error {
	return choose(w, format, "write findings",
		func(b *bufio.Writer) error { return listFindings(newTable(b, o), WorstFirst(findings), newClock(o)) },
		func(b *bufio.Writer) error { return findingsJSON(b, findings) })
}

func findingsJSON(w *bufio.Writer, findings []model.Finding) error {
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	e.open("findings", "[")
	for _, f := range WorstFirst(findings) {
		e.value("", public(f))
	}
	e.close("]")
	e.close("}")
	return e.err
}

func listFindings(t *table, findings []*model.Finding, c phrase.Clock) error {
	if len(findings) == 0 {
		t.line("No findings.")
		return t.emit()
	}
	rows := make([][]string, 0, len(findings)+1)
	rows = append(rows, []string{"ID", "SEVERITY", "VERDICT", "RESOURCE", "FIRST SEEN", "NOTE"})
	for _, f := range findings {
		rows = append(rows, listRow(f, c))
	}
	noted := func(row []string) bool { return row[len(row)-1] != "" }
	if !slices.ContainsFunc(rows[1:], noted) {
		for i := range rows {
			rows[i] = rows[i][:len(rows[i])-1]
		}
	}
	return t.rows(rows, func(i, column int, cell string) string {
		if column == 1 && i > 0 {
			return t.paint(severityStyle(findings[i-1].Severity), cell)
		}
		return cell
	})
}

// rows writes rows of equal length, the first of which names the columns; mark
// returns a cell as it is to be shown.
func (t *table) rows(rows [][]string, mark func(row, column int, cell string) string) error {
	widths := t.fitColumns(rows)
	for i, row := range rows {
		last := len(row) - 1
		for last > 0 && row[last] == "" {
			last--
		}
		for j, cell := range row[:last] {
			t.WriteString(mark(i, j, pad(phrase.Clip(cell, widths[j]), widths[j])) + "  ")
		}
		t.line(mark(i, last, phrase.Clip(row[last], widths[last])))
		if err := t.emit(); err != nil {
			return err
		}
	}
	return nil
}

func listRow(f *model.Finding, c phrase.Clock) []string {
	resource := phrase.Visible(f.Source + " " + phrase.Kind(f.Kind) + " " + phrase.Resource(f))
	since := "unknown"
	if !phrase.UTC(f.FirstSeen).IsZero() {
		since = c.Time(f.FirstSeen)
	}
	return []string{phrase.Visible(f.ID), phrase.Visible(string(f.Severity)), phrase.Visible(f.VerdictText()), resource, since, note(f, c).String()}
}

// note returns the status of a finding in a few words.
func note(f *model.Finding, c phrase.Clock) phrase.Phrase {
	p := phrase.Phrase{}
	if !f.Resolved.IsZero() {
		p = phrase.Closed(f).Words(" ").Time(c, f.Resolved)
	}
	if f.Hidden != "" {
		p = p.Then(phrase.Words("hidden"))
	}
	if d := f.Decision; d != nil {
		p = p.Then(phrase.Words(d.Kind.Participle() + " " + until(d)))
	}
	if f.Flapping {
		p = p.Then(phrase.Words("flapping"))
	}
	if f.Owner != "" {
		p = p.Then(phrase.Words("owner ").Data(f.Owner))
	}
	return p
}

// until returns when a decision ends.
func until(d *model.Decision) string { return phrase.Phrase{}.Until(d).String() }

// widestCell bounds the width of a cell that is not the last one.
const widestCell = 120

// fitColumns returns the widths of columns. Where a row would be wider than the table,
// the column of resources becomes narrower, but not to fit all of the last column.
func (t *table) fitColumns(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	last := len(widths) - 1
	for _, row := range rows {
		for j, cell := range row {
			most := widestCell
			if j == last {
				most = pipeLimit
			}
			widths[j] = max(widths[j], min(phrase.Columns(cell), most))
		}
	}
	const resources, least, leastLast = 3, 20, 30
	total := 2*last + min(widths[last], leastLast)
	for _, n := range widths[:last] {
		total += n
	}
	if t.width > 0 && total > t.width {
		widths[resources] = min(widths[resources], max(least, widths[resources]-(total-t.width)))
	}
	return widths
}
