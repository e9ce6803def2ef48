package model

import "time"

// DecisionKind says what somebody decided about a finding.
type DecisionKind string

// The decisions, the strongest first: leave it so; leave me alone until then;
// I know, I am on it.
const (
	Accept      DecisionKind = "accept"
	Snooze      DecisionKind = "snooze"
	Acknowledge DecisionKind = "acknowledge"
)

// DecisionKinds lists the kinds, the strongest first.
func DecisionKinds() []DecisionKind { return []DecisionKind{Accept, Snooze, Acknowledge} }

// Rank is 0 for the strongest kind.
func (k DecisionKind) Rank() int {
	for i, l := range DecisionKinds() {
		if k == l {
			return i
		}
	}
	return len(DecisionKinds())
}

// A Decision is what somebody decided about one finding. It holds while the
// finding is what it was then, and until its time is up.
type Decision struct {
	// ID is unique.
	ID   string       `json:"id"`
	Kind DecisionKind `json:"kind"`
	// Finding is the ID of the finding that it is about; "" where Subject says
	// which.
	Finding string `json:"finding"`
	// Subject names the finding for people, and for decisions that stand in a
	// file.
	Subject Target `json:"subject"`
	// Basis is the Finding.Basis that it holds for; "" where Changes says that.
	Basis string `json:"basis,omitempty"`
	// Changes are what the finding must show: their paths, and of their values
	// those that are given. Only decisions in a file have them.
	Changes []Change `json:"changes,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	// Owner is who answers for it, By who decided, At when, Via where: "command
	// line", a receiver's name, a file's address and line.
	Owner string    `json:"owner,omitempty"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
	Via   string    `json:"via"`
	// From is the declaration whose file it stands in; "" for one that was made
	// here.
	From string `json:"from,omitempty"`
	// Until is when it ends. It is zero only where somebody said "forever".
	Until time.Time `json:"until,omitzero"`
}

// Target names what a decision is about; an empty Verdict or Declaration
// stands for any.
type Target struct {
	Key
	Declaration string  `json:"declaration,omitempty"`
	Verdict     Verdict `json:"verdict,omitempty"`
}

// Ended tells whether the decision's time is up.
func (d *Decision) Ended(now time.Time) bool { return !d.Until.IsZero() && !now.Before(d.Until) }

// About tells whether the decision is about a finding, whatever that shows now.
func (d *Decision) About(f *Finding) bool {
	if d.Finding != "" {
		return d.Finding == f.ID
	}
	s := &d.Subject
	return s.Key == f.Key && (s.Declaration == "" || s.Declaration == f.Declaration) && (s.Verdict == "" || s.Verdict == f.Verdict)
}

// Holds tells whether the decision is about a finding, and the finding still
// shows what was decided about.
func (d *Decision) Holds(f *Finding, now time.Time) bool {
	if !d.About(f) || d.Ended(now) {
		return false
	}
	if d.Basis != "" {
		return d.Basis == f.Basis
	}
	return d.shownBy(f)
}

// shownBy tells whether a finding shows what Changes lists, and nothing else.
func (d *Decision) shownBy(f *Finding) bool {
	if len(d.Changes) != len(f.Changes) {
		return false
	}
	listed := make(map[string]*Change, len(d.Changes))
	for i := range d.Changes {
		listed[d.Changes[i].Path] = &d.Changes[i]
	}
	for i := range f.Changes {
		want, shown := listed[f.Changes[i].Path], &f.Changes[i]
		if want == nil || shown.Secret || !given(want.Declared, shown.Declared) || !given(want.Recorded, shown.Recorded) ||
			!given(want.Live, shown.Live) {
			return false
		}
	}
	return true
}

func given(want, shown *Value) bool {
	return want == nil || shown != nil && want.Equal(*shown)
}

// Settle notes on a finding the strongest decision that holds for it; of two of
// one kind the later. The order of decisions does not matter.
func (f *Finding) Settle(decisions []Decision, now time.Time) {
	f.Decision = nil
	for i := range decisions {
		d := &decisions[i]
		if d.Holds(f, now) && (f.Decision == nil || d.before(f.Decision)) {
			f.Decision = d
		}
	}
	if f.Decision != nil {
		noted := *f.Decision
		noted.Changes = nil // the finding shows them
		f.Decision = &noted
	}
}

// before tells whether d counts rather than e.
func (d *Decision) before(e *Decision) bool {
	switch {
	case d.Kind != e.Kind:
		return d.Kind.Rank() < e.Kind.Rank()
	case !d.At.Equal(e.At):
		return d.At.After(e.At)
	}
	return d.ID < e.ID
}
