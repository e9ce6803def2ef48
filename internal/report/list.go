package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// ListFormats returns the formats of WriteFindings.
func ListFormats() []string { return []string{"table", "wide", "json", "yaml", "csv"} }

// CheckList returns the error that WriteFindings returns for a format and columns, or nil if they are
// valid.
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

// WriteFindings writes findings, most severe first. The formats table and CSV have one line for each
// finding, with the columns of the options. JSON and YAML contain the complete findings.
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
		list := lines{all: make([]line, len(findings)), order: make([]int32, len(findings))}
		for i, f := range WorstFirst(findings) {
			outline := f.Outline()
			list.all[i], list.order[i] = line{&outline, f}, int32(i)
		}
		return list.write(b, format, o)
	})
}

// WriteOutlines writes the same output as WriteFindings for the findings of the outlines. It must not be
// called if NeedsFindings reports true.
func WriteOutlines(w io.Writer, format string, outlines []*model.Outline, o Options) error {
	if err := CheckList(format, o.Columns); err != nil {
		return err
	}
	list := lines{all: make([]line, len(outlines)), order: make([]int32, 0, len(outlines))}
	resolved := make([]bool, len(outlines))
	for i, outline := range outlines {
		list.all[i], resolved[i] = line{Outline: outline}, !outline.Resolved.IsZero()
	}
	var last []int32
	for _, at := range model.OutlineOrder(outlines) {
		if resolved[at] {
			last = append(last, at)
		} else {
			list.order = append(list.order, at)
		}
	}
	list.order = append(list.order, last...)
	return buffered(w, "write findings", func(b *bufio.Writer) error { return list.write(b, format, o) })
}

// A lines is the findings of a list. order has the position in all of each line: all is in the order of the memory,
// in which many findings are read faster.
type lines struct {
	all   []line
	order []int32
}

func (l lines) write(b *bufio.Writer, format string, o Options) error {
	switch format {
	case "csv":
		return l.csv(b, o.Columns)
	case "wide":
		return l.table(newTable(b, o), o, wideColumns)
	}
	return l.table(newTable(b, o), o, tableColumns)
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

func (l lines) csv(w *bufio.Writer, names []string) error {
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
	parts := partsOf(len(l.order))
	return cmp.Or(first.Error(), inParts(w, len(parts), func(n int, b *bytes.Buffer) error {
		out, row := csv.NewWriter(b), make([]string, len(list))
		for _, at := range l.order[parts[n].from:parts[n].to] {
			for i, c := range list {
				row[i] = csvCell(c.text(l.all[at], phrase.Clock{}))
			}
			if err := out.Write(row); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	}))
}

// cellStart matches what would begin a cell of a formula where a semicolon separates cells.
var cellStart = lazyregexp.New(`(;)([=+\-@])`)

// csvCell returns a text that no spreadsheet takes for a formula: an attacker may set names in
// live systems. See https://owasp.org/www-community/attacks/CSV_Injection.
func csvCell(text string) string {
	first, _ := utf8.DecodeRuneInString(text)
	text = phrase.Visible(text)
	if strings.Contains(text, ";") {
		text = cellStart().ReplaceAllString(text, "$1'$2")
	}
	if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + text
	}
	return text
}

// many is the number of findings above which a list begins with their counts, and up to which a
// report shows all in full.
const many = 20

func (l lines) table(t *table, o Options, instead string) error {
	if len(l.all) == 0 {
		t.line("No findings.")
		return t.emit()
	}
	list, err := chosen(o.Columns, instead)
	if err != nil {
		return err
	}
	g := newGrid(list, l.all, newClock(o))
	if len(o.Columns) == 0 {
		g.dropEmptyLast()
	}
	if len(l.all) > many {
		t.prose(bold, "", phrase.Words(phrase.Count(len(l.all), "finding")+": "+g.counts.String()))
	}
	return t.grid(g, l.order)
}

// A tally counts findings by severity and by verdict.
type tally struct {
	severities map[model.Severity]int
	verdicts   map[model.Verdict]int
	// run is the last severity and verdict that add counts: most follow an equal one.
	run struct {
		severity model.Severity
		verdict  model.Verdict
		n        int
	}
}

func (t *tally) add(s model.Severity, v model.Verdict) {
	if s != t.run.severity || v != t.run.verdict {
		t.end()
		t.run.severity, t.run.verdict = s, v
	}
	t.run.n++
}

// end counts the last run.
func (t *tally) end() {
	if t.severities == nil {
		t.severities, t.verdicts = map[model.Severity]int{}, map[model.Verdict]int{}
	}
	t.severities[t.run.severity] += t.run.n
	t.verdicts[t.run.verdict] += t.run.n
	t.run.n = 0
}

func (t *tally) addAll(more *tally) {
	t.end()
	more.end()
	for s, n := range more.severities {
		t.severities[s] += n
	}
	for v, n := range more.verdicts {
		t.verdicts[v] += n
	}
}

// String returns the counts: "3 high, 9 medium; 5 changed, 7 missing".
func (t *tally) String() string {
	t.end()
	return counted(model.Severities(), t.severities) + "; " + counted(model.Verdicts(), t.verdicts)
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
