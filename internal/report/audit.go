package report

import (
	"bufio"
	"cmp"
	"io"
	"strconv"
	"time"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// WriteAudit writes entries of the audit log, in the given order, as a table or as JSON.
func WriteAudit(w io.Writer, format string, entries []audit.Entry, o Options) error {
	return choose(w, format, "write audit log",
		func(b *bufio.Writer) error { return listAudit(newTable(b, o), entries) },
		func(b *bufio.Writer) error { return auditJSON(b, entries) })
}

func auditJSON(w *bufio.Writer, entries []audit.Entry) error {
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	e.open("entries", "[")
	for i := range entries {
		e.value("", entries[i])
	}
	e.close("]")
	e.close("}")
	return e.err
}

func listAudit(t *table, entries []audit.Entry) error {
	if len(entries) == 0 {
		t.line("No entries.")
		return t.emit()
	}
	rows := [][]string{{"INDEX", "TIME", "KIND", "WHO", "WHAT"}}
	for i := range entries {
		e := &entries[i]
		who, what := phrase.AuditEntry(string(e.Kind), e.Data)
		at := e.Time.UTC().Format(time.RFC3339)
		if e.State != "" {
			what = phrase.AuditText(string(e.State), what)
			who = cmp.Or(who, "unknown")
		}
		if e.Time.IsZero() {
			at = "unknown"
		}
		rows = append(rows, []string{strconv.FormatInt(e.Index, 10), at, phrase.Visible(string(e.Kind)), phrase.Visible(cmp.Or(who, "driftd")), phrase.Visible(what)})
	}
	return t.rows(rows, func(_, _ int, cell string) string { return cell })
}
