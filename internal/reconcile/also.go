package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// othersOf returns the other open findings of the declaration of a finding.
func (r *Reconciler) othersOf(f *model.Finding) ([]*model.Finding, error) {
	open, err := r.Store.OpenFindings()
	if err != nil {
		return nil, err
	}
	var others []*model.Finding
	for i := range open {
		if o := &open[i]; o.Declaration == f.Declaration && o.ID != f.ID {
			others = append(others, o)
		}
	}
	return others, nil
}

// covered returns findings that an action puts back besides its own. The error is a *Refusal if one changed since.
func (r *Reconciler) covered(also []Covered) ([]*model.Finding, error) {
	if len(also) == 0 {
		return nil, nil
	}
	open, err := r.Store.OpenFindings()
	if err != nil {
		return nil, err
	}
	var list []*model.Finding
	for _, c := range also {
		at := slices.IndexFunc(open, func(f model.Finding) bool { return f.ID == c.Finding })
		if at < 0 || open[at].Basis != c.Basis {
			return nil, &Refusal{"still-so", fmt.Sprintf("finding %s changed since: look again", c.Finding)}
		}
		list = append(list, &open[at])
	}
	return list, nil
}

// coveredBy returns the findings that a stored action puts back besides its own.
func (r *Reconciler) coveredBy(id string) ([]*model.Finding, error) {
	standing, err := r.Store.Standing()
	if err != nil {
		return nil, err
	}
	a, err := FindAction(standing.History, id)
	if err != nil {
		return nil, err
	}
	return r.covered(a.Plan.Also)
}

// alone are the guards that are about one finding, and not about its action.
func alone() []string {
	return []string{"off", "verdict", "decided", "coverage", "declaration", "age", "open", fightGuard, "flapping"}
}

// checkAlso refuses a plan that puts back a finding for which an action of its own would be refused, or to which another
// rule applies. unseen reports whether driftd never saw the declared values of one live.
func (r *Reconciler) checkAlso(also []Covered, rule *Rule, q *planning) (unseen bool, err error) {
	findings, err := r.covered(also)
	if err != nil || len(findings) == 0 {
		return false, err
	}
	standing, err := r.Store.Standing()
	if err != nil {
		return false, err
	}
	for _, f := range findings {
		s := r.situation(f, &standing, q.by)
		s.Action = q.action
		why := ""
		if s.Rule == nil || s.Rule.Name != rule.Name {
			why = fmt.Sprintf("rule %q does not apply to it", rule.Name)
		}
		for _, g := range guards() {
			if why == "" && slices.Contains(alone(), g.name) {
				why = g.why(s)
			}
		}
		never, err := r.checkAgreed(f, q.automatic)
		if why == "" && err != nil {
			why = err.Error()
		}
		if why != "" {
			return false, &Refusal{"scope", fmt.Sprintf("the apply would also put back %s (finding %s): %s", f.Address, f.ID, why)}
		}
		unseen = unseen || never
	}
	return unseen, nil
}

// again reads the sources of a finding, and of those that the same plan puts back, again, and compares the findings with
// what they are then.
func (r *Reconciler) again(ctx context.Context, f *model.Finding, also []Covered) error {
	all := append([]Covered{{f.ID, f.Basis, f.Key}}, also...)
	read := map[string]bool{}
	for _, c := range all {
		if read[c.Subject.Source] {
			continue
		}
		read[c.Subject.Source] = true
		if err := r.LastReads.Reread(ctx, c.Subject.Source); err != nil {
			return &Refusal{"coverage", fmt.Sprintf("source %s could not be read again: %v", c.Subject.Source, err)}
		}
	}
	now, err := r.covered(all)
	if err != nil {
		return err
	}
	for _, f := range now {
		if why := r.LastReads.Evidence(f).Unread; why != "" {
			return &Refusal{"coverage", why}
		}
	}
	return nil
}
