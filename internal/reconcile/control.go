package reconcile

import (
	"slices"
	"time"
)

// A ControlKind is a kind of control.
type ControlKind string

// The kinds of controls: no actions until a time; the end of that; a rule that was stopped goes on.
const (
	Freeze ControlKind = "freeze"
	Thaw   ControlKind = "thaw"
	Resume ControlKind = "resume"
)

// A Control is an order of a person about all actions, or about those of one rule. Controls are never
// changed: later ones override earlier ones.
type Control struct {
	ID   string      `json:"id"`
	Kind ControlKind `json:"kind"`
	// Source limits a freeze, or a thaw, to one source; "" means all.
	Source string `json:"source,omitempty"`
	// Rule is the rule that is resumed.
	Rule string `json:"rule,omitempty"`
	// Until is the end of a freeze.
	Until  time.Time `json:"until,omitzero"`
	By     string    `json:"by"`
	Via    string    `json:"via"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`
}

// Frozen returns the freezes that hold at a time, oldest first. Controls are sorted by time. A thaw
// ends all freezes of its source, and one without a source ends all.
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

// resumedAt returns when a rule was resumed last; zero if never.
func resumedAt(controls []Control, rule string) (at time.Time) {
	for _, c := range controls {
		if c.Kind == Resume && c.Rule == rule {
			at = c.At
		}
	}
	return at
}
