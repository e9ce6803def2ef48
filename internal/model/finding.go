package model

import (
	"cmp"
	"slices"
	"time"
)

// A Verdict is the result of comparing a subject.
type Verdict string

// The verdicts. L is the live, D the declared and R the recorded value. If no record shows the
// applied value, the writers of the field replace R; see package diff.
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

// Verdicts returns every verdict that a finding may have, worst first.
func Verdicts() []Verdict {
	return []Verdict{Conflict, Missing, Changed, Bypassed, Disputed, Undeclared, Unmanaged, Moved,
		Nondeterministic, Violated, PendingRestart, Pending, Codified, Unchecked}
}

// IsDrift reports whether a finding with the verdict is a difference. InSync and Unchecked are not.
func (v Verdict) IsDrift() bool { return v != InSync && v != Unchecked }

// A Severity rates a finding.
type Severity string

// The severities, worst first.
const (
	Critical Severity = "critical"
	High     Severity = "high"
	Medium   Severity = "medium"
	Low      Severity = "low"
	Info     Severity = "info"
)

// Severities returns the severities, worst first.
func Severities() []Severity { return []Severity{Critical, High, Medium, Low, Info} }

// Rank returns the position of the severity in Severities, so that 0 is the worst, or the number of
// severities if it is not one of them.
func (s Severity) Rank() int {
	for i, t := range Severities() {
		if s == t {
			return i
		}
	}
	return len(Severities())
}

// A Confidence is a degree of certainty about an Actor.
type Confidence string

// The confidences: Exact if the evidence contains the object and the field, Likely if it contains
// the object and a time, and Unknown if there is no evidence.
const (
	Exact   Confidence = "exact"
	Likely  Confidence = "likely"
	Unknown Confidence = "unknown"
)

// An Actor is the person or program that made a change, with the time and the evidence. An unknown
// actor has a Reason.
type Actor struct {
	// Name is the name of the person or program; "unknown" if unknown.
	Name string `json:"name"`
	// At is the time of the change; zero if unknown.
	At time.Time `json:"at,omitzero"`
	// Via is the type of the evidence, such as ViaManagedFields or AuditLog. For an unknown actor,
	// it is the event at the time At.
	Via string `json:"via,omitempty"`
	// Evidence identifies the evidence, such as the ID of a log entry.
	Evidence   string     `json:"evidence,omitempty"`
	Confidence Confidence `json:"confidence"`
	// Reason is the reason why the actor is unknown; "" if it is known.
	Reason string `json:"reason,omitempty"`
	// Request is the ID of the request to which the entry of the log belongs; "" if the log does
	// not contain it.
	Request string `json:"request,omitempty"`
	// Message is the message that the actor gave for the change.
	Message string `json:"message,omitempty"`
}

// UnknownActor returns an actor with the name "unknown", the confidence Unknown and the reason.
func UnknownActor(reason string) Actor {
	return Actor{Name: "unknown", Confidence: Unknown, Reason: reason}
}

// A Change is one field that differs. Absent values are nil.
type Change struct {
	// Path is the path of the field in the form of the declaration.
	Path string `json:"path"`
	// LivePath is the path of the field in the live resource; "" if Path is that path.
	LivePath string `json:"live_path,omitempty"`
	// Declared, Recorded and Live are the declared, the last applied and the live value.
	Declared *Value `json:"declared,omitempty"`
	Recorded *Value `json:"recorded,omitempty"`
	Live     *Value `json:"live,omitempty"`
	// Running is the value in effect until a restart, if Live takes effect only then; nil
	// otherwise.
	Running *Value `json:"running,omitempty"`
	// Secret reports whether a value contains a secret or is one that the system never returns.
	Secret bool `json:"secret"`
	// Names maps the IDs of the objects to which the values refer to their names, as the last scan
	// read them; "" for an ID that no object has. IDs without a known name are omitted. Names are
	// for display only: they are not compared and not part of Finding.Basis.
	Names map[string]string `json:"names,omitempty"`
	// Unproven reports whether a pending change may be bypassed, or a changed one may be pending,
	// because there is no evidence which of the two sides moved. Such a change is rated like a
	// changed one.
	Unproven bool `json:"unproven,omitempty"`
	// Unenforced is the reason why the tool that applies the declaration does not put the field
	// back; "" if it does, or if that is unknown.
	Unenforced string `json:"unenforced,omitempty"`
	// Severity is set if a rule rates this field; "" if the field has the severity of the verdict.
	Severity Severity `json:"severity,omitempty"`
	// Rated is set if a rule of the configuration set Severity.
	Rated *Rating `json:"rated,omitempty"`
	// Exposure is the kind of access that depends on the field; "" for most fields.
	Exposure Exposure `json:"exposure,omitempty"`
	// Claims lists the values of the declarations if they disagree. LiveActor is then the last
	// writer of Live.
	Claims    []ClaimedValue `json:"claims,omitempty"`
	LiveActor *Actor         `json:"live_actor,omitempty"`
	// Actor is the actor of this change if it is not that of the finding; nil otherwise.
	Actor *Actor `json:"actor,omitempty"`
}

// field returns the path of the changed field that is the same for all claims: its live
// path, if it has one.
func (c *Change) field() string { return cmp.Or(c.LivePath, c.Path) }

// A ClaimedValue is the value of a disputed field in one declaration. Position is Claim.Position,
// and URL is the address of a Link to the claim, or "". Path is set if the path of the field in the
// declaration differs from Change.Path. Actor is the last writer of the value in the declaration;
// nil in findings of earlier versions.
type ClaimedValue struct {
	Declaration string `json:"declaration"`
	Address     string `json:"address"`
	Position    string `json:"position,omitempty"`
	URL         string `json:"url,omitempty"`
	Path        string `json:"path,omitempty"`
	Value       Value  `json:"declared"`
	Actor       *Actor `json:"actor,omitempty"`
}

// DeclaredAt returns the file and line of the claim, or its address if they are unknown.
func (c *ClaimedValue) DeclaredAt() string { return cmp.Or(c.Position, c.Address) }

// A Finding is a verdict other than InSync. There is one for each combination of resource, claim
// and verdict; it keeps its ID across scans.
type Finding struct {
	ID      string  `json:"id"`
	Verdict Verdict `json:"verdict"`
	// Check is the ID of the failed check if the verdict is Violated or Nondeterministic; ""
	// otherwise.
	Check    string   `json:"check,omitempty"`
	Severity Severity `json:"severity"`
	// Rated is set if a rule of the configuration set Severity.
	Rated *Rating `json:"rated,omitempty"`
	// Exposure is the exposure of the worst change, or of the resource as a whole.
	Exposure Exposure `json:"exposure,omitempty"`
	Key
	Place       string `json:"namespace"`
	Name        string `json:"name"`
	Declaration string `json:"declaration"`
	Address     string `json:"address"`
	// Position is Claim.Position.
	Position string `json:"position,omitempty"`
	// AlsoIn is Claim.AlsoIn.
	AlsoIn []string `json:"also_in,omitempty"`
	// Changes is sorted by path. It is empty if the finding concerns the whole resource.
	Changes []Change `json:"changes"`
	Actor   Actor    `json:"actor"`
	// Objects lists the unmanaged objects that the finding includes because the resource is the
	// record of the tool that installed them, such as "Service web/redis". It is sorted.
	Objects []string `json:"objects,omitempty"`
	// Reason is why the resource could not be checked, or why the finding has its severity; it may
	// be empty.
	Reason    string    `json:"reason"`
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	// Unproven is Change.Unproven for a finding that concerns the whole resource.
	Unproven bool `json:"unproven,omitempty"`
	// Unenforced is Change.Unenforced for the whole resource.
	Unenforced string `json:"unenforced,omitempty"`
	// Replaces reports whether the next apply destroys the resource and creates it again.
	Replaces bool `json:"replaces,omitempty"`
	// Destroys reports whether the next apply destroys the resource, because nothing declares it any more.
	Destroys bool `json:"destroys,omitempty"`
	// Resolved is the time at which a scan proved that the difference is gone; zero while the
	// finding is open.
	Resolved time.Time `json:"resolved,omitzero"`
	// Owner is the responsible person or team according to the configured owner rules, or "".
	Owner string `json:"owner,omitempty"`
	// Labels are the labels of the resource, live or as declared.
	Labels map[string]string `json:"labels,omitempty"`
	// Links lists the web pages of the live resource and of its declaration, as far as they are
	// known, in the order of the LinkTo values.
	Links []Link `json:"links,omitempty"`
	// Basis is a digest of the values of the finding and of the claim. It changes if one of them
	// changes, and does not reveal them.
	Basis string `json:"basis,omitempty"`
	// WorseBasis is the Basis that the same values have under the worse verdict, if the values do
	// not distinguish the two verdicts (pending and bypassed). A decision about the worse verdict
	// then holds for this finding, too.
	WorseBasis string `json:"worse_basis,omitempty"`
	// Was is the verdict before the last reclassification; nil if the finding was never
	// reclassified.
	Was *Former `json:"was,omitempty"`
	// Merged lists the IDs of findings that were merged into this one, oldest first, at most
	// MaxMerged.
	Merged []string `json:"merged,omitempty"`
	// MergedInto is the ID of the finding into which this one was merged; "" if it was not. Such a
	// finding is closed at Resolved, although its fields still differ.
	MergedInto string `json:"merged_into,omitempty"`
	// Hidden is the reason of the ignore rule that hides the finding; "" if none does.
	Hidden string `json:"hidden,omitempty"`
	// Ignored lists the fields that ignore rules removed from Changes.
	Ignored []IgnoredChange `json:"ignored,omitempty"`
	// Decision is the decision that holds for the finding, or nil.
	Decision *Decision `json:"decision,omitempty"`
	// Flips lists the last changes of the finding, oldest first.
	Flips []Flip `json:"flips,omitempty"`
	// Flapping reports whether the finding was flapping in the last scan.
	Flapping bool `json:"flapping,omitempty"`
}

// DeclaredAt returns the file and line of the declaration, or its address if they are unknown.
func (f *Finding) DeclaredAt() string { return cmp.Or(f.Position, f.Address) }

// Link returns the URL of the first link to the given side; "" if there is none.
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

// A LinkTo is the side of a finding to which a link leads.
type LinkTo string

// The sides of a link: the live resource in its own system, and its declaration at the commit that
// was compared.
const (
	LinkLive     LinkTo = "live"
	LinkDeclared LinkTo = "declared"
)

// A Former is the verdict of a finding before it was reclassified at the time At.
type Former struct {
	Verdict Verdict   `json:"verdict"`
	At      time.Time `json:"at"`
}

// UTC returns a copy of w with At in UTC; nil if w is nil.
func (w *Former) UTC() *Former {
	if w == nil {
		return nil
	}
	return &Former{w.Verdict, w.At.UTC()}
}

// MaxMerged is the maximum length of Finding.Merged. The IDs that were merged last are kept.
const MaxMerged = 16

// Continue makes f the continuation of the finding before: it copies the ID, FirstSeen, Was and
// Merged. If the verdicts differ, it sets f.Was to the earlier one, with the time now.
func (f *Finding) Continue(before *Finding, now time.Time) {
	f.FirstSeen, f.Was = before.FirstSeen, before.Was
	f.Recall(before, now)
}

// Recall makes f the return of the resolved finding before: it copies the ID and Merged, but not
// FirstSeen. If the verdicts differ, it sets f.Was to the earlier one, with the time now.
func (f *Finding) Recall(before *Finding, now time.Time) {
	f.ID, f.Merged = before.ID, slices.Clone(before.Merged)
	if f.Verdict != before.Verdict {
		f.Was = &Former{before.Verdict, now}
	}
}

// Merge adds the IDs of the other findings, and the IDs in their Merged, to f.Merged.
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
	// Reason is the reason of the rule.
	Reason string `json:"reason"`
	Change
}

// ClaimedBy reports whether the finding belongs to the declaration, or is a dispute in which the
// declaration claims a field.
func (f *Finding) ClaimedBy(declaration string) bool {
	return f.Declaration == declaration || f.Verdict == Disputed && slices.ContainsFunc(f.Changes, func(c Change) bool {
		return slices.ContainsFunc(c.Claims, func(v ClaimedValue) bool { return v.Declaration == declaration })
	})
}

// Shown reports whether the finding counts as drift, that is, it is neither hidden nor accepted.
func (f *Finding) Shown() bool { return f.Hidden == "" && !f.Accepted() }

// IsUnproven reports whether the finding or one of its changes is unproven.
func (f *Finding) IsUnproven() bool {
	return f.Unproven || slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Unproven })
}

// VerdictText returns the verdict as text, such as "pending or bypassed" for a pending finding that
// is unproven.
func (f *Finding) VerdictText() string { return verdictText(f.Verdict, f.IsUnproven()) }

func verdictText(v Verdict, unproven bool) string {
	if v == Pending && unproven {
		return string(Pending) + " or " + string(Bypassed)
	}
	return string(v)
}

// Accepted reports whether a decision of kind Accept holds for the finding.
func (f *Finding) Accepted() bool { return f.Decision != nil && f.Decision.Kind == Accept }

// Muted reports whether notifications about the finding are suppressed, because it is hidden or a
// decision holds for it.
func (f *Finding) Muted() bool { return f.Hidden != "" || f.Decision != nil }

// A Flip is one appearance, change or resolution of a finding.
type Flip struct {
	At time.Time `json:"at"`
	// Basis is the new Basis of the finding; "" if it was resolved.
	Basis string `json:"basis,omitempty"`
}

// These constants define flapping. A finding starts to flap if, within FlapWindow, it changes
// FlapCount times between at most FlapStates states, or FlapLimit times between any number of
// states. It stops when it does not change for FlapWindow.
const (
	FlapCount  = 5
	FlapStates = 2
	FlapLimit  = 12
	FlapWindow = 3 * time.Hour
)

// Flipped records in f.Flips that the finding appeared or changed, or, if basis is "", that it was
// resolved. It removes flips that are older than FlapWindow, and flips after at, which exist if the
// clock was set back.
func (f *Finding) Flipped(at time.Time, basis string) {
	kept := slices.DeleteFunc(slices.Clone(f.Flips), func(p Flip) bool { return at.Sub(p.At) > FlapWindow || p.At.After(at) })
	kept = append(kept, Flip{at, basis})
	f.Flips = kept[max(0, len(kept)-FlapLimit):]
}

// Flaps reports whether the finding is flapping at the time now.
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
