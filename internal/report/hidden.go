package report

import (
	"bufio"
	"io"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// WriteHidden writes what ignore rules hide, and what somebody accepted, as a
// table or as JSON. Rules are those of the last run, findings all that are
// open: those that are shown in full are left out.
func WriteHidden(w io.Writer, format string, rules []model.RuleRun, findings []model.Finding, o Options) error {
	quiet := slices.DeleteFunc(slices.Clone(findings), func(f model.Finding) bool { return f.Shown() && len(f.Ignored) == 0 })
	return choose(w, format, "write hidden findings",
		func(b *bufio.Writer) error { return showHidden(newTable(b, o), rules, worstFirst(quiet), newClock(o)) },
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
	for _, f := range worstFirst(findings) {
		e.value("", public(f))
	}
	e.close("]")
	e.close("}")
	return e.err
}

func showHidden(t *table, rules []model.RuleRun, findings []*model.Finding, c clock) error {
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
	t.line(t.paint(bold, count(len(rules), "ignore rule")+", "+thousands(dead)+" unused; "+thousands(len(accepted))+" accepted"))
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
		t.prose(plain, "    ", c.decided(f.Decision))
		if f.Decision.Owner != "" {
			t.prose(dim, "    ", Phrase{}.say("owner ").quote(f.Decision.Owner).say(", decision ").quote(f.Decision.ID))
		}
	}
	return t.emit()
}

// rule writes a rule, and what it counts.
func (t *table) rule(r *model.RuleRun) {
	said := Phrase{}.quote(r.Rule).say(": ").quote(r.Reason)
	if !r.Expires.IsZero() {
		said = said.say(", until " + stamp(r.Expires))
	}
	t.line()
	t.prose(bold, "", said)
	if r.Dead() {
		t.line("  unused: ", r.Why(), "; remove it")
		return
	}
	t.line("  hides ", count(r.Findings, "finding"), " and ", count(r.Fields, "field"), " of others")
}

// hiddenBy lists what rules with such a reason hide: of findings that are hidden
// as a whole one line, of others the fields.
func (t *table) hiddenBy(reason string, findings []*model.Finding) {
	for _, f := range findings {
		if f.Hidden == reason {
			t.hiddenLine(f, "")
			continue
		}
		shown := public(f)
		for i := range shown.Ignored {
			if shown.Ignored[i].Reason == reason {
				t.hiddenLine(f, ": "+visible(shown.Ignored[i].Path))
			}
		}
	}
}

func (t *table) hiddenLine(f *model.Finding, more string) {
	t.line("  ", t.paint(dim, visible(f.ID)), "  ", visible(f.VerdictText()), "  ",
		clip(visible(f.Source+" "+shortKind(f.Kind)+" "+f.Key.ID), pipeLimit), more)
}
