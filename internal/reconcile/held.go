package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Held is a finding for which driftd proposed no action after the last scan, although a rule with the
// mode approve or auto matches it.
type Held struct {
	Finding string `json:"finding"`
	Rule    string `json:"rule"`
	// Guard is the name of the guard that refuses the action, or "" if no plan could be made.
	Guard string `json:"guard,omitempty"`
	Why   string `json:"why"`
}

// A Hold groups the findings of a rule that the same guard holds.
type Hold struct {
	Rule, Guard string
	Findings    []string
	// Why is the reason of the first finding.
	Why string
}

// String returns the rule, the reason and the guard.
func (h *Held) String() string { return reason(h.Rule, h.Guard, h.Why) }

// String returns the findings, the reason and the guard.
func (h *Hold) String() string {
	first := h.Findings[0]
	if n := len(h.Findings); n > 1 {
		first = fmt.Sprintf("%d findings, the first %s", n, first)
	}
	return first + ": " + reason(h.Rule, h.Guard, h.Why)
}

func reason(rule, guard, why string) string {
	text := fmt.Sprintf("rule %q: %s", rule, why)
	if guard != "" {
		text += " (guard " + guard + ")"
	}
	return text
}

// Holds groups the held findings by rule and guard, in the order of the first finding of each group.
func (o *Overview) Holds() (all []Hold) {
	for _, h := range o.Held {
		at := slices.IndexFunc(all, func(a Hold) bool { return a.Rule == h.Rule && a.Guard == h.Guard })
		if at < 0 {
			at, all = len(all), append(all, Hold{Rule: h.Rule, Guard: h.Guard, Why: h.Why})
		}
		all[at].Findings = append(all[at].Findings, h.Finding)
	}
	return all
}

// HeldFinding returns the entry of Held for the finding with the given ID, or nil if the finding is not
// held.
func (o *Overview) HeldFinding(id string) *Held {
	at := slices.IndexFunc(o.Held, func(h Held) bool { return h.Finding == id })
	if at < 0 {
		return nil
	}
	return &o.Held[at]
}

func newHeld(f *model.Finding, rule *Rule, err error) Held {
	refusal := (*Refusal)(nil)
	if errors.As(err, &refusal) {
		return Held{f.ID, rule.Name, refusal.Guard, refusal.Why}
	}
	return Held{f.ID, rule.Name, "", err.Error()}
}

// hold replaces the held findings, and logs those that are held by another guard than before.
func (r *Reconciler) hold(held []Held) {
	r.mu.Lock()
	was := Overview{Held: r.held}
	r.held = held
	r.mu.Unlock()
	for _, h := range held {
		if before := was.HeldFinding(h.Finding); before == nil || before.Rule != h.Rule || before.Guard != h.Guard {
			r.Log.Info("no action", "finding", h.Finding, "rule", h.Rule, "guard", h.Guard, "why", h.Why)
		}
	}
}

// A failure is that no plan could be made for a finding with a basis.
type failure struct {
	basis string
	at    time.Time
	err   error
}

// retryPlan is how long driftd makes no other plan by itself for a finding for which none could be made: each plan
// asks the live system.
const retryPlan = 10 * time.Minute

// failure returns why no plan could be made for a finding, within retryPlan; nil if one can be tried.
func (r *Reconciler) failure(f *model.Finding) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, ok := r.failed[f.ID]
	if !ok || was.basis != f.Basis || r.Now().Sub(was.at).Abs() >= retryPlan {
		return nil
	}
	return was.err
}

// fail remembers that no plan could be made for a finding because of err. A refusal by one of guards is no failure: it
// is over with the next read, or another action.
func (r *Reconciler) fail(f *model.Finding, err error) {
	refusal := (*Refusal)(nil)
	if errors.As(err, &refusal) && slices.ContainsFunc(guards(), func(g guard) bool { return g.name == refusal.Guard }) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed[f.ID] = failure{f.Basis, r.Now(), err}
}

// forget forgets the failures that are older than retryPlan, and those of findings that are over: the same drift again is another one.
func (r *Reconciler) forget(open []model.Finding) {
	ids := make(map[string]bool, len(open))
	for i := range open {
		ids[open[i].ID] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.failed, func(id string, was failure) bool { return !ids[id] || r.Now().Sub(was.at).Abs() >= retryPlan })
}
