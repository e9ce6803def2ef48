package reconcile

import (
	"maps"
	"slices"
)

// An Overview contains all actions and controls, and the status of the rules.
type Overview struct {
	// Actions are all actions, newest first. Freezes are the freezes in effect.
	Actions []Action  `json:"actions"`
	Freezes []Control `json:"freezes"`
	// Rules are the rules of the configuration.
	Rules []RuleStatus `json:"rules"`
	// Held are the findings for which driftd proposed no action after the last scan, the most severe first.
	Held []Held `json:"held"`
	// Refusals is the number of refusals since the start, by guard.
	Refusals map[string]int `json:"-"`
}

// A RuleStatus is a rule and its status.
type RuleStatus struct {
	Name string `json:"name"`
	Mode Mode   `json:"mode"`
	// Stopped is the reason why the rule is stopped, or "" if it is not.
	Stopped string `json:"stopped,omitempty"`
	// Fights is the number of resources that driftd and another writer changed back and forth within the
	// last seven days. It is reset when a person resumes the rule.
	Fights int `json:"fights,omitempty"`
}

// Overview returns an overview of the actions. It returns an error if the store cannot be read.
func (r *Reconciler) Overview() (Overview, error) {
	standing, err := r.Store.Standing()
	if err != nil {
		return Overview{}, err
	}
	now := r.Now()
	o := Overview{Actions: append([]Action{}, standing.History...), Freezes: append(append([]Control{}, Frozen(standing.Controls, now)...), Open(r.Windows, now)...), Rules: []RuleStatus{}}
	slices.Reverse(o.Actions)
	r.mu.Lock()
	o.Refusals, o.Held = maps.Clone(r.refusals), append([]Held{}, r.held...)
	r.mu.Unlock()
	proposed := map[string]bool{} // since the scan, by a person
	for i := range o.Actions {
		proposed[o.Actions[i].Finding] = proposed[o.Actions[i].Finding] || o.Actions[i].State.IsOpen()
	}
	o.Held = slices.DeleteFunc(o.Held, func(h Held) bool { return proposed[h.Finding] })
	for i := range r.Rules {
		rule := &r.Rules[i]
		o.Rules = append(o.Rules, RuleStatus{rule.Name, rule.Mode, Stopped(r.Rules, rule, standing.History, standing.Controls),
			fights(rule.Name, standing.History, standing.Controls, now)})
	}
	return o, nil
}

// LastAction returns the newest action for the finding with the given ID, or nil if there is none.
func (o *Overview) LastAction(finding string) *Action {
	at := slices.IndexFunc(o.Actions, func(a Action) bool { return a.Finding == finding })
	if at < 0 {
		return nil
	}
	return &o.Actions[at]
}
