package report

import (
	"bufio"
	_ "embed"
	"fmt"
	"html/template"
	"iter"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// htmlLimit is how many columns of a value the page shows.
const htmlLimit = 240

//go:embed page.html.tmpl
var pageTemplate string

// A page is what the template is filled with.
type page struct {
	Headline  string
	Calm      bool
	Scan      Phrase
	Missing   string
	Drifted   bool
	Findings  iter.Seq[Block]
	Over      bool
	Resolved  iter.Seq[Block]
	Unchecked []Phrase
	Unread    []Phrase
	Tallies   []Phrase
	// NotJudged and NotGoverned say what was not judged, and which places are
	// not governed.
	NotJudged, NotGoverned []Phrase
	// Notes are what a reader should know of declarations.
	Notes []Phrase
}

func writeHTML(w *bufio.Writer, r *model.Report, o Options) error {
	tmpl, err := template.New("page").Funcs(template.FuncMap{
		"short":  func(f Field) Field { return f.short(htmlLimit) },
		"legend": func(f Field) string { return legend(&f) },
		"argue":  func(f Field) string { return disagreement(&f) },
		"class":  severityClass,
		"gap":    func(l Line) string { return count(l.Gap, "line") },
	}).Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("parse page: %w", err)
	}
	out := newOutline(r, o)
	said, calm := out.headline()
	p := page{Headline: said, Calm: calm, Scan: out.scan(), Missing: out.listed(), Drifted: len(out.open) > 0, Findings: out.blocks(out.crowds),
		Over: len(out.resolved) > 0, Resolved: out.blocks(crowds(out.resolved)), Unchecked: out.unchecked(), Unread: out.unread(), Tallies: out.tallies(),
		NotJudged: out.notJudged(), NotGoverned: out.notGoverned(), Notes: out.notes()}
	return tmpl.Execute(w, p)
}

// severityClass is the class of a finding's color: one of ours.
func severityClass(s model.Severity) string {
	if s.Rank() < len(model.Severities()) {
		return strings.ToLower(string(s))
	}
	return string(model.Info)
}
