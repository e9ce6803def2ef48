package model

import (
	"cmp"
	"slices"
	"time"
)

// A Verdict is the result of comparing a subject.
type Verdict string

// The verdicts. Live L, declared D, recorded R.
const (
	InSync         Verdict = "in-sync"         // D = R = L
	Changed        Verdict = "changed"         // L ≠ R, D = R: changed behind the tool's back
	Pending        Verdict = "pending"         // D ≠ R, L = R, and the declaration moved: declared, not applied yet
	Bypassed       Verdict = "bypassed"        // D ≠ R, L = R, and the declaration did not move: applied, and in no commit
	Codified       Verdict = "codified"        // L = D ≠ R: live and git agree, the record is old
	Conflict       Verdict = "conflict"        // all three differ
	Missing        Verdict = "missing"         // declared or recorded, absent inside coverage
	PendingRestart Verdict = "pending-restart" // accepted by the system, live only after a restart
	Unmanaged      Verdict = "unmanaged"       // live inside a governed scope, claimed by nobody
	Undeclared     Verdict = "undeclared"      // a field that no declaration sets and no known controller owns
	Moved          Verdict = "moved"           // same identity, other place or name
	Disputed       Verdict = "disputed"        // two declarations claim different values
	Unchecked      Verdict = "unchecked"       // could not be compared
)

// Verdicts lists every verdict that a finding may have, worst first.
func Verdicts() []Verdict {
	return []Verdict{Conflict, Missing, Changed, Bypassed, Disputed, Undeclared, Unmanaged, Moved,
		PendingRestart, Pending, Codified, Unchecked}
}

// IsDrift tells a finding that says "something differs" from one that says
// "nobody could look".
func (v Verdict) IsDrift() bool { return v != InSync && v != Unchecked }

// Severity rates a finding.
type Severity string

// The severities, worst first.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
	Info     Severity = "info"
)

// Severities lists the severities, worst first.
func Severities() []Severity { return []Severity{Critical, High, Medium, Low, Info} }

// Rank is 0 for the worst severity and grows as they become milder.
func (s Severity) Rank() int {
	for i, t := range Severities() {
		if s == t {
			return i
		}
	}
	return len(Severities())
}

// Confidence says how sure an Actor is.
type Confidence string

// The confidences: Exact when the evidence names object and field, Likely when
// it names the object and a time, Unknown when there is none.
const (
	Exact   Confidence = "exact"
	Likely  Confidence = "likely"
	Unknown Confidence = "unknown"
)

// An Actor is who changed something. "unknown" is a legal answer, with Reason.
type Actor struct {
	Name       string     `json:"name"`
	At         time.Time  `json:"at,omitzero"`
	Via        string     `json:"via,omitempty"`
	Evidence   string     `json:"evidence,omitempty"`
	Confidence Confidence `json:"confidence"`
	Reason     string     `json:"reason,omitempty"`
	// Request is the id of the one request that the entry belongs to, where the
	// log tells which entries belong together.
	Request string `json:"request,omitempty"`
	// Message is what the actor wrote beside the change.
	Message string `json:"message,omitempty"`
}

// UnknownActor says that nobody can be named, and why.
func UnknownActor(reason string) Actor {
	return Actor{Name: "unknown", Confidence: Unknown, Reason: reason}
}

// A Change is one field that differs. Sides that are absent are nil.
type Change struct {
	Path     string `json:"path"`
	LivePath string `json:"live_path,omitempty"`
	Declared *Value `json:"declared,omitempty"`
	Recorded *Value `json:"recorded,omitempty"`
	Live     *Value `json:"live,omitempty"`
	// Running is what is in effect until a restart, where Live waits for one.
	Running *Value `json:"running,omitempty"`
	Secret  bool   `json:"secret"`
	// Unproven reports whether a pending change may be a bypassed one, or a changed
	// one may be pending: nothing reports whether the declaration moved or the live
	// side. It is rated like changed.
	Unproven bool `json:"unproven,omitempty"`
	// Severity is set where a rule rates this field otherwise than usual.
	Severity Severity `json:"severity,omitempty"`
	// Rated is set where a rule of the configuration set Severity.
	Rated *Rating `json:"rated,omitempty"`
	// Exposure is what the field decides; "" for most fields.
	Exposure Exposure `json:"exposure,omitempty"`
	// Claims are the values of each declaration if the declarations disagree, and
	// LiveActor is the last writer of Live then.
	Claims    []ClaimedValue `json:"claims,omitempty"`
	LiveActor *Actor         `json:"live_actor,omitempty"`
	// Actor is set where it differs from the finding's.
	Actor *Actor `json:"actor,omitempty"`
}

// field names the changed field alike for all claims: by its live path, if it has one.
func (c *Change) field() string { return cmp.Or(c.LivePath, c.Path) }

// A ClaimedValue is the value of a disputed field in one declaration. Path is set
// if the declaration has another name for the field than Change.Path. Actor is who
// last set the value in the declaration; nil in findings of earlier versions.
type ClaimedValue struct {
	Declaration string `json:"declaration"`
	Address     string `json:"address"`
	Path        string `json:"path,omitempty"`
	Value       Value  `json:"declared"`
	Actor       *Actor `json:"actor,omitempty"`
}

// A Finding is a verdict that is not in-sync: one for a resource, a claim and
// a verdict, kept across scans under the same ID.
type Finding struct {
	ID       string   `json:"id"`
	Verdict  Verdict  `json:"verdict"`
	Severity Severity `json:"severity"`
	// Rated is set where a rule of the configuration set Severity.
	Rated *Rating `json:"rated,omitempty"`
	// Exposure is that of the worst change, or of the resource as a whole.
	Exposure Exposure `json:"exposure,omitempty"`
	Key
	Place       string `json:"namespace"`
	Name        string `json:"name"`
	Declaration string `json:"declaration"`
	Address     string `json:"address"`
	// Changes are sorted by path; empty when the finding is about the whole
	// resource.
	Changes []Change `json:"changes"`
	Actor   Actor    `json:"actor"`
	// Reason says why it could not be checked, or why the severity is what it
	// is; it may be empty.
	Reason    string    `json:"reason"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	// Unproven is Change.Unproven for a finding about the whole resource.
	Unproven bool `json:"unproven,omitempty"`
	// Replaces reports whether the next apply destroys the resource and creates it
	// again.
	Replaces bool `json:"replaces,omitempty"`
	// Resolved is when a scan proved that it is over; zero while it is open.
	Resolved time.Time `json:"resolved,omitzero"`
	// Owner is who the rules of owners say answers for it, or "".
	Owner string `json:"owner,omitempty"`
	// Labels are those of the resource, live or as declared.
	Labels map[string]string `json:"labels,omitempty"`
	// Basis is a digest of what the finding shows, and of what is declared. It
	// changes when one of them does, and tells nothing of either.
	Basis string `json:"basis,omitempty"`
	// WorseBasis is the Basis of the same values under the worse verdict, where
	// values alone do not distinguish the two (pending and bypassed). A decision
	// made under the worse verdict holds under this one too.
	WorseBasis string `json:"worse_basis,omitempty"`
	// Was is the verdict before the last reclassification; nil when there was
	// none.
	Was *Former `json:"was,omitempty"`
	// Merged are the IDs of findings that were merged into this one, oldest
	// first, at most MaxMerged.
	Merged []string `json:"merged,omitempty"`
	// MergedInto is the ID of the finding that this one was merged into. Such a
	// finding is closed, Resolved is the time, but its fields still drift.
	MergedInto string `json:"merged_into,omitempty"`
	// Hidden is the reason of the ignore rule that hides it; "" when none does.
	Hidden string `json:"hidden,omitempty"`
	// Ignored are fields that ignore rules took out of Changes.
	Ignored []IgnoredChange `json:"ignored,omitempty"`
	// Decision is what somebody decided about it, while that holds.
	Decision *Decision `json:"decision,omitempty"`
	// Flips are when it last came, changed and went, oldest first.
	Flips []Flip `json:"flips,omitempty"`
	// Flapping reports that it went back and forth when it was last judged.
	Flapping bool `json:"flapping,omitempty"`
}

// A Former is the verdict that a finding had until it was reclassified at At.
type Former struct {
	Verdict Verdict   `json:"verdict"`
	At      time.Time `json:"at"`
}

// UTC returns a copy with its time in UTC; nil of nil.
func (w *Former) UTC() *Former {
	if w == nil {
		return nil
	}
	return &Former{w.Verdict, w.At.UTC()}
}

// MaxMerged bounds Finding.Merged: the IDs that were merged last are kept.
const MaxMerged = 16

// Continue takes over what outlives a change of verdict from the finding that
// f continues: its ID, when it was first seen, what was merged into it, and, if
// the verdict changed, what it was.
func (f *Finding) Continue(before *Finding, now time.Time) {
	f.FirstSeen, f.Was = before.FirstSeen, before.Was
	f.Recall(before, now)
}

// Recall takes over what outlives the end of a finding from the one that came
// back as f.
func (f *Finding) Recall(before *Finding, now time.Time) {
	f.ID, f.Merged = before.ID, slices.Clone(before.Merged)
	if f.Verdict != before.Verdict {
		f.Was = &Former{before.Verdict, now}
	}
}

// Merge notes that other findings were merged into f, with those that were
// merged into them.
func (f *Finding) Merge(others ...*Finding) {
	var all []string
	add := func(id string) {
		if id != f.ID {
			all = append(slices.DeleteFunc(all, func(known string) bool { return known == id }), id)
		}
	}
	for _, from := range append([]*Finding{f}, others...) {
		for _, id := range from.Merged {
			add(id)
		}
		add(from.ID)
	}
	f.Merged = all[max(0, len(all)-MaxMerged):]
}

// An IgnoredChange is a field that an ignore rule took out of a finding.
type IgnoredChange struct {
	// Reason is the rule's.
	Reason string `json:"reason"`
	Change
}

// Shown reports whether the finding counts as drift: no rule hides it, and nobody
// accepted it.
func (f *Finding) Shown() bool { return f.Hidden == "" && !f.Accepted() }

// IsUnproven reports whether the finding, or one of its changes, is unproven.
func (f *Finding) IsUnproven() bool {
	return f.Unproven || slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Unproven })
}

// VerdictText returns the verdict as people read it: "pending or bypassed" where
// nothing proves that a pending finding is not a bypassed one.
func (f *Finding) VerdictText() string {
	if f.Verdict == Pending && f.IsUnproven() {
		return string(Pending) + " or " + string(Bypassed)
	}
	return string(f.Verdict)
}

// Accepted reports whether somebody accepted it.
func (f *Finding) Accepted() bool { return f.Decision != nil && f.Decision.Kind == Accept }

// Muted reports whether nobody wants to hear of it now: it is hidden, or somebody
// decided about it.
func (f *Finding) Muted() bool { return f.Hidden != "" || f.Decision != nil }

// A Flip is a moment at which a finding came, changed or went.
type Flip struct {
	At time.Time `json:"at"`
	// Basis is what it showed from then on; "" when it went.
	Basis string `json:"basis,omitempty"`
}

// A finding is flapping that flipped FlapCount times within FlapWindow between
// no more than FlapStates states, or FlapLimit times between however many. It is
// flapping until it stays as it is for FlapWindow.
const (
	FlapCount  = 5
	FlapStates = 2
	FlapLimit  = 12
	FlapWindow = 3 * time.Hour
)

// Flipped notes that the finding came, changed or, with basis "", went. What is
// too old to count is dropped, and what a clock set back put into the future.
func (f *Finding) Flipped(at time.Time, basis string) {
	kept := slices.DeleteFunc(slices.Clone(f.Flips), func(p Flip) bool { return at.Sub(p.At) > FlapWindow || p.At.After(at) })
	kept = append(kept, Flip{at, basis})
	f.Flips = kept[max(0, len(kept)-FlapLimit):]
}

// Flaps reports whether it goes back and forth too often to tell of each time.
func (f *Finding) Flaps(now time.Time) bool {
	recent := slices.DeleteFunc(slices.Clone(f.Flips), func(p Flip) bool { return p.At.After(now) || now.Sub(p.At) > FlapWindow })
	if f.Flapping {
		return len(recent) > 0
	}
	return len(recent) >= FlapLimit || len(recent) >= FlapCount && states(recent[len(recent)-FlapCount:]) <= FlapStates
}

// states counts what flips led to.
func states(flips []Flip) int {
	seen := map[string]bool{}
	for _, p := range flips {
		seen[p.Basis] = true
	}
	return len(seen)
}
