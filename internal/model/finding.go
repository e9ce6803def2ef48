package model

import (
	"cmp"
	"slices"
	"time"
)

// A Verdict is the result of comparing a subject.
type Verdict string

// The verdicts. Live L, declared D, recorded R. If nothing records what was applied, the
// writers of a field take the place of R: package diff.
const (
	InSync         Verdict = "in-sync"         // D = R = L.
	Changed        Verdict = "changed"         // L ≠ R, D = R: changed behind the tool's back.
	Pending        Verdict = "pending"         // D ≠ R, L = R, and the declaration moved: declared, not applied yet.
	Bypassed       Verdict = "bypassed"        // D ≠ R, L = R, and the declaration did not move: applied, and in no commit.
	Codified       Verdict = "codified"        // L = D ≠ R: live and git agree, the record is old.
	Conflict       Verdict = "conflict"        // all three differ.
	Missing        Verdict = "missing"         // declared or recorded, absent inside coverage.
	PendingRestart Verdict = "pending-restart" // accepted by the system, live only after a restart.
	Unmanaged      Verdict = "unmanaged"       // live inside a governed scope, and not claimed.
	Undeclared     Verdict = "undeclared"      // a field that no declaration sets and no known controller owns.
	Moved          Verdict = "moved"           // same identity, other place or name.
	Disputed       Verdict = "disputed"        // two declarations claim different values.
	Violated       Verdict = "violated"        // a check failed: Finding.Check.
	Unchecked      Verdict = "unchecked"       // could not be compared.

	// Nondeterministic is the verdict on a declaration that differs between equal inputs.
	Nondeterministic Verdict = "nondeterministic"
)

// Verdicts lists every verdict that a finding may have, worst first.
func Verdicts() []Verdict {
	return []Verdict{Conflict, Missing, Changed, Bypassed, Disputed, Undeclared, Unmanaged, Moved,
		Nondeterministic, Violated, PendingRestart, Pending, Codified, Unchecked}
}

// IsDrift reports whether a finding with the verdict is a difference. Unchecked is not.
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

// Rank returns the position of the severity; 0 for the worst.
func (s Severity) Rank() int {
	for i, t := range Severities() {
		if s == t {
			return i
		}
	}
	return len(Severities())
}

// Confidence is how certain an Actor is.
type Confidence string

// The confidences: Exact if the evidence contains object and field, Likely if it contains
// the object and a time, Unknown if there is none.
const (
	Exact   Confidence = "exact"
	Likely  Confidence = "likely"
	Unknown Confidence = "unknown"
)

// An Actor is who changed something. An unknown one has a Reason.
type Actor struct {
	Name       string     `json:"name"`
	At         time.Time  `json:"at,omitzero"`
	Via        string     `json:"via,omitempty"`
	Evidence   string     `json:"evidence,omitempty"`
	Confidence Confidence `json:"confidence"`
	Reason     string     `json:"reason,omitempty"`
	// Request is the ID of the request that the entry belongs to; "" if the log does not
	// contain it.
	Request string `json:"request,omitempty"`
	// Message is the actor's message for the change.
	Message string `json:"message,omitempty"`
}

// UnknownActor returns an unknown actor with the reason.
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
	// Running is the value in effect until a restart, if Live waits for one.
	Running *Value `json:"running,omitempty"`
	Secret  bool   `json:"secret"`
	// Names are the names of the objects to which the values refer, by ID, as the last scan
	// read them; "" for an ID that no object has. IDs without a known name are left out. Names
	// are for display only: they are not compared, and not part of Finding.Basis.
	Names map[string]string `json:"names,omitempty"`
	// Unproven reports whether a pending change may be a bypassed one, or a changed
	// one may be pending: nothing reports whether the declaration moved or the live
	// side. It is rated like changed.
	Unproven bool `json:"unproven,omitempty"`
	// Unenforced is why the tool that applies the declaration does not put the field back; "" if it does, or if that is not known.
	Unenforced string `json:"unenforced,omitempty"`
	// Severity is set if a rule rates this field differently than usual.
	Severity Severity `json:"severity,omitempty"`
	// Rated is set if a rule of the configuration set Severity.
	Rated *Rating `json:"rated,omitempty"`
	// Exposure is the kind of access that depends on the field; "" for most fields.
	Exposure Exposure `json:"exposure,omitempty"`
	// Claims are the values of each declaration if the declarations disagree, and
	// LiveActor is the last writer of Live then.
	Claims    []ClaimedValue `json:"claims,omitempty"`
	LiveActor *Actor         `json:"live_actor,omitempty"`
	// Actor is set if it differs from the finding's.
	Actor *Actor `json:"actor,omitempty"`
}

// field returns the path of the changed field that is the same for all claims: its live
// path, if it has one.
func (c *Change) field() string { return cmp.Or(c.LivePath, c.Path) }

// A ClaimedValue is the value of a disputed field in one declaration. Position is
// Claim.Position, and URL is that of a Link to the claim, or "". Path is set if the declaration's path of the field differs
// from Change.Path. Actor is who last set the value
// in the declaration; nil in findings of earlier versions.
type ClaimedValue struct {
	Declaration string `json:"declaration"`
	Address     string `json:"address"`
	Position    string `json:"position,omitempty"`
	URL         string `json:"url,omitempty"`
	Path        string `json:"path,omitempty"`
	Value       Value  `json:"declared"`
	Actor       *Actor `json:"actor,omitempty"`
}

// DeclaredAt returns the file and the line of the claim, or its address if they are unknown.
func (c *ClaimedValue) DeclaredAt() string { return cmp.Or(c.Position, c.Address) }

// A Finding is a verdict that is not in-sync: one for a resource, a claim and
// a verdict, kept across scans under the same ID.
type Finding struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	// Check is the ID of the check that failed if the verdict is Violated or Nondeterministic,
	// and "" otherwise.
	Check    string   `json:"check,omitempty"`
	Severity Severity `json:"severity"`
	// Rated is set if a rule of the configuration set Severity.
	Rated *Rating `json:"rated,omitempty"`
	// Exposure is that of the worst change, or of the resource as a whole.
	Exposure Exposure `json:"exposure,omitempty"`
	Key
	Place       string `json:"namespace"`
	Name        string `json:"name"`
	Declaration string `json:"declaration"`
	Address     string `json:"address"`
	// Position is Claim.Position.
	Position string `json:"position,omitempty"`
	// AlsoIn are Claim.AlsoIn.
	AlsoIn []string `json:"also_in,omitempty"`
	// Changes are sorted by path; empty if the finding is about the whole resource.
	Changes []Change `json:"changes"`
	Actor   Actor    `json:"actor"`
	// Objects are the unmanaged objects that the finding includes because the resource is the
	// record of a tool that installed them: "Service web/redis". Sorted.
	Objects []string `json:"objects,omitempty"`
	// Reason is why it could not be checked, or why it has its severity; it may be empty.
	Reason    string    `json:"reason"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	// Unproven is Change.Unproven for a finding about the whole resource.
	Unproven bool `json:"unproven,omitempty"`
	// Unenforced is Change.Unenforced for the whole resource.
	Unenforced string `json:"unenforced,omitempty"`
	// Replaces reports whether the next apply destroys the resource and creates it
	// again.
	Replaces bool `json:"replaces,omitempty"`
	// Resolved is when a scan proved that it is over; zero while it is open.
	Resolved time.Time `json:"resolved,omitzero"`
	// Owner is the responsible person or team according to the rules of owners, or "".
	Owner string `json:"owner,omitempty"`
	// Labels are those of the resource, live or as declared.
	Labels map[string]string `json:"labels,omitempty"`
	// Links are the web pages of the live resource and of its declaration, as far as they are
	// known, in the order of the LinkTo values.
	Links []Link `json:"links,omitempty"`
	// Basis is a digest of the values of the finding and of the claim. It changes if one of
	// them does, and does not reveal them.
	Basis string `json:"basis,omitempty"`
	// WorseBasis is the Basis of the same values under the worse verdict, if the values do
	// not distinguish the two (pending and bypassed). A decision about the worse verdict
	// holds for this one, too.
	WorseBasis string `json:"worse_basis,omitempty"`
	// Was is the verdict before the last reclassification; nil if there was none.
	Was *Former `json:"was,omitempty"`
	// Merged are the IDs of findings that were merged into this one, oldest
	// first, at most MaxMerged.
	Merged []string `json:"merged,omitempty"`
	// MergedInto is the ID of the finding that this one was merged into. Such a
	// finding is closed, Resolved is the time, but its fields still drift.
	MergedInto string `json:"merged_into,omitempty"`
	// Hidden is the reason of the ignore rule that hides it; "" if none does.
	Hidden string `json:"hidden,omitempty"`
	// Ignored are fields that ignore rules removed from Changes.
	Ignored []IgnoredChange `json:"ignored,omitempty"`
	// Decision is the decision that holds for it, or nil.
	Decision *Decision `json:"decision,omitempty"`
	// Flips are its last changes, oldest first.
	Flips []Flip `json:"flips,omitempty"`
	// Flapping reports whether it was flapping in the last scan.
	Flapping bool `json:"flapping,omitempty"`
}

// DeclaredAt returns the file and the line of the declaration, or its address if they are
// unknown.
func (f *Finding) DeclaredAt() string { return cmp.Or(f.Position, f.Address) }

// Link returns the address of the page of one side; "" if it has none.
func (f *Finding) Link(to LinkTo) string {
	at := slices.IndexFunc(f.Links, func(l Link) bool { return l.To == to })
	if at < 0 {
		return ""
	}
	return f.Links[at].URL
}

// A Link is the address of a web page about one side of a finding.
type Link struct {
	To LinkTo `json:"to"`
	// URL is an escaped address over http or https, without credentials.
	URL string `json:"url"`
}

// LinkTo is the side of a finding that a link leads to.
type LinkTo string

// The sides: the live resource in its own system, and its declaration at the commit that was
// compared.
const (
	LinkLive     LinkTo = "live"
	LinkDeclared LinkTo = "declared"
)

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

// Continue copies the identity of the earlier finding that f continues: its ID, FirstSeen,
// Merged, and, if the verdict changed, the earlier verdict.
func (f *Finding) Continue(before *Finding, now time.Time) {
	f.FirstSeen, f.Was = before.FirstSeen, before.Was
	f.Recall(before, now)
}

// Recall copies the identity of the resolved finding that returned as f, without
// FirstSeen.
func (f *Finding) Recall(before *Finding, now time.Time) {
	f.ID, f.Merged = before.ID, slices.Clone(before.Merged)
	if f.Verdict != before.Verdict {
		f.Was = &Former{before.Verdict, now}
	}
}

// Merge records that other findings were merged into f, with those that were merged into
// them.
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

// An IgnoredChange is a field that an ignore rule removed from a finding.
type IgnoredChange struct {
	// Reason is the rule's.
	Reason string `json:"reason"`
	Change
}

// ClaimedBy reports whether the finding is of a declaration, or is a dispute in which it claims a
// field.
func (f *Finding) ClaimedBy(declaration string) bool {
	return f.Declaration == declaration || f.Verdict == Disputed && slices.ContainsFunc(f.Changes, func(c Change) bool {
		return slices.ContainsFunc(c.Claims, func(v ClaimedValue) bool { return v.Declaration == declaration })
	})
}

// Shown reports whether the finding counts as drift: it is neither hidden nor accepted.
func (f *Finding) Shown() bool { return f.Hidden == "" && !f.Accepted() }

// IsUnproven reports whether the finding, or one of its changes, is unproven.
func (f *Finding) IsUnproven() bool {
	return f.Unproven || slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Unproven })
}

// VerdictText returns the verdict as text: "pending or bypassed" for a pending finding that
// is unproven.
func (f *Finding) VerdictText() string { return verdictText(f.Verdict, f.IsUnproven()) }

func verdictText(v Verdict, unproven bool) string {
	if v == Pending && unproven {
		return string(Pending) + " or " + string(Bypassed)
	}
	return string(v)
}

// Accepted reports whether an acceptance holds for the finding.
func (f *Finding) Accepted() bool { return f.Decision != nil && f.Decision.Kind == Accept }

// Muted reports whether there are no notifications about the finding: it is hidden, or a
// decision holds for it.
func (f *Finding) Muted() bool { return f.Hidden != "" || f.Decision != nil }

// A Flip is a time at which a finding appeared, changed or was resolved.
type Flip struct {
	At time.Time `json:"at"`
	// Basis is its new Basis; "" if it was resolved.
	Basis string `json:"basis,omitempty"`
}

// A finding is flapping if it changed FlapCount times within FlapWindow between at most
// FlapStates states, or FlapLimit times between any number of them. It is flapping until it
// does not change for FlapWindow.
const (
	FlapCount  = 5
	FlapStates = 2
	FlapLimit  = 12
	FlapWindow = 3 * time.Hour
)

// Flipped records that the finding appeared, changed or, with basis "", was resolved. It
// drops changes that are too old, or in the future because the clock was set back.
func (f *Finding) Flipped(at time.Time, basis string) {
	kept := slices.DeleteFunc(slices.Clone(f.Flips), func(p Flip) bool { return at.Sub(p.At) > FlapWindow || p.At.After(at) })
	kept = append(kept, Flip{at, basis})
	f.Flips = kept[max(0, len(kept)-FlapLimit):]
}

// Flaps reports whether the finding is flapping.
func (f *Finding) Flaps(now time.Time) bool {
	recent := slices.DeleteFunc(slices.Clone(f.Flips), func(p Flip) bool { return p.At.After(now) || now.Sub(p.At) > FlapWindow })
	if f.Flapping {
		return len(recent) > 0
	}
	return len(recent) >= FlapLimit || len(recent) >= FlapCount && states(recent[len(recent)-FlapCount:]) <= FlapStates
}

// states returns the number of different states among flips.
func states(flips []Flip) int {
	seen := map[string]bool{}
	for _, p := range flips {
		seen[p.Basis] = true
	}
	return len(seen)
}
