package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// An emitter writes indented JSON one value at a time, so that a long list is
// never in memory as a whole. It keeps the first error.
type emitter struct {
	w     *bufio.Writer
	depth int
	// filled is set where a value was written before at this depth.
	filled bool
	err    error
}

// open begins an object or a list; name is "" inside a list.
func (e *emitter) open(name, bracket string) {
	e.next(name)
	e.write([]byte(bracket))
	e.depth++
	e.filled = false
}

// close ends the object or list of open.
func (e *emitter) close(bracket string) {
	e.depth--
	if e.filled {
		e.write([]byte("\n" + strings.Repeat("  ", e.depth)))
	}
	e.write([]byte(bracket))
	e.filled = true
	if e.depth == 0 {
		e.write([]byte("\n"))
	}
}

// value writes one member of an object, or one element of a list.
func (e *emitter) value(name string, v any) {
	if e.err != nil {
		return
	}
	e.next(name)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(strings.Repeat("  ", e.depth), "  ")
	if e.err = enc.Encode(v); e.err == nil {
		e.write(escapeJSON(bytes.TrimRight(b.Bytes(), "\n")))
	}
}

func (e *emitter) next(name string) {
	if e.depth == 0 {
		return
	}
	separator := "\n"
	if e.filled {
		separator = ",\n"
	}
	e.filled = true
	e.write([]byte(separator + strings.Repeat("  ", e.depth)))
	if name != "" {
		e.write([]byte(`"` + name + `": `))
	}
}

func (e *emitter) write(b []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(b)
	}
}

// escapeJSON escapes characters that do not print as themselves: the same JSON, but
// safe to read on a terminal.
func escapeJSON(b []byte) []byte {
	if bytes.IndexFunc(b, hides) < 0 {
		return b
	}
	const digits = "0123456789abcdef"
	out := make([]byte, 0, len(b)+16)
	for _, r := range string(b) {
		if !hides(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = append(out, '\\', 'u', digits[unit>>12], digits[unit>>8&15], digits[unit>>4&15], digits[unit&15])
		}
	}
	return out
}

func hides(r rune) bool { return r != '\n' && !phrase.Prints(r) }

func writeJSON(w *bufio.Writer, r *model.Report, _ Options) error {
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	scan := r.Scan
	scan.Started, scan.Finished = phrase.UTC(scan.Started), phrase.UTC(scan.Finished)
	scan.Declarations = sortedRevisions(scan.Declarations)
	e.value("scan", scan)
	e.value("summary", r.Summary)
	e.open("findings", "[")
	for _, f := range WorstFirst(r.Findings) {
		e.value("", public(f))
	}
	e.close("]")
	e.open("coverage", "[")
	for _, c := range sortedCoverage(r.Coverage) {
		e.value("", c)
	}
	e.close("]")
	e.close("}")
	return e.err
}
