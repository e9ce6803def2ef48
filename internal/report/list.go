package report

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// ListFormats returns the formats of WriteFindings.
func ListFormats() []string { return []string{"table", "wide", "json", "yaml", "csv"} }

// CheckList returns the error that WriteFindings returns for a format and columns; nil for
// valid ones.
func CheckList(format string, columns []string) error {
	if !slices.Contains(ListFormats(), format) {
		return unknownFormat(format, ListFormats())
	}
	if len(columns) > 0 && (format == "json" || format == "yaml") {
		return fmt.Errorf("columns cannot be chosen for the format %s, which has all fields: want table, wide or csv", format)
	}
	_, err := chosen(columns, tableColumns)
	return err
}

// WriteFindings writes one line for each finding, worst first, as a table or as CSV with the
// columns of the options, or all of each as JSON or YAML.
func WriteFindings(w io.Writer, format string, findings []model.Finding, o Options) error {
	if err := CheckList(format, o.Columns); err != nil {
		return err
	}
	return buffered(w, "write findings", func(b *bufio.Writer) error {
		switch format {
		case "json":
			return findingsJSON(b, findings)
		case "yaml":
			return findingsYAML(b, findings)
		case "csv":
			return findingsCSV(b, findings, o.Columns)
		case "wide":
			return listFindings(newTable(b, o), findings, o, wideColumns)
		}
		return listFindings(newTable(b, o), findings, o, tableColumns)
	})
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

func findingsCSV(w *bufio.Writer, findings []model.Finding, names []string) error {
	list, err := chosen(names, csvColumns)
	if err != nil {
		return err
	}
	out, row := csv.NewWriter(w), make([]string, len(list))
	for i, c := range list {
		row[i] = c.name
	}
	err = out.Write(row)
	for _, f := range WorstFirst(findings) {
		if err != nil {
			return err
		}
		for i, c := range list {
			row[i] = csvCell(c.text(f, phrase.Clock{}))
		}
		err = out.Write(row)
	}
	out.Flush()
	return cmp.Or(err, out.Error())
}

// cellStart matches what would begin a cell of a formula where a semicolon separates cells.
var cellStart = regexp.MustCompile(`(;)([=+\-@])`)

// csvCell returns a text that no spreadsheet takes for a formula: an attacker may set names in
// live systems. See https://owasp.org/www-community/attacks/CSV_Injection.
func csvCell(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	text = cellStart.ReplaceAllString(phrase.Visible(text), "$1'$2")
	if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + text
	}
	return text
}

// many is the number of findings above which a list begins with their counts, and up to which a
// report shows all in full.
const many = 20

func listFindings(t *table, findings []model.Finding, o Options, instead string) error {
	if len(findings) == 0 {
		t.line("No findings.")
		return t.emit()
	}
	list, err := chosen(o.Columns, instead)
	if err != nil {
		return err
	}
	sorted, clock := WorstFirst(findings), newClock(o)
	rows := make([][]string, 1, len(findings)+1)
	for _, c := range list {
		rows[0] = append(rows[0], c.header())
	}
	cells := make([]string, len(sorted)*len(list))
	for n, f := range sorted {
		row := cells[n*len(list) : (n+1)*len(list)]
		for i, c := range list {
			row[i] = phrase.Visible(c.text(f, clock))
		}
		rows = append(rows, row)
	}
	if len(o.Columns) == 0 {
		list, rows = withoutNotes(list, rows)
	}
	if len(findings) > many {
		t.prose(bold, "", phrase.Words(phrase.Count(len(findings), "finding")+": "+countsOf(sorted)))
	}
	severity := slices.IndexFunc(list, func(c column) bool { return c.name == "severity" })
	return t.grid(list, rows, func(i, column int, cell string) string {
		if column == severity && i > 0 {
			return t.paint(severityStyle(sorted[i-1].Severity), cell)
		}
		return cell
	})
}

// withoutNotes removes the last column if it is empty.
func withoutNotes(list []column, rows [][]string) ([]column, [][]string) {
	last := len(list) - 1
	if slices.ContainsFunc(rows[1:], func(row []string) bool { return row[last] != "" }) {
		return list, rows
	}
	for i := range rows {
		rows[i] = rows[i][:last]
	}
	return list[:last], rows
}

// countsOf returns the numbers of findings by severity and by verdict: "3 high, 9 medium; 5
// changed, 7 missing".
func countsOf(findings []*model.Finding) string {
	bySeverity, byVerdict := map[model.Severity]int{}, map[model.Verdict]int{}
	for _, f := range findings {
		bySeverity[f.Severity]++
		byVerdict[f.Verdict]++
	}
	return counted(model.Severities(), bySeverity) + "; " + counted(model.Verdicts(), byVerdict)
}

func counted[T ~string](order []T, counts map[T]int) string {
	var parts []string
	for _, v := range order {
		if n := counts[v]; n > 0 {
			parts = append(parts, phrase.Number(n)+" "+string(v))
		}
	}
	return strings.Join(parts, ", ")
}

// widestCell bounds the width to which the cells of a column are padded, and longestCell that of
// a cell without a terminal: the longest names of Kubernetes are shorter.
const (
	widestCell  = 120
	longestCell = 400
)

// widths returns the widths of columns, such that a row fits the terminal. Of the columns that
// may be cut, the widest in relation to its share is cut first. If that is not enough, the last
// columns are cut.
func (t *table) widths(list []column, rows [][]string) []int {
	widths, total := make([]int, len(list)), 2*(len(list)-1)
	var flexible []int
	for i := range list {
		for _, row := range rows {
			widths[i] = max(widths[i], min(phrase.Columns(row[i]), widestCell))
		}
		total += widths[i]
		if list[i].share > 0 {
			flexible = append(flexible, i)
		}
	}
	if t.width == 0 || total <= t.width {
		return widths
	}
	const least = 6
	excess := shrink(widths, flexible, total-t.width, least, func(i int) int { return list[i].share })
	for i := len(widths) - 1; i >= 0 && excess > 0; i-- {
		cut := min(excess, widths[i]-1)
		widths[i], excess = widths[i]-cut, excess-cut
	}
	return widths
}

// shrink takes excess from the widths of columns, a part at a time from the widest in relation
// to its share, and returns the excess that is left when all have the least width.
func shrink(widths, columns []int, excess, least int, share func(int) int) int {
	wide := slices.DeleteFunc(slices.Clone(columns), func(i int) bool { return widths[i] <= least })
	for ; excess > 0 && len(wide) > 0; excess-- {
		widest := slices.MaxFunc(wide, func(a, b int) int { return cmp.Compare(widths[a]*share(b), widths[b]*share(a)) })
		if widths[widest]--; widths[widest] == least {
			wide = slices.DeleteFunc(wide, func(i int) bool { return i == widest })
		}
	}
	return max(excess, 0)
}

// grid writes rows of columns, the first of which is the header; mark returns a cell as it is to
// be shown. On a terminal, cells are cut such that no row is wrapped.
func (t *table) grid(list []column, rows [][]string, mark func(row, column int, cell string) string) error {
	widths := t.widths(list, rows)
	for i, row := range rows {
		last := len(row) - 1
		for last > 0 && row[last] == "" {
			last--
		}
		for j, cell := range row[:last+1] {
			cell = t.cut(&list[j], cell, widths[j])
			if j < last {
				t.WriteString(mark(i, j, pad(cell, widths[j])) + "  ")
			} else {
				t.line(mark(i, j, cell))
			}
		}
		if err := t.emit(); err != nil {
			return err
		}
	}
	return nil
}

// cut returns a cell cut to the width of its column on a terminal.
func (t *table) cut(c *column, cell string, width int) string {
	switch {
	case t.width == 0:
		return phrase.Clip(cell, longestCell)
	case c.end:
		return phrase.ClipMiddle(cell, width)
	}
	return phrase.Clip(cell, width)
}
