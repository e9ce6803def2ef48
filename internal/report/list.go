package report

import (
	"bufio"
	"io"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// WriteFindings writes one line for each finding, worst first, as a table, or
// all of each as JSON.
func WriteFindings(w io.Writer, format string, findings []model.Finding, o Options) error {
	return choose(w, format, "write findings",
		func(b *bufio.Writer) error { return listFindings(newTable(b, o), worstFirst(findings), newClock(o)) },
		func(b *bufio.Writer) error { return findingsJSON(b, findings) })
}

func findingsJSON(w *bufio.Writer, findings []model.Finding) error {
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	e.open("findings", "[")
	for _, f := range worstFirst(findings) {
		e.value("", public(f))
	}
	e.close("]")
	e.close("}")
	return e.err
}

func listFindings(t *table, findings []*model.Finding, c clock) error {
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
			t.WriteString(mark(i, j, pad(clip(cell, widths[j]), widths[j])) + "  ")
		}
		t.line(mark(i, last, clip(row[last], widths[last])))
		if err := t.emit(); err != nil {
			return err
		}
	}
	return nil
}

func listRow(f *model.Finding, c clock) []string {
	resource := visible(f.Source + " " + shortKind(f.Kind) + " " + called(f))
	since := "unknown"
	if !utc(f.FirstSeen).IsZero() {
		since = c.when(f.FirstSeen)
	}
	return []string{visible(f.ID), visible(string(f.Severity)), visible(f.VerdictText()), resource, since, note(f, c).String()}
}

// note says in a few words how it stands with a finding.
func note(f *model.Finding, c clock) Phrase {
	p := Phrase{}
	if !f.Resolved.IsZero() {
		p = closed(f).say(" " + c.when(f.Resolved))
	}
	if f.Hidden != "" {
		p = p.then(Phrase{}.say("hidden"))
	}
	if d := f.Decision; d != nil {
		p = p.then(Phrase{}.say(d.Kind.Participle() + " " + until(d)))
	}
	if f.Flapping {
		p = p.then(Phrase{}.say("flapping"))
	}
	if f.Owner != "" {
		p = p.then(Phrase{}.say("owner ").quote(f.Owner))
	}
	return p
}

// until says when a decision ends.
func until(d *model.Decision) string { return Phrase{}.until(d).String() }

// widestCell is how many columns a cell takes at most, others standing behind
// it.
const widestCell = 120

// fitColumns returns the widths of columns; where a row would be wider than
// the table, the column of resources gives way, though not for all that the last
// column may say.
func (t *table) fitColumns(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	last := len(widths) - 1
	for _, row := range rows {
		for j, cell := range row {
			most := widestCell
			if j == last {
				most = pipeLimit
			}
			widths[j] = max(widths[j], min(columns(cell), most))
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

// clip shortens a name to so many columns.
func clip(s string, limit int) string {
	if columns(s) <= limit {
		return s
	}
	return fit(s, limit-1) + ellipsis
}
