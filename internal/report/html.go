package report

import (
	"bufio"
	_ "embed"
	"fmt"
	"html/template"
	"iter"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// htmlLimit bounds a value on the page, in columns.
const htmlLimit = 240

//go:embed page.html.tmpl
var pageTemplate string

// A page is the data of the template.
type page struct {
	Headline  string
	Calm      bool
	Scan      phrase.Phrase
	Missing   string
	Drifted   bool
	Findings  iter.Seq[Block]
	Over      bool
	Resolved  iter.Seq[Block]
	Unchecked []phrase.Phrase
	Unread    []phrase.Phrase
	Tallies   []phrase.Phrase
	// NotJudged lists the resources that were not judged, NotGoverned the places that
	// are not governed.
	NotJudged, NotGoverned []phrase.Phrase
	// Notes are those of declarations.
	Notes []phrase.Phrase
}

func writeHTML(w *bufio.Writer, r *model.Report, o Options) error {
	tmpl, err := template.New("page").Funcs(template.FuncMap{
		"short":  func(f phrase.Field) phrase.Field { return f.Cut(htmlLimit) },
		"legend": func(f phrase.Field) string { return f.Legend() },
		"argue":  func(f phrase.Field) string { return f.Disagreement() },
		"class":  severityClass,
		"gap":    func(l phrase.DiffLine) string { return phrase.Count(l.Gap, "line") },
	}).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("parse page: %w", err)
	}
	out := newOutline(r, newClock(o))
	text, calm := out.headline()
	p := page{Headline: text, Calm: calm, Scan: out.scan(), Missing: out.listed(), Drifted: len(out.open) > 0, Findings: out.blocks(out.groups),
		Over: len(out.resolved) > 0, Resolved: out.blocks(groupsOf(out.resolved)), Unchecked: out.unchecked(), Unread: out.unread(), Tallies: out.tallies(),
		NotJudged: out.notJudged(), NotGoverned: out.notGoverned(), Notes: out.notes()}
	return tmpl.Execute(w, p)
}

// severityClass returns the CSS class of a severity.
func severityClass(s model.Severity) string {
	if s.Rank() < len(model.Severities()) {
		return strings.ToLower(string(s))
	}
	return string(model.Info)
}
