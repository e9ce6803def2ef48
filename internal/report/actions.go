package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/reconcile"
)

// ActionsVersion is the version of the JSON of actions and proposals.
const ActionsVersion = 1

// versioned writes a value as a JSON object with the field version.
func versioned(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// WriteActions writes the actions, the freezes in effect, and the rules, as a table or as JSON.
func WriteActions(w io.Writer, format string, v *reconcile.Overview, o Options) error {
	return choose(w, format, "write actions",
		func(b *bufio.Writer) error { return listActions(newTable(b, o), v) },
		func(b *bufio.Writer) error {
			return versioned(b, struct {
				Version int `json:"version"`
				*reconcile.Overview
			}{ActionsVersion, v})
		})
}

func listActions(t *table, v *reconcile.Overview) error {
	for _, f := range v.Freezes {
		where := "all sources"
		if f.Source != "" {
			where = "source " + f.Source
		}
		t.line(t.paint(bold, "Frozen: "), phrase.Visible(where+" until "+phrase.Stamp(f.Until)+" by "+cmp.Or(f.By, f.ID)+": "+f.Reason))
	}
	for _, r := range v.Rules {
		if r.Stopped != "" {
			t.line(t.paint(bold, "Stopped: "), phrase.Visible("rule "+r.Name+", because "+r.Stopped+": look, then run `driftd rules resume "+r.Name+"`"))
		}
		if r.Fights > 0 {
			t.line(t.paint(bold, "Fight: "), phrase.Visible("driftd and another writer overwrite each other on "+phrase.Count(r.Fights, "resource")+" of rule "+r.Name+": find out why, then run `driftd rules resume "+r.Name+"`"))
		}
	}
	for _, h := range v.Holds() {
		t.line(t.paint(bold, "No action: "), phrase.Visible(h.String()))
	}
	if len(v.Actions) == 0 {
		t.line("No actions.")
		return t.emit()
	}
	rows := [][]string{{"ID", "STATE", "SINCE", "FINDING", "RESOURCE", "RULE", "BY", "OUTCOME"}}
	for i := range v.Actions {
		a := &v.Actions[i]
		by := a.By
		if by == "" {
			by = "driftd"
		}
		rows = append(rows, []string{a.ID, string(a.State), phrase.Stamp(a.Since()), a.Finding,
			phrase.Visible(a.Subject.Source + " " + phrase.Kind(a.Subject.Kind) + " " + phrase.Titled(a.Subject.ID, a.Name)), phrase.Visible(a.Rule), phrase.Visible(by), phrase.Visible(a.Outcome)})
	}
	return t.rows(rows, func(_, _ int, cell string) string { return cell })
}

// WriteRules writes the rules for actions, as a table or as JSON.
func WriteRules(w io.Writer, format string, rules []reconcile.RuleStatus, o Options) error {
	return choose(w, format, "write rules",
		func(b *bufio.Writer) error {
			t := newTable(b, o)
			if len(rules) == 0 {
				t.line("No rules: set reconcile.rules in the configuration.")
				return t.emit()
			}
			rows := [][]string{{"NAME", "MODE", "STOPPED"}}
			for _, r := range rules {
				stopped := "no"
				if r.Stopped != "" {
					stopped = r.Stopped
				}
				rows = append(rows, []string{phrase.Visible(r.Name), string(r.Mode), phrase.Visible(stopped)})
			}
			return t.rows(rows, func(_, _ int, cell string) string { return cell })
		},
		func(b *bufio.Writer) error {
			return versioned(b, struct {
				Version int                    `json:"version"`
				Rules   []reconcile.RuleStatus `json:"rules"`
			}{ActionsVersion, append([]reconcile.RuleStatus{}, rules...)})
		})
}

// WriteAction writes one action, as text or as JSON.
func WriteAction(w io.Writer, format string, a *reconcile.Action, o Options) error {
	return choose(w, format, "write action",
		func(b *bufio.Writer) error { return showAction(newTable(b, o), a) },
		func(b *bufio.Writer) error {
			return versioned(b, struct {
				Version int `json:"version"`
				*reconcile.Action
			}{ActionsVersion, a})
		})
}

func showAction(t *table, a *reconcile.Action) error {
	t.line(t.paint(bold, "Action "+a.ID+": "), string(a.State))
	by := "driftd, by rule " + a.Rule
	if a.By != "" {
		by = a.By + ", under rule " + a.Rule
	}
	t.line("  resource  ", phrase.Visible(a.Subject.Source+" "+phrase.Kind(a.Subject.Kind)+" "+phrase.Titled(a.Subject.ID, a.Name)))
	t.line("  finding   ", a.Finding, " ", string(a.Verdict), phrase.Visible(", made by "+a.Drift.Name))
	t.line("  asked by  ", phrase.Visible(by), reasonOf(a.Reason))
	if a.State == reconcile.Proposed {
		t.line("  expires   ", phrase.Stamp(a.Expires))
	}
	if a.Revision != "" {
		t.line("  commit    ", phrase.Visible(a.Revision))
	}
	showPlan(t, &a.Plan, a.Digest)
	for _, p := range a.Approvals {
		t.line("  approved  ", phrase.Visible("by "+p.By+" at "+phrase.Stamp(p.At)+" ("+p.Via+")"), reasonOf(p.Reason))
	}
	for _, s := range a.Steps {
		by := ""
		if s.By != "" {
			by = " by " + phrase.Visible(s.By)
		}
		t.line("  ", phrase.Stamp(s.At), "  ", string(s.State), by, reasonOf(s.Note))
	}
	return t.emit()
}

func reasonOf(text string) string {
	if text == "" {
		return ""
	}
	return ": " + phrase.Visible(text)
}

// showPlan writes what an action does.
func showPlan(t *table, p *reconcile.Plan, digest string) {
	t.line("  writes to ", phrase.Visible(p.Endpoint+" as "+p.Identity))
	t.line("  digest    ", digest)
	if p.Asks != "" {
		t.line("  asks      ", phrase.Visible(p.Asks))
	}
	if p.Records {
		t.line("  changes the declaration, and not the resource")
	}
	if p.Restarts != "" {
		t.line("  restarts  ", phrase.Visible(p.Restarts))
	}
	if p.AfterRestart != "" {
		t.line("  ", phrase.Visible(phrase.AfterRestart+p.AfterRestart))
	}
	for i, r := range p.Requests {
		t.line("  request ", strconv.Itoa(i+1), "  ", phrase.Visible(r))
	}
	if p.Creates {
		t.line("  creates the resource")
	}
	if p.Deletes {
		t.line("  deletes the resource")
	}
	if p.Unseen {
		t.line("  ", phrase.Unseen)
	}
	for _, c := range p.Also {
		t.line("  also puts back finding ", c.Finding, phrase.Visible(" of "+c.Subject.Source+" "+phrase.Kind(c.Subject.Kind)+" "+c.Subject.ID))
	}
	for _, c := range p.Changes {
		t.line("  ", t.paint(bold, phrase.Visible(c.Where())))
		t.line("    - ", sideOf(c.Old))
		t.line("    + ", sideOf(c.New))
	}
}

// maxSide bounds the length of a value in an action, in characters.
const maxSide = 400

func sideOf(v *model.Value) string {
	if v == nil {
		return "(absent)"
	}
	return phrase.Line(v.String(), maxSide)
}

// WriteProposal writes the plan of a possible action, and the results of the guards, as text or as JSON.
func WriteProposal(w io.Writer, format string, p *reconcile.Proposal, o Options) error {
	return choose(w, format, "write proposal",
		func(b *bufio.Writer) error { return showProposal(newTable(b, o), p) },
		func(b *bufio.Writer) error {
			return versioned(b, struct {
				Version int `json:"version"`
				*reconcile.Proposal
			}{ActionsVersion, p})
		})
}

func showProposal(t *table, p *reconcile.Proposal) error {
	head := "no rule matches"
	if p.Rule != "" {
		head = "rule " + p.Rule + ", mode " + string(p.Mode)
	}
	t.line(t.paint(bold, "Dry run: "), phrase.Visible(head))
	if p.Plan != nil {
		showPlan(t, p.Plan, p.Digest)
	}
	var passed []string
	for _, g := range p.Guards {
		if g.Why == "" {
			passed = append(passed, g.Guard)
			continue
		}
		for _, line := range wrap(phrase.Visible("refused by guard "+g.Guard+": "+g.Why), t.width, "  ", "    ") {
			t.line(line)
		}
	}
	if len(passed) > 0 {
		t.line("  passed: ", strings.Join(passed, ", "))
	}
	return t.emit()
}
