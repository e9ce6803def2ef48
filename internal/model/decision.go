package model

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

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

// Participle is what a finding is that somebody decided about.
func (k DecisionKind) Participle() string {
	switch k {
	case Accept:
		return "accepted"
	case Snooze:
		return "snoozed"
	case Acknowledge:
		return "acknowledged"
	}
	return "decided"
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
	// Severity is the severity that the finding had; "" if it is not known.
	Severity Severity `json:"severity,omitempty"`
	// Covers counts the findings that a baseline was made about, and Covered are
	// these, sorted by ID: Finding, Subject and Basis are empty then. Covered is only
	// where decisions are kept.
	Covers  int       `json:"covers,omitempty"`
	Covered []Covered `json:"covered,omitempty"`
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
	// Replaces is the ID of the decision that this one replaced; "" if there is none.
	Replaces string `json:"replaces,omitempty"`
	// ReplacedBy is the ID of the decision that replaced this one at the time Replaced:
	// it has ended then. Both are zero while it was not replaced.
	ReplacedBy string    `json:"replaced_by,omitempty"`
	Replaced   time.Time `json:"replaced,omitzero"`
}

// A Covered is a finding of a baseline, as it was then.
type Covered struct {
	Finding  string   `json:"finding"`
	Basis    string   `json:"basis"`
	Severity Severity `json:"severity"`
}

// covered returns what a baseline says of a finding; nil if nothing.
func (d *Decision) covered(f *Finding) *Covered {
	for _, id := range append([]string{f.ID}, f.Merged...) {
		i, found := slices.BinarySearchFunc(d.Covered, id, func(c Covered, id string) int { return strings.Compare(c.Finding, id) })
		if found {
			return &d.Covered[i]
		}
	}
	return nil
}

// covers reports whether a baseline holds for a finding: it shows what it showed
// then, and is no more severe.
func (d *Decision) covers(f *Finding) bool {
	c := d.covered(f)
	return c != nil && (c.Basis == f.Basis || c.Basis == f.WorseBasis) && f.Severity.Rank() >= c.Severity.Rank()
}

// Topic names what the decision is about for people.
func (d *Decision) Topic() string {
	if d.Covers > 0 {
		return "a baseline of " + strconv.Itoa(d.Covers)
	}
	return d.Subject.Key.String()
}

// A DecisionStatus is a decision and how it stands.
type DecisionStatus struct {
	Decision
	// Holds are the IDs of the open findings that are noted with it; never nil.
	Holds []string `json:"holds"`
	// Why says why it holds for none; "" where it holds.
	Why string `json:"why,omitempty"`
}

// Target names what a decision is about; an empty Verdict or Declaration
// stands for any.
type Target struct {
	Key
	Declaration string  `json:"declaration,omitempty"`
	Verdict     Verdict `json:"verdict,omitempty"`
}

// Ended reports whether the decision's time is up or another one has replaced it, which
// stays so where the clock is set back.
func (d *Decision) Ended(now time.Time) bool {
	return d.ReplacedBy != "" || past(d.Until, now)
}

// past reports whether an end has come; the zero time never comes.
func past(end, now time.Time) bool { return !end.IsZero() && !now.Before(end) }

// EndsSoon reports whether the decision ends within a week from now on.
func (d *Decision) EndsSoon(now time.Time) bool {
	const week = 7 * 24 * time.Hour
	return !d.Until.IsZero() && !d.Ended(now) && d.Until.Sub(now) <= week
}

// About reports whether the decision is about a finding, whatever that shows now.
func (d *Decision) About(f *Finding) bool {
	if d.Covers > 0 {
		return d.covered(f) != nil
	}
	if d.Finding != "" {
		return d.Finding == f.ID || slices.Contains(f.Merged, d.Finding)
	}
	s := &d.Subject
	return s.Key == f.Key && (s.Declaration == "" || s.Declaration == f.Declaration) &&
		(s.Verdict == "" || s.Verdict == f.Verdict || d.madeUnderWorse(f))
}

// madeUnderWorse reports whether the decision was made about the same values
// under the worse verdict.
func (d *Decision) madeUnderWorse(f *Finding) bool { return d.Basis != "" && d.Basis == f.WorseBasis }

// Holds reports whether the decision is about a finding, and the finding still
// shows what was decided about.
func (d *Decision) Holds(f *Finding, now time.Time) bool {
	if !d.About(f) || d.Ended(now) {
		return false
	}
	if d.Covers > 0 {
		return d.covers(f)
	}
	if d.Basis != "" {
		return (d.Basis == f.Basis || d.madeUnderWorse(f)) && !d.outgrown(f)
	}
	return d.shownBy(f)
}

// outgrown reports whether a finding that shows no values is more severe than when it
// was decided about: what became of its resource is not in its Basis.
func (d *Decision) outgrown(f *Finding) bool {
	return len(f.Changes) == 0 && d.Severity != "" && f.Severity.Rank() < d.Severity.Rank()
}

// shownBy reports whether a finding shows what Changes lists, and nothing else.
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

// A DecisionIndex finds the decisions about a finding among many. The zero
// DecisionIndex holds none.
type DecisionIndex struct {
	byFinding  map[string][]*Decision
	byResource map[Key][]*Decision
}

// IndexDecisions returns an index of decisions, which must not change.
func IndexDecisions(list []Decision) DecisionIndex {
	x := DecisionIndex{map[string][]*Decision{}, map[Key][]*Decision{}}
	for i := range list {
		d := &list[i]
		for k := range d.Covered {
			x.byFinding[d.Covered[k].Finding] = append(x.byFinding[d.Covered[k].Finding], d)
		}
		switch {
		case d.Covers > 0:
		case d.Finding != "":
			x.byFinding[d.Finding] = append(x.byFinding[d.Finding], d)
		default:
			x.byResource[d.Subject.Key] = append(x.byResource[d.Subject.Key], d)
		}
	}
	return x
}

// Settle notes on a finding the strongest decision that holds for it; of two of
// one kind the later. The order of decisions does not matter. It reports whether
// that is another than before.
func (x DecisionIndex) Settle(f *Finding, now time.Time) (changed bool) {
	before := f.Decision
	f.Decision = nil
	lists := [][]*Decision{x.byFinding[f.ID], x.byResource[f.Key]}
	for _, id := range f.Merged {
		lists = append(lists, x.byFinding[id])
	}
	for _, list := range lists {
		for _, d := range list {
			if d.Holds(f, now) && (f.Decision == nil || d.before(f.Decision)) {
				f.Decision = d
			}
		}
	}
	if f.Decision == nil {
		return before != nil
	}
	noted := f.Decision.noted()
	f.Decision = &noted
	return before == nil || noted.ID != before.ID || noted.Reason != before.Reason || noted.Owner != before.Owner ||
		!noted.Until.Equal(before.Until)
}

// noted is the decision as findings show it: without what they show themselves,
// and of one in a file without what each commit moves.
func (d *Decision) noted() Decision {
	n := *d
	n.Changes, n.Covered = nil, nil
	if n.From != "" {
		n.At = time.Time{}
		n.Via, _, _ = strings.Cut(n.Via, ":")
	}
	return n
}

// before reports whether d counts rather than e.
func (d *Decision) before(e *Decision) bool {
	switch {
	case d.Kind != e.Kind:
		return d.Kind.Rank() < e.Kind.Rank()
	case !d.At.Equal(e.At):
		return d.At.After(e.At)
	}
	return d.ID < e.ID
}
