package report

import (
	"bufio"
	"io"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// WriteExemptions writes the fields that the last scan exempted, as a table or as JSON. total is their
// number, which may exceed the length of list.
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
			t.prose(bold, "", phrase.Phrase{}.Data(e.Source+" "+phrase.Kind(e.Kind)+" "+e.ID))
			last = e.Key
		}
		text := phrase.Phrase{}.Data(e.Path)
		if e.Live != "" {
			text = text.Words(" = ").Data(e.Live)
		}
		if e.Writer != "" {
			text = text.Words(", by ").Data(e.Writer)
		}
		t.prose(plain, "  ", text)
		t.prose(dim, "    ", phrase.Phrase{}.Data(e.Why))
	}
	if total > len(list) {
		t.line()
		t.line(phrase.Number(total-len(list)) + " more are not listed")
	}
	return t.emit()
}

// exemptCount returns the number of exempt fields as text.
func exemptCount(n int) string { return phrase.Count(n, "field") + " exempt" }
