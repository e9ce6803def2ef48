package report

import (
	"github.com/driftd/driftd/internal/phrase"
)

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
