package reconcile

import (
	"cmp"
	"slices"
	"time"
)

// A turn is the place of a step or a control in the order in which they were stored. The clock may be set back between
// two of them, so that times have no part in the order of those that have a position. Those without one are older, and
// ordered by time.
type turn struct {
	seq uint64
	at  time.Time
}

func (t turn) compare(o turn) int {
	if t.seq != 0 || o.seq != 0 {
		return cmp.Compare(t.seq, o.seq)
	}
	return t.at.Compare(o.at)
}

func (t turn) after(o turn) bool { return t.compare(o) > 0 }

func (t turn) later(o turn) turn {
	if o.after(t) {
		return o
	}
	return t
}

func (s *Step) turn() turn { return turn{s.Seq, s.At} }

func (c *Control) turn() turn { return turn{c.Seq, c.At} }

// began is the turn at which the action was proposed, and last the one at which it entered its state.
func (a *Action) began() turn {
	if len(a.Steps) == 0 {
		return turn{at: a.At}
	}
	return a.Steps[0].turn()
}

func (a *Action) last() turn {
	if len(a.Steps) == 0 {
		return turn{at: a.At}
	}
	return a.Steps[len(a.Steps)-1].turn()
}

// Sort sorts the actions and controls from the oldest to the newest.
func (s *Standing) Sort() {
	slices.SortStableFunc(s.History, func(a, b Action) int { return a.began().compare(b.began()) })
	slices.SortStableFunc(s.Controls, func(a, b Control) int { return a.turn().compare(b.turn()) })
}

// Number sets Seq of the steps of an action after the first known steps. The numbers are higher than all in
// the store.
func (s *Standing) Number(a *Action, known int) {
	for i := known; i < len(a.Steps); i++ {
		a.Steps[i].Seq = s.next() + uint64(i-known)
	}
}

// NumberControl sets Seq of a new control. The number is higher than all in the store.
func (s *Standing) NumberControl(c *Control) { c.Seq = s.next() }

// next returns the first position that is not in use.
func (s *Standing) next() uint64 {
	var last uint64
	for i := range s.History {
		for j := range s.History[i].Steps {
			last = max(last, s.History[i].Steps[j].Seq)
		}
	}
	for i := range s.Controls {
		last = max(last, s.Controls[i].Seq)
	}
	return last + 1
}
