package report

import (
	"bufio"
	"io"

	"github.com/driftd/driftd/internal/model"
)

// WriteExemptions writes the fields that the last scan exempted, as a table or as JSON.
// total is their number; list may have fewer.
func WriteExemptions(w io.Writer, format string, list []model.Exemption, total int, o Options) error {
	return choose(w, format, "write exemptions",
		func(b *bufio.Writer) error { return showExemptions(newTable(b, o), list, total) },
		func(b *bufio.Writer) error { return exemptionsJSON(b, list, total) })
}

func exemptionsJSON(w *bufio.Writer, list []model.Exemption, total int) error {
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	e.value("total", total)
	e.open("exemptions", "[")
	for i := range list {
		e.value("", list[i])
	}
	e.close("]")
	e.close("}")
	return e.err
}

func showExemptions(t *table, list []model.Exemption, total int) error {
	t.line(t.paint(bold, exemptCount(total)))
	var last model.Key
	for i := range list {
		e := &list[i]
		if e.Key != last {
			t.line()
			t.prose(bold, "", Phrase{}.quote(e.Source+" "+shortKind(e.Kind)+" "+e.ID))
			last = e.Key
		}
		said := Phrase{}.quote(e.Path)
		if e.Live != "" {
			said = said.say(" = ").quote(e.Live)
		}
		if e.Writer != "" {
			said = said.say(", by ").quote(e.Writer)
		}
		t.prose(plain, "  ", said)
		t.prose(dim, "    ", Phrase{}.quote(e.Why))
	}
	if total > len(list) {
		t.line()
		t.line(thousands(total-len(list)) + " more are not listed")
	}
	return t.emit()
}

// exemptCount returns the number of exempt fields as text.
func exemptCount(n int) string { return count(n, "field") + " exempt" }
