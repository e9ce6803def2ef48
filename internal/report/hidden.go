package report

import (
	"bufio"
	"io"
	"slices"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// WriteHidden writes ignore rules with the findings that they hide, and accepted findings, as a table or as
// JSON. rules are those of the last run, and findings are all open findings, including those that are not
// hidden.
func WriteHidden(w io.Writer, format string, rules []model.RuleRun, findings []model.Finding, o Options) error {
	quiet := slices.DeleteFunc(slices.Clone(findings), func(f model.Finding) bool { return f.Shown() && len(f.Ignored) == 0 })
	return choose(w, format, "write hidden findings",
		func(b *bufio.Writer) error { return showHidden(newTable(b, o), rules, WorstFirst(quiet), newClock(o)) },
		func(b *bufio.Writer) error { return hiddenJSON(b, rules, quiet) })
}

func hiddenJSON(w *bufio.Writer, rules []model.RuleRun, findings []model.Finding) error {
	e := emitter{w: w}
	e.open("", "{")
	e.value("version", model.ReportVersion)
	e.open("rules", "[")
	for i := range rules {
		e.value("", struct {
			model.RuleRun
			Dead bool `json:"dead"`
		}{rules[i], rules[i].Dead()})
	}
	e.close("]")
	e.open("findings", "[")
	for _, f := range WorstFirst(findings) {
		e.value("", public(f))
	}
	e.close("]")
	e.close("}")
	return e.err
}

func showHidden(t *table, rules []model.RuleRun, findings []*model.Finding, c phrase.Clock) error {
	var accepted []*model.Finding
	for _, f := range findings {
		if f.Hidden == "" && f.Accepted() {
			accepted = append(accepted, f)
		}
	}
	dead := 0
	for i := range rules {
		if rules[i].Dead() {
			dead++
		}
	}
	t.line(t.paint(bold, phrase.Count(len(rules), "ignore rule")+", "+phrase.Number(dead)+" unused; "+phrase.Number(len(accepted))+" accepted"))
	for i := range rules {
		t.rule(&rules[i])
		same := func(r model.RuleRun) bool { return !r.Dead() && r.Reason == rules[i].Reason }
		if same(rules[i]) && !slices.ContainsFunc(rules[:i], same) {
			t.hiddenBy(rules[i].Reason, findings)
		}
	}
	t.section("Accepted", len(accepted))
	for _, f := range accepted {
		t.hiddenLine(f, "")
		t.prose(plain, "    ", c.Decision(f.Decision))
		if f.Decision.Owner != "" {
			t.prose(dim, "    ", phrase.Words("owner ").Person(f.Decision.Owner).Words(", decision ").Data(f.Decision.ID))
		}
	}
	return t.emit()
}

// rule writes a rule with its counts.
func (t *table) rule(r *model.RuleRun) {
	text := phrase.Phrase{}.Data(r.Rule).Words(": ").Data(r.Reason)
	if r.Expires.IsZero() {
		text = text.Words(", without end")
	} else {
		text = text.Words(", until " + phrase.Stamp(r.Expires))
	}
	t.line()
	t.prose(bold, "", text)
	if r.Dead() {
		t.line("  unused: ", r.Why(), "; remove it")
		return
	}
	t.line("  hides ", phrase.Count(r.Findings, "finding"), " and ", phrase.Count(r.Fields, "field"), " of others")
}

// hiddenBy lists the findings, or the fields of findings, that rules with this reason
// hide.
func (t *table) hiddenBy(reason string, findings []*model.Finding) {
	for _, f := range findings {
		if f.Hidden == reason {
			t.hiddenLine(f, "")
			continue
		}
		shown := public(f)
		for i := range shown.Ignored {
			if shown.Ignored[i].Reason == reason {
				t.hiddenLine(f, ": "+phrase.Visible(shown.Ignored[i].Path))
			}
		}
	}
}

func (t *table) hiddenLine(f *model.Finding, more string) {
	t.line("  ", t.paint(dim, phrase.Visible(f.ID)), "  ", phrase.Visible(f.VerdictText()), "  ",
		phrase.Clip(phrase.Visible(f.Source+" "+phrase.Kind(f.Kind)+" "+f.Key.ID), pipeLimit), more)
}
