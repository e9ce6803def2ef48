package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// othersOf returns the other open findings of the declaration or the source of a finding.
func (r *Reconciler) othersOf(f *model.Finding) ([]*model.Finding, error) {
	open, err := r.Store.OpenFindings()
	if err != nil {
		return nil, err
	}
	var others []*model.Finding
	for i := range open {
		if o := &open[i]; (o.Declaration == f.Declaration || o.Source == f.Source) && o.ID != f.ID {
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
		at := c.in(open)
		if at < 0 {
			return nil, &Refusal{"still-so", fmt.Sprintf("finding %s changed since: look again", c.Finding)}
		}
		list = append(list, &open[at])
	}
	return list, nil
}

// in returns the position of the finding in open ones, as it was; -1 if it changed or is not there.
func (c *Covered) in(open []model.Finding) int {
	return slices.IndexFunc(open, func(f model.Finding) bool { return f.ID == c.Finding && f.Basis == c.Basis })
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

// each are the guards of an action that every finding which it puts back has to pass.
func each() []string {
	return []string{"off", "frozen", "verdict", "decided", "coverage", "declaration", "nondeterministic", "age", "open", fightGuard, "flapping", "blast"}
}

// checkAlso refuses a plan that puts back a finding for which an action of its own would be refused, or to which another
// rule applies. unseen reports whether driftd never saw the declared values of one live.
func (r *Reconciler) checkAlso(p *Plan, rule *Rule, q *planning) (unseen bool, err error) {
	findings, err := r.covered(p.Also)
	if err != nil || len(findings) == 0 {
		return false, err
	}
	standing, err := r.Store.Standing()
	if err != nil {
		return false, err
	}
	for _, f := range findings {
		s := r.situation(f, &standing, q.by)
		s.Action, s.Plan = q.action, p
		never, err := r.checkCovered(s, rule, q)
		if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
			return false, &Refusal{"scope", fmt.Sprintf("the apply would also put back %s (finding %s): %s", f.Address, f.ID, refusal.Why)}
		}
		if err != nil {
			return false, err
		}
		unseen = unseen || never
	}
	return unseen, nil
}

// checkCovered is checkAlso for one finding.
func (r *Reconciler) checkCovered(s *Situation, rule *Rule, q *planning) (unseen bool, err error) {
	if s.Rule == nil || s.Rule.Name != rule.Name {
		return false, &Refusal{"off", fmt.Sprintf("rule %q does not apply to it", rule.Name)}
	}
	if refusal := checkSome(s, func(g *guard) bool { return slices.Contains(each(), g.name) }); refusal != nil {
		return false, refusal
	}
	return r.checkAgreed(s.Finding, q.automatic)
}

// again reads the sources of a finding, and of those that the same plan puts back, again, and compares the findings with
// what they are then. It refuses if a person froze the actions or decided about a finding since the action was armed: a
// second plan may take minutes.
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
	standing, err := r.Store.Standing()
	if err != nil {
		return err
	}
	for _, f := range now {
		if why := r.LastReads.Evidence(f).Unread; why != "" {
			return &Refusal{"coverage", why}
		}
		stops := func(g *guard) bool {
			return slices.Contains([]string{"off", "quarantine", "frozen", "decided"}, g.name)
		}
		if refusal := checkSome(r.situation(f, &standing, ""), stops); refusal != nil {
			return refusal
		}
	}
	return nil
}
