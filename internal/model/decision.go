package model

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A DecisionKind is a kind of decision about a finding.
type DecisionKind string

// The kinds of decisions, the strongest first. Accept accepts the live state, Snooze stops
// notifications until a time, and Acknowledge marks the finding as being handled.
const (
	Accept      DecisionKind = "accept"
	Snooze      DecisionKind = "snooze"
	Acknowledge DecisionKind = "acknowledge"
)

// DecisionKinds returns the kinds, the strongest first.
func DecisionKinds() []DecisionKind { return []DecisionKind{Accept, Snooze, Acknowledge} }

// Rank returns the position of the kind in DecisionKinds, so that 0 is the strongest, or the number
// of kinds if it is not one of them.
func (k DecisionKind) Rank() int {
	for i, l := range DecisionKinds() {
		if k == l {
			return i
		}
	}
	return len(DecisionKinds())
}

// Participle returns the past participle of the kind, such as "accepted".
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

// A Decision is a decision of a person about one finding, or about the findings of a baseline. It
// holds until the finding changes or the decision ends.
type Decision struct {
	// ID is unique.
	ID   string       `json:"id"`
	Kind DecisionKind `json:"kind"`
	// Finding is the ID of the finding; "" if Subject identifies it.
	Finding string `json:"finding"`
	// Subject describes the finding. For a decision in a file, it identifies the finding.
	Subject Target `json:"subject"`
	// Basis is the Finding.Basis for which the decision holds; "" if Changes is set.
	Basis string `json:"basis,omitempty"`
	// Severity is the severity of the finding at the time of the decision; "" if unknown.
	Severity Severity `json:"severity,omitempty"`
	// Covers is the number of findings in a baseline, and Covered lists them, sorted by ID;
	// Finding, Subject and Basis are then empty. Covered is set only in the store.
	Covers  int       `json:"covers,omitempty"`
	Covered []Covered `json:"covered,omitempty"`
	// Changes lists the changes that the finding must have: their paths, and their values as far as
	// they are given. Only decisions in a file have them.
	Changes []Change `json:"changes,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	// Owner is the person or team responsible for the decision. By is the person who decided, and
	// At the time. Via is the interface that was used: "command line", "command line (as root)",
	// "web", the name of a receiver, or the address and line of a file.
	Owner string    `json:"owner,omitempty"`
	By    string    `json:"by"`
	At    time.Time `json:"at"`
	Via   string    `json:"via"`
	// From is the declaration that contains the file of the decision; "" for a decision that was
	// made in driftd.
	From string `json:"from,omitempty"`
	// Until is the time at which the decision ends; zero if it has no end.
	Until time.Time `json:"until,omitzero"`
	// Replaces is the ID of the decision that this one replaced; "" if it replaced none.
	Replaces string `json:"replaces,omitempty"`
	// ReplacedBy is the ID of the decision that replaced this one, and Replaced the time at which
	// it did and this decision ended. Both are zero if the decision was not replaced.
	ReplacedBy string    `json:"replaced_by,omitempty"`
	Replaced   time.Time `json:"replaced,omitzero"`
}

// A Covered is a finding of a baseline, as it was when the baseline was made.
type Covered struct {
	Finding  string   `json:"finding"`
	Basis    string   `json:"basis"`
	Severity Severity `json:"severity"`
}

// covered returns the entry of a baseline for a finding; nil if there is none.
func (d *Decision) covered(f *Finding) *Covered {
	for _, id := range append([]string{f.ID}, f.Merged...) {
		i, found := slices.BinarySearchFunc(d.Covered, id, func(c Covered, id string) int { return strings.Compare(c.Finding, id) })
		if found {
			return &d.Covered[i]
		}
	}
	return nil
}

// covers reports whether a baseline holds for a finding: it did not change, and is not more
// severe.
func (d *Decision) covers(f *Finding) bool {
	c := d.covered(f)
	return c != nil && (c.Basis == f.Basis || c.Basis == f.WorseBasis) && f.Severity.Rank() >= c.Severity.Rank()
}

// Topic returns the subject of the decision as text: "a baseline of N" or the key of the resource.
func (d *Decision) Topic() string {
	if d.Covers > 0 {
		return "a baseline of " + strconv.Itoa(d.Covers)
	}
	return d.Subject.Key.String()
}

// A DecisionStatus is a decision with the findings for which it holds.
type DecisionStatus struct {
	Decision
	// Holds lists the IDs of the open findings for which the decision holds. It is never nil.
	Holds []string `json:"holds"`
	// Why is the reason why the decision holds for no finding; "" if it holds for one.
	Why string `json:"why,omitempty"`
}

// A Target is the subject of a decision. An empty Verdict, Declaration or Check matches any.
type Target struct {
	Key
	Declaration string  `json:"declaration,omitempty"`
	Verdict     Verdict `json:"verdict,omitempty"`
	// Check is Finding.Check.
	Check string `json:"check,omitempty"`
	// Unproven reports whether it was not known, at the time of the decision, if the finding was
	// pending or bypassed. It is for display only and not compared.
	Unproven bool `json:"unproven,omitempty"`
}

// VerdictText returns the verdict in the form of Finding.VerdictText; "" if it is not set.
func (t *Target) VerdictText() string {
	return (&Finding{Verdict: t.Verdict, Unproven: t.Unproven}).VerdictText()
}

// Ended reports whether the decision has ended by now or was replaced. A replaced decision remains
// ended even if the clock is set back.
func (d *Decision) Ended(now time.Time) bool {
	return d.ReplacedBy != "" || past(d.Until, now)
}

// past reports whether an end has passed; the zero time never passes.
func past(end, now time.Time) bool { return !end.IsZero() && !now.Before(end) }

// EndsSoon reports whether the decision has not ended and ends within a week of now.
func (d *Decision) EndsSoon(now time.Time) bool {
	const week = 7 * 24 * time.Hour
	return !d.Until.IsZero() && !d.Ended(now) && d.Until.Sub(now) <= week
}

// About reports whether the decision is about the finding, even if the finding has changed since.
func (d *Decision) About(f *Finding) bool {
	if d.Covers > 0 {
		return d.covered(f) != nil
	}
	if d.Finding != "" {
		return d.Finding == f.ID || slices.Contains(f.Merged, d.Finding)
	}
	s := &d.Subject
	return s.Key == f.Key && (s.Check == "" || s.Check == f.Check) && (s.Declaration == "" || s.Declaration == f.Declaration) &&
		(s.Verdict == "" || s.Verdict == f.Verdict || d.madeUnderWorse(f))
}

// madeUnderWorse reports whether the decision was made about the same values
// under the worse verdict.
func (d *Decision) madeUnderWorse(f *Finding) bool { return d.Basis != "" && d.Basis == f.WorseBasis }

// Holds reports whether the decision is about the finding, has not ended by now, and the finding
// has not changed since.
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
	return len(f.Objects) == 0 && d.shownBy(f) && !d.outgrown(f)
}

// outgrown reports whether a finding without changes is more severe than at the decision.
// The state of its resource is not in its Basis.
func (d *Decision) outgrown(f *Finding) bool {
	return len(f.Changes) == 0 && d.Severity != "" && f.Severity.Rank() < d.Severity.Rank()
}

// shownBy reports whether a finding has exactly the changes in Changes.
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

// A DecisionIndex finds decisions by finding. The zero DecisionIndex is empty.
type DecisionIndex struct {
	byFinding  map[string][]*Decision
	byResource map[Key][]*Decision
}

// IndexDecisions returns an index of the decisions in list. The index refers to the elements of
// list, which the caller must not change.
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

// Settle sets f.Decision to the strongest decision that holds for the finding, the latest one if
// there are several of that kind, or to nil if none holds. The result does not depend on the order
// of the decisions. Settle reports whether f.Decision changed.
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
		noted.By != before.By || !noted.Until.Equal(before.Until)
}

// noted returns the decision as findings have it: without their changes, and, for one in a
// file, without the time and line, which each commit may change.
func (d *Decision) noted() Decision {
	n := *d
	n.Changes, n.Covered = nil, nil
	if n.From != "" {
		n.At = time.Time{}
		n.Via, _, _ = strings.Cut(n.Via, ":")
	}
	return n
}

// before reports whether d takes precedence over e.
func (d *Decision) before(e *Decision) bool {
	switch {
	case d.Kind != e.Kind:
		return d.Kind.Rank() < e.Kind.Rank()
	case !d.At.Equal(e.At):
		return d.At.After(e.At)
	}
	return d.ID < e.ID
}
