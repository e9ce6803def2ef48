package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

const (
	// fightWindow is how long an action is remembered for fights, and maxRounds the number of
	// actions after which a field that drifts again is one.
	fightWindow = 7 * 24 * time.Hour
	maxRounds   = 2
	// maxFailures is the number of failed actions in succession that stop a rule.
	maxFailures = 2
)

// Stopped returns the reason why rule r is stopped, or "" if it is not. A rule is stopped by one action
// whose result is unknown, that did not converge, or that a person settled, and by two successive actions
// that failed. It remains stopped until a person resumes it. The actions that count are those of the rule
// and those that concern it; see concerns.
func Stopped(rules []Rule, r *Rule, history []Action, controls []Control) string {
	own := resumedAt(controls, r.Name)
	failures := 0
	for _, a := range byTurn(history) {
		since := own.later(resumedAt(controls, a.Rule))
		state := a.stops(since)
		matters := state != "" || a.State == Failed || a.State == Converged && failures > 0
		if !a.last().after(since) || !matters || !a.concerns(rules, r) {
			continue
		}
		if state != "" {
			return fmt.Sprintf("action %s%s was %s", a.ID, a.under(r), state)
		}
		switch a.State {
		case Failed:
			if failures++; failures >= maxFailures {
				return fmt.Sprintf("%d actions failed in succession, %s%s last", failures, a.ID, a.under(r))
			}
		case Converged:
			failures = 0
		}
	}
	return ""
}

// under names the rule of the action if it is another one than r.
func (a *Action) under(r *Rule) string {
	if a.Rule == r.Name {
		return ""
	}
	return fmt.Sprintf(" of rule %q", a.Rule)
}

// concerns reports whether what came of the action counts for rule r: the action was made under the name of the rule, or
// the rule is the one that applies to its finding now. If no rule has the name any more, the action counts for all rules
// that may match its source. So a change of the configuration does not resume a rule.
func (a *Action) concerns(rules []Rule, r *Rule) bool {
	if a.Rule == r.Name {
		return true
	}
	if !slices.ContainsFunc(rules, func(o Rule) bool { return o.Name == a.Rule }) &&
		(len(r.Match.Sources) == 0 || model.GlobAny(r.Match.Sources, a.Subject.Source)) {
		return true
	}
	now := Find(rules, a.finding())
	return now != nil && now.Name == r.Name
}

// finding returns what rules match of the action's finding.
func (a *Action) finding() *model.Finding {
	f := &model.Finding{ID: a.Finding, Verdict: a.Verdict, Key: a.Subject, Name: a.Name, Place: a.Place, Declaration: a.Declaration}
	for _, c := range a.Plan.Changes {
		if c.Address != "" || a.Plan.Creates || a.Plan.Deletes { // such a finding names no field
			continue
		}
		f.Changes = append(f.Changes, model.Change{Path: c.Path, Live: c.Old, Declared: c.New})
	}
	return f
}

// stops returns the state of the action after a turn that stops its rule; "" if it had none. An unknown result
// stops it even if the result became known later, and so does a result that a person entered.
func (a *Action) stops(since turn) State {
	for i := range slices.Backward(a.Steps) {
		s := &a.Steps[i]
		settled := s.By != "" && slices.Contains(Settlements(), s.State)
		if (s.State == Unknown || s.State == NotConverged || settled) && s.turn().after(since) {
			return s.State
		}
	}
	return ""
}

// byTurn returns pointers to the actions, in the order of their last steps.
func byTurn(history []Action) []*Action {
	list := make([]*Action, len(history))
	for i := range history {
		list[i] = &history[i]
	}
	slices.SortStableFunc(list, func(a, b *Action) int { return a.last().compare(b.last()) })
	return list
}

// waiting returns why a rule has to wait for its earlier actions; "" if it has not. It carries out
// one action at a time, and after the first one it waits for Soak.
func waiting(s *Situation) string {
	r := s.Rule
	since := resumedAt(s.Controls, r.Name)
	var first *Action
	for _, a := range byTurn(s.History) {
		if s.Action != nil && a.ID == s.Action.ID {
			continue
		}
		if a.State.MayHaveWritten() && a.concerns(s.Rules, r) {
			return fmt.Sprintf("action %s of rule %q is %s: one at a time", a.ID, a.Rule, a.State)
		}
		if first == nil && a.Rule == r.Name && a.State == Converged && a.RuleDigest == r.Digest() && a.last().after(since) {
			first = a
		}
	}
	if first == nil {
		return ""
	}
	if end := first.Since().Add(r.Soak); s.Now.Before(end) {
		return fmt.Sprintf("the first action of rule %q, %s, is watched until %s", r.Name, first.ID, stamp(end))
	}
	return ""
}

// sharesField reports whether an action changed a field that a finding has, or one of them is about
// the whole resource.
func sharesField(a *Action, f *model.Finding) bool {
	if len(a.Plan.Changes) == 0 || len(f.Changes) == 0 {
		return true
	}
	return slices.ContainsFunc(f.Changes, func(c model.Change) bool {
		return slices.ContainsFunc(a.Plan.Changes, func(p FieldChange) bool { return p.Path == c.Path || p.Path == c.LivePath || claims(&c, p.Path) })
	})
}

// claims reports whether a declaration claims a disputed field at a path.
func claims(c *model.Change, path string) bool {
	return slices.ContainsFunc(c.Claims, func(v model.ClaimedValue) bool { return v.Path == path })
}

// Needed returns the number of approvals that an action needs. It is 0 if its rule is automatic and no
// person requested the action.
func Needed(r *Rule, a *Action) int {
	if r.Mode == Auto && a.By == "" {
		return 0
	}
	return max(r.Approvals, 1)
}

// FindAction returns the action whose ID equals prefix or begins with it. It returns ErrNoAction if there
// is none, and ErrAmbiguous if several IDs begin with prefix.
func FindAction(history []Action, prefix string) (Action, error) {
	var found []string
	at := -1
	for i := range history {
		id := history[i].ID
		if id == prefix {
			return history[i], nil
		}
		if prefix != "" && strings.HasPrefix(id, prefix) {
			found, at = append(found, id), i
		}
	}
	switch len(found) {
	case 0:
		return Action{}, fmt.Errorf("%w with the ID %q: `driftd actions` lists them", ErrNoAction, prefix)
	case 1:
		return history[at], nil
	}
	return Action{}, fmt.Errorf("%w: %q may be %s", ErrAmbiguous, prefix, strings.Join(found, ", "))
}

// The errors of FindAction.
var (
	ErrNoAction  = errors.New("there is no action")
	ErrAmbiguous = errors.New("more than one action has an ID that begins so")
)

// minAge is how long an action that ended is kept at least.
const minAge = 30 * 24 * time.Hour

// Obsolete returns the actions that ended before cut, and the controls that were issued before it, if no
// guard depends on them any longer.
func (s *Standing) Obsolete(cut, now time.Time) (actions []Action, controls []Control) {
	if limit := now.Add(-minAge); limit.Before(cut) {
		cut = limit
	}
	for i := range s.History {
		a := &s.History[i]
		resumed := resumedAt(s.Controls, a.Rule)
		stops := a.stops(resumed) != "" || a.State == Failed && a.last().after(resumed)
		if !a.State.IsOpen() && !stops && a.Since().Before(cut) {
			actions = append(actions, *a)
		}
	}
	last := map[string]int{}
	for i, c := range s.Controls {
		if c.Kind == Resume {
			last[c.Rule] = i
		}
	}
	frozen := Frozen(s.Controls, now)
	for i, c := range s.Controls {
		holds := slices.ContainsFunc(frozen, func(f Control) bool { return f.ID == c.ID })
		if !holds && c.At.Before(cut) && (c.Kind != Resume || last[c.Rule] != i) {
			controls = append(controls, c)
		}
	}
	return actions, controls
}
