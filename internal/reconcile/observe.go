package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// Observe processes the open findings after a scan. It ends proposals whose findings are resolved or
// changed, and proposes actions for findings that match rules with the modes approve and auto, in the
// order of model.CompareWorst.
func (r *Reconciler) Observe(ctx context.Context, findings []model.Finding) error {
	standing, err := r.Store.Standing()
	if err != nil {
		return err
	}
	if err := r.endProposals(&standing, findings); err != nil {
		return err
	}
	started := map[string]int{}
	r.forget(findings)
	var held []Held
	for _, f := range worstFirst(findings) {
		rule := Find(r.Rules, f)
		if !rule.Acts() || tried(&standing, f) {
			continue
		}
		a, err := r.observe(ctx, f, &standing, started[rule.Name])
		if err != nil {
			held = append(held, newHeld(f, rule, err))
			continue
		}
		started[rule.Name]++
		r.Log.Info("action", "id", a.ID, "finding", f.ID, "rule", rule.Name, "state", string(a.State))
	}
	r.hold(held)
	return nil
}

// observe proposes an action for a finding, unless its rule has enough of them: started are those that the rule got
// after this scan. The error is why it does not.
func (r *Reconciler) observe(ctx context.Context, f *model.Finding, standing *Standing, started int) (Action, error) {
	if err := r.refuses(f, standing); err != nil {
		return Action{}, err
	}
	if err := r.failure(f); err != nil {
		return Action{}, err
	}
	if why := Find(r.Rules, f).enough(standing, started); why != "" {
		return Action{}, &Refusal{"blast", why}
	}
	a, err := r.Propose(ctx, f, Request{Via: "rule"})
	if err != nil {
		r.fail(f, err)
	}
	return a, err
}

// enough returns why the rule gets no more actions after this scan; "" if it does.
func (r *Rule) enough(standing *Standing, started int) string {
	if r.Mode == Auto {
		if started < r.PerScan {
			return ""
		}
		return fmt.Sprintf("rule %q has had its actions of this scan: per_scan is %d", r.Name, r.PerScan)
	}
	waiting := started
	for i := range standing.History {
		if a := &standing.History[i]; a.State == Proposed && a.Rule == r.Name {
			waiting++
		}
	}
	if waiting < r.PerHour {
		return ""
	}
	return fmt.Sprintf("rule %q has %d proposals that wait, and per_hour is %d: `driftd actions --open` lists them", r.Name, waiting, r.PerHour)
}

// worstFirst returns the findings in the order of model.CompareWorst, in which the page lists them.
func worstFirst(findings []model.Finding) []*model.Finding {
	list := make([]*model.Finding, len(findings))
	for i := range findings {
		list[i] = &findings[i]
	}
	slices.SortStableFunc(list, model.CompareWorst)
	return list
}

// tried reports whether the last action for a finding, as it is now, is open or ended otherwise than by
// convergence. Then driftd proposes no other one by itself, unless a person resumed the rule since the action ended
// without a decision about it. Those of the mode approve that were superseded do not count: the finding is as it was, and a
// person sees what would be done now. Those that a passing guard refused do not count either. A decision about an
// earlier one does.
func tried(s *Standing, f *model.Finding) bool {
	for i := range slices.Backward(s.History) {
		a := &s.History[i]
		if (a.Finding != f.ID || a.Basis != f.Basis) && !slices.ContainsFunc(a.Plan.Also, func(c Covered) bool { return c.Finding == f.ID && c.Basis == f.Basis }) {
			continue
		}
		if a.State == Superseded && a.Mode == Approve || a.State == Refused && passes(a.Guard) {
			continue
		}
		undecided := a.State == Failed || a.State == NotConverged || a.State == Refused
		return a.State != Converged && !(undecided && resumedAt(s.Controls, a.Rule).after(a.last()))
	}
	return false
}

// endProposals ends the proposals that expired, and those whose findings are over or changed.
func (r *Reconciler) endProposals(standing *Standing, findings []model.Finding) error {
	now := r.Now()
	for i := range standing.History {
		was := &standing.History[i]
		state, note := Expired, "nobody approved it in time"
		at := slices.IndexFunc(findings, func(f model.Finding) bool { return f.ID == was.Finding })
		switch {
		case was.State != Proposed:
			continue
		case at < 0:
			state, note = Superseded, "the finding is resolved"
		case findings[at].Basis != was.Basis || findings[at].Verdict != was.Verdict:
			state, note = Superseded, "the finding changed"
		case slices.ContainsFunc(was.Plan.Also, func(c Covered) bool { return c.in(findings) < 0 }):
			state, note = Superseded, "another finding that it puts back changed, or is resolved"
		case now.Before(was.Expires):
			continue
		}
		_, err := r.Store.ChangeAction(was.ID, func(a *Action, _ *Standing, _ *model.Finding) error {
			if a.State == Proposed {
				a.Enter(state, now, note)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
