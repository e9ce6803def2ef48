package report

import (
	"bufio"
	"bytes"
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
		}
		lines := make([]line, len(findings))
		for i, f := range WorstFirst(findings) {
			outline := f.Outline()
			lines[i] = line{&outline, f}
		}
		return writeLines(b, format, lines, o)
	})
}

// WriteOutlines writes what WriteFindings writes for the findings of the outlines, unless
// NeedsFindings. The outlines are in the order of model.SortOutlines.
func WriteOutlines(w io.Writer, format string, outlines []*model.Outline, o Options) error {
	if err := CheckList(format, o.Columns); err != nil {
		return err
	}
	lines := make([]line, 0, len(outlines))
	for _, resolved := range []bool{false, true} {
		for _, outline := range outlines {
			if !outline.Resolved.IsZero() == resolved {
				lines = append(lines, line{Outline: outline})
			}
		}
	}
	return buffered(w, "write findings", func(b *bufio.Writer) error { return writeLines(b, format, lines, o) })
}

func writeLines(b *bufio.Writer, format string, lines []line, o Options) error {
	switch format {
	case "csv":
		return linesCSV(b, lines, o.Columns)
	case "wide":
		return listLines(newTable(b, o), lines, o, wideColumns)
	}
	return listLines(newTable(b, o), lines, o, tableColumns)
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

func linesCSV(w *bufio.Writer, lines []line, names []string) error {
	list, err := chosen(names, csvColumns)
	if err != nil {
		return err
	}
	header := make([]string, len(list))
	for i, c := range list {
		header[i] = c.name
	}
	first := csv.NewWriter(w)
	if err := first.Write(header); err != nil {
		return err
	}
	first.Flush()
	return cmp.Or(first.Error(), inParts(w, len(lines), func(from, to int) ([]byte, error) {
		var b bytes.Buffer
		out, row := csv.NewWriter(&b), make([]string, len(list))
		for _, f := range lines[from:to] {
			for i, c := range list {
				row[i] = csvCell(c.text(f, phrase.Clock{}))
			}
			if err := out.Write(row); err != nil {
				return nil, err
			}
		}
		out.Flush()
		return b.Bytes(), out.Error()
	}))
}

// cellStart matches what would begin a cell of a formula where a semicolon separates cells.
var cellStart = regexp.MustCompile(`(;)([=+\-@])`)

// csvCell returns a text that no spreadsheet takes for a formula: an attacker may set names in
// live systems. See https://owasp.org/www-community/attacks/CSV_Injection.
func csvCell(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	text = phrase.Visible(text)
	if strings.Contains(text, ";") {
		text = cellStart.ReplaceAllString(text, "$1'$2")
	}
	if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + text
	}
	return text
}

// many is the number of findings above which a list begins with their counts, and up to which a
// report shows all in full.
const many = 20

func listLines(t *table, lines []line, o Options, instead string) error {
	if len(lines) == 0 {
		t.line("No findings.")
		return t.emit()
	}
	list, err := chosen(o.Columns, instead)
	if err != nil {
		return err
	}
	g := newGrid(list, lines, newClock(o))
	if len(o.Columns) == 0 {
		g.dropEmptyLast()
	}
	if len(lines) > many {
		t.prose(bold, "", phrase.Words(phrase.Count(len(lines), "finding")+": "+
			countsOf(lines, func(f line) (model.Severity, model.Verdict) { return f.Severity, f.Verdict })))
	}
	return t.grid(g, func(row int) style { return severityStyle(lines[row].Severity) })
}

// countsOf returns the numbers of findings by severity and by verdict: "3 high, 9 medium; 5
// changed, 7 missing".
func countsOf[T any](findings []T, of func(T) (model.Severity, model.Verdict)) string {
	bySeverity, byVerdict := map[model.Severity]int{}, map[model.Verdict]int{}
	for _, f := range findings {
		severity, verdict := of(f)
		bySeverity[severity]++
		byVerdict[verdict]++
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
