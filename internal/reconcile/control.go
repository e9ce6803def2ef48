package reconcile

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A ControlKind is a kind of control.
type ControlKind string

// The kinds of controls. A Freeze forbids actions until a time, a Thaw ends freezes, and a Resume lets a
// stopped rule continue.
const (
	Freeze ControlKind = "freeze"
	Thaw   ControlKind = "thaw"
	Resume ControlKind = "resume"
)

// A Control is an instruction of a person for all actions, or for those of one source or rule. Controls are
// never changed; later ones override earlier ones.
type Control struct {
	ID   string      `json:"id"`
	Kind ControlKind `json:"kind"`
	// Source is the source to which a freeze or a thaw is limited, or "" for all sources.
	Source string `json:"source,omitempty"`
	// Rule is the name of the rule that is resumed.
	Rule string `json:"rule,omitempty"`
	// Until is the time at which a freeze ends.
	Until  time.Time `json:"until,omitzero"`
	By     string    `json:"by"`
	Via    string    `json:"via"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
	// Seq is the position among all steps and controls. The store sets it. It is 0 in records of older
	// versions.
	Seq uint64 `json:"seq,omitempty"`
}

// Frozen returns the freezes that are in effect at now, oldest first. controls must be sorted. A thaw ends
// all freezes of its source, or all freezes if it has no source.
func Frozen(controls []Control, now time.Time) []Control {
	var held []Control
	for _, c := range controls {
		switch c.Kind {
		case Freeze:
			held = append(held, c)
		case Thaw:
			held = slices.DeleteFunc(held, func(f Control) bool { return c.Source == "" || f.Source == c.Source })
		}
	}
	return slices.DeleteFunc(held, func(f Control) bool { return !now.Before(f.Until) })
}

// resumedAt returns the turn at which a rule was resumed last; zero if never.
func resumedAt(controls []Control, rule string) (last turn) {
	for i := range controls {
		if c := &controls[i]; c.Kind == Resume && c.Rule == rule {
			last = last.later(c.turn())
		}
	}
	return last
}

// AddControl stores a freeze, a thaw or the resumption of a rule. It returns a *StateError if the source or
// the rule does not exist.
func (r *Reconciler) AddControl(c Control) (Control, error) {
	if err := r.knownRule(c.Rule); err != nil {
		return c, err
	}
	if err := r.checkThaw(&c); err != nil {
		return c, err
	}
	if c.Kind == Freeze && c.Source != "" && !slices.Contains(r.Sources(), c.Source) {
		return c, &StateError{fmt.Sprintf("source %q has no writer: name one of %s", c.Source, strings.Join(r.Sources(), ", "))}
	}
	id := make([]byte, 6)
	if _, err := io.ReadFull(r.random, id); err != nil {
		return c, fmt.Errorf("make an ID: %w", err)
	}
	c.ID, c.At = hex.EncodeToString(id), r.Now()
	return c, r.Store.AddControl(c)
}

// checkThaw returns an error if a thaw would end no freeze.
func (r *Reconciler) checkThaw(c *Control) error {
	if c.Kind != Thaw {
		return nil
	}
	standing, err := r.Store.Standing()
	if err != nil {
		return err
	}
	now := r.Now()
	if slices.ContainsFunc(Frozen(standing.Controls, now), func(f Control) bool { return c.Source == "" || f.Source == c.Source }) {
		return nil
	}
	where := "no freeze holds"
	if c.Source != "" {
		where = fmt.Sprintf("no freeze of source %q holds", c.Source)
	}
	if len(Open(r.Windows, now)) > 0 {
		where += ", except those of reconcile.freezes in the configuration"
	}
	return &StateError{where + ": `driftd actions` lists them"}
}

// knownRule returns an error unless a rule, or an action of a rule that is gone, has the name.
func (r *Reconciler) knownRule(name string) error {
	if name == "" || slices.ContainsFunc(r.Rules, func(rule Rule) bool { return rule.Name == name }) {
		return nil
	}
	standing, err := r.Store.Standing()
	if err != nil || slices.ContainsFunc(standing.History, func(a Action) bool { return a.Rule == name }) {
		return err
	}
	return &StateError{fmt.Sprintf("there is no rule %q: `driftd rules` lists the rules", name)}
}
