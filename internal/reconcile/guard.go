package reconcile

import (
	"fmt"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Refusal is an error that reports why a guard refuses an action. Its text includes the next step.
type Refusal struct {
	// Guard is the name of the guard, as in the documentation.
	Guard string
	Why   string
}

// Error returns the reason and the guard.
func (r *Refusal) Error() string { return r.Why + " (guard " + r.Guard + ")" }

// A Standing is the part of the store that concerns actions.
type Standing struct {
	// History contains all actions, and Controls all controls, both oldest first.
	History  []Action
	Controls []Control
	// Doubt is the reason why the integrity of the audit log is in doubt, or "" if it is not.
	Doubt string
}

// Evidence describes to what extent the last reads confirm a finding.
type Evidence struct {
	// Unread is the reason why the reads do not confirm the finding: its source or its declaration was not
	// read, or the source is held back. Otherwise it is "".
	Unread string
	// Revision is the commit of the declaration, or "" if it has none.
	Revision string
	// Uncommitted is the reason why the declaration is not in a commit. It is "" if it is in one, or if
	// Logged is true.
	Uncommitted string
	// Nondeterministic is the reason why the declaration differs between equal inputs, so that a write
	// could differ from the reviewed change. It is "" if no such reason is known.
	Nondeterministic string
	// Logged reports whether the declaration is not in a commit, but has a log of its own that contains who
	// declared the resource.
	Logged bool
	// Declared is the number of resources of the finding's kind in its declaration, or, for a resource that
	// is not declared, in the declarations that govern its source.
	Declared int
}

// A Situation is the input of the guards. They are evaluated when an action is proposed, and again when it
// is armed.
type Situation struct {
	Now time.Time
	approvers
	// Finding is the finding as it is in the store.
	Finding *model.Finding
	// Rule is the first rule that matches the finding, or nil if none does.
	Rule *Rule
	// Rules are all rules. Windows are the freezes in the configuration.
	Rules   []Rule
	Windows []Window
	// Writer reports whether an actuator, applier or recorder exists for the finding. Applies reports
	// whether it is an Applier.
	Writer, Applies bool
	// Writers are those of the configuration.
	Writers Writers
	Standing
	Evidence
	// By is the person who requests the action, or "" for driftd itself.
	By string
	// Action is the action that is about to be armed. It is nil while the action is about to be proposed.
	Action *Action
	// Plan is the current plan, or nil if there is none yet.
	Plan *Plan
}

// A guard is one condition of all actions.
type guard struct {
	name string
	// why returns why it refuses; "" if it does not.
	why func(*Situation) string
	// passes reports whether a refusal ends with time, with the next read or by a person, while the finding,
	// the rule and the plan stay as they are.
	passes bool
}

// guards returns all guards in the order in which they are evaluated. Those of the actuator
// (kind, declarer, still so, rehearsal) come after them: they need the live system.
func guards() []guard {
	return []guard{
		{"off", off, false},
		{"quarantine", quarantine, true},
		{"frozen", frozen, true},
		{"verdict", verdict, false},
		{"decided", decided, false},
		{"coverage", coverage, true},
		{"declaration", declaration, false},
		{"nondeterministic", func(s *Situation) string { return s.Nondeterministic }, false},
		{"age", age, true},
		{"open", open, true},
		{"breaker", breaker, true},
		{fightGuard, fight, false},
		{"flapping", flapping, false},
		{"canary", canary, true},
		{"blast", blast, true},
		{"person", person, false},
		{"still-so", stillSo, false},
	}
}

// The reasons of guards are stored with actions. They name no persons, whose names can be erased: a freeze and a decision
// have IDs.

// Check evaluates the guards and returns the first refusal, or nil if no guard refuses.
func Check(s *Situation) *Refusal {
	return checkSome(s, func(*guard) bool { return true })
}

// checkSome evaluates those guards that the filter selects, and returns the first refusal, or nil if none of them
// refuses.
func checkSome(s *Situation, selects func(*guard) bool) *Refusal {
	for _, g := range guards() {
		if !selects(&g) {
			continue
		}
		if why := g.why(s); why != "" {
			return &Refusal{g.name, why}
		}
	}
	return nil
}

// passes reports whether a refusal of the named guard ends by itself or by a person, so that another action for
// the same finding may be possible later.
func passes(name string) bool {
	return slices.ContainsFunc(guards(), func(g guard) bool { return g.name == name && g.passes })
}

// A Judgement is the result of one guard.
type Judgement struct {
	Guard string `json:"guard"`
	// Why is the reason of a refusal, or "" if the guard does not refuse.
	Why string `json:"why,omitempty"`
}

// CheckAll returns the results of all guards. If no rule matches, it returns only the result of the first.
func CheckAll(s *Situation) []Judgement {
	var all []Judgement
	for _, g := range guards() {
		all = append(all, Judgement{g.name, g.why(s)})
		if g.name == "off" && s.Rule == nil {
			break
		}
	}
	return all
}

func off(s *Situation) string {
	switch {
	case s.Rule == nil:
		return "no rule of reconcile.rules matches the finding"
	case s.Rule.Mode == Off:
		return fmt.Sprintf("rule %q has the mode off", s.Rule.Name)
	case s.Rule.Mode == Suggest:
		return fmt.Sprintf("rule %q has the mode suggest: `driftd suggest %s` shows what to do", s.Rule.Name, s.Finding.ID)
	case !s.Writer && s.Rule.records():
		return fmt.Sprintf("declaration %s cannot be written: add a writer of it, of type netbox, to reconcile.writers", s.Finding.Declaration)
	case !s.Writer:
		return fmt.Sprintf("source %s has no writer: add it, or a declaration, to reconcile.writers", s.Finding.Source)
	}
	return ""
}

func quarantine(s *Situation) string {
	if s.Doubt == "" {
		return ""
	}
	return fmt.Sprintf("the audit log is in doubt: %s: run `driftd audit verify`, and settle it with `driftd audit trust`", s.Doubt)
}

func frozen(s *Situation) string {
	for _, f := range append(Frozen(s.Controls, s.Now), Open(s.Windows, s.Now)...) {
		if f.Source == "" || slices.Contains(s.sources(), f.Source) {
			return fmt.Sprintf("actions are frozen until %s by %s: %s", stamp(f.Until), f.name(), f.Reason)
		}
	}
	return ""
}

// sources returns the names of the sources that an action for the finding concerns: its own, and the one that a
// Recorder writes to.
func (s *Situation) sources() []string {
	all := []string{s.Finding.Source}
	if s.Rule.records() {
		declaration := s.Writers.seen(s.Finding, s.Rule).Declaration
		all = append(all, s.Writers.Recorders[declaration].Source)
	}
	return all
}

func verdict(s *Situation) string {
	f := s.Finding
	switch {
	case !f.Resolved.IsZero():
		return "the finding is resolved"
	case f.IsUnproven():
		return "it may be pending: nothing shows whether the declaration moved or the live side"
	case s.Rule.records() && !slices.Contains(recorded(), f.Verdict):
		return f.VerdictText() + " findings are never written into a declaration"
	case len(f.Objects) > 0:
		return "it includes objects that a tool installed: remove them with that tool"
	case isSet(f):
		return "it is set as declared, and takes effect with the next restart of the resource"
	case needsPerson(s) != "":
		return needsPerson(s) + " needs a person: run `driftd reconcile " + f.ID + "`"
	case s.Rule.records(), slices.Contains(putBack(), f.Verdict):
		return ""
	case f.Verdict == model.Missing && s.Rule.Create:
		return ""
	case f.Verdict == model.Missing:
		return fmt.Sprintf("it would be created: rule %q does not set create", s.Rule.Name)
	case isDeleted(f) && s.Rule.Delete:
		return ""
	case isDeleted(f):
		return fmt.Sprintf("it would be deleted: rule %q does not set delete", s.Rule.Name)
	}
	return f.VerdictText() + " findings are never put back"
}

// isDeleted reports whether a finding is put back by deleting its resource: no declaration declares it.
func isDeleted(f *model.Finding) bool { return f.Verdict == model.Unmanaged && f.Declaration == "" }

// putBack are the verdicts of findings that are put back, besides missing, and recorded those of findings that are written into
// a declaration.
func putBack() []model.Verdict {
	return []model.Verdict{model.Changed, model.Undeclared, model.Bypassed, model.PendingRestart}
}

func recorded() []model.Verdict {
	return []model.Verdict{model.Changed, model.Moved, model.Disputed}
}

// isSet reports whether all that is declared is set, and only waits for a restart.
func isSet(f *model.Finding) bool {
	return f.Verdict == model.PendingRestart && !slices.ContainsFunc(f.Changes, func(c model.Change) bool { return !equal(c.Live, c.Declared) })
}

// needsPerson returns what is never done without a person, if no person asked for it or approved it; "" otherwise.
func needsPerson(s *Situation) string {
	switch {
	case s.Rule.Mode != Auto || s.By != "" || s.approved():
		return ""
	case s.Applies:
		return "an apply of a whole declaration"
	case s.Finding.Verdict == model.Bypassed:
		return "a bypassed finding"
	case isDeleted(s.Finding):
		return "a deletion"
	case s.Logged && !s.Rule.records():
		return "what no commit declares"
	case s.Finding.Verdict == model.Disputed || s.Finding.Verdict == model.Moved:
		return "a " + string(s.Finding.Verdict) + " finding"
	case s.Finding.Verdict == model.PendingRestart:
		return "a change that waits for a restart"
	}
	return ""
}

func decided(s *Situation) string {
	f := s.Finding
	switch {
	case f.Hidden != "":
		return "an ignore rule hides it: " + f.Hidden
	case f.Decision != nil:
		return fmt.Sprintf("it was %s: revoke decision %s first", f.Decision.Kind.Participle(), f.Decision.ID)
	case len(f.Ignored) > 0:
		return "an ignore rule hides a field of it: " + f.Ignored[0].Reason
	}
	return ""
}

// flapping comes after fight, which names the other writer.
func flapping(s *Situation) string {
	if s.Finding.Flapping {
		return "it is flapping: something else writes it"
	}
	return ""
}

func coverage(s *Situation) string {
	if s.Unread != "" {
		return s.Unread
	}
	switch f := s.Finding; {
	case f.Declaration == "" && !isDeleted(f):
		return "no declaration declares it"
	case s.Declared == 0 && isDeleted(f):
		return fmt.Sprintf("no declaration of source %s declares any resource of kind %s", f.Source, f.Kind)
	case s.Declared == 0:
		return fmt.Sprintf("declaration %s declares no resource of kind %s", f.Declaration, f.Kind)
	}
	return ""
}

// declaration does not refuse what is written into the declaration itself.
func declaration(s *Situation) string {
	if s.Rule.records() {
		return ""
	}
	return s.Uncommitted
}

// age compares MinAge with the time since the last change of the finding: a new apply may change fields that
// drifted before it.
func age(s *Situation) string {
	f := s.Finding
	old, changed := s.Now.Sub(f.FirstSeen), f.FirstSeen
	if n := len(f.Flips); n > 0 {
		changed = model.Later(changed, f.Flips[n-1].At)
	}
	switch still := s.Now.Sub(changed); {
	case old < 0 || still < 0:
		return "it was first seen, or changed, in the future: the clock was set back"
	case still < s.Rule.MinAge:
		return fmt.Sprintf("it changed %s ago, and an apply may be running: wait until it is as it is for %s", still.Round(time.Second), s.Rule.MinAge)
	case s.Rule.Mode == Auto && s.By == "" && !s.approved() && old > s.Rule.MaxAge:
		return fmt.Sprintf("it is older than %s, and something may depend on it: it needs a person", s.Rule.MaxAge)
	}
	return ""
}

// open allows one open action for each resource.
func open(s *Situation) string {
	for i := range s.History {
		a := &s.History[i]
		if slices.Contains(a.resources(), s.Finding.Key) && a.State.IsOpen() && (s.Action == nil || a.ID != s.Action.ID) {
			return fmt.Sprintf("action %s of the same resource is %s", a.ID, a.State)
		}
	}
	return ""
}

func breaker(s *Situation) string {
	if b := Stopped(s.Rules, s.Rule, s.History, s.Controls); b != "" {
		return fmt.Sprintf("rule %q is stopped: %s: look, then run `driftd rules resume %s`", s.Rule.Name, b, s.Rule.Name)
	}
	return ""
}

func canary(s *Situation) string { return waiting(s) }

func blast(s *Situation) string {
	last := map[string]int{}
	touched := map[model.Key]bool{s.Finding.Key: true}
	touch := func(keys []model.Key) {
		for _, key := range keys {
			if key.Source == s.Finding.Source && key.Kind == s.Finding.Kind {
				touched[key] = true
			}
		}
	}
	if s.Plan != nil {
		touch(s.Plan.covered())
	}
	for i := range s.History {
		a := &s.History[i]
		if wrote := a.WroteAt(); wrote.IsZero() || s.Now.Sub(wrote) > time.Hour {
			continue
		}
		for _, source := range s.Writers.sources(a) {
			last[source]++
		}
		if a.Declaration == s.Finding.Declaration {
			touch(a.resources())
		}
	}
	for _, source := range s.sources() {
		if last[source] >= s.Rule.PerHour {
			return fmt.Sprintf("%d actions on source %s in the last hour: rule %q allows %d", last[source], source, s.Rule.Name, s.Rule.PerHour)
		}
	}
	if n := len(touched); n > 1 && float64(n) > s.Rule.Share*float64(s.Declared) {
		where := "declaration " + s.Finding.Declaration
		if isDeleted(s.Finding) {
			where = "the declarations of source " + s.Finding.Source
		}
		return fmt.Sprintf("%d of the %d resources of kind %s in %s in the last hour: rule %q allows %g %%",
			n, s.Declared, s.Finding.Kind, where, s.Rule.Name, 100*s.Rule.Share)
	}
	return ""
}

// approved reports whether a person approved the action.
func (s *Situation) approved() bool { return s.Action != nil && len(s.valid(s.Action, s.Finding)) > 0 }

// person checks the approvals of an action that is about to be armed.
func person(s *Situation) string {
	if s.Action == nil {
		return ""
	}
	needed := Needed(s.Rule, s.Action)
	switch n := len(s.valid(s.Action, s.Finding)); {
	case n < needed:
		return fmt.Sprintf("%d of %d approvals count", n, needed)
	case needed > 0 && !s.Now.Before(s.Action.Expires):
		return "it was not carried out before " + stamp(s.Action.Expires) + ": propose it again"
	}
	return ""
}

// stillSo compares the plan that was made just now with the one that was approved.
func stillSo(s *Situation) string {
	switch {
	case s.Action == nil:
		return ""
	case s.Finding.ID != s.Action.Finding || s.Finding.Basis != s.Action.Basis || s.Finding.Verdict != s.Action.Verdict:
		return "the finding changed since: look again"
	case s.Rule.Digest() != s.Action.RuleDigest:
		return fmt.Sprintf("rule %q changed since: look again", s.Rule.Name)
	case s.Plan != nil && s.Plan.Content != s.Action.Plan.Content:
		return "the apply would do something else since: the commit, the state or a live resource changed: look again"
	case s.Plan != nil && !s.Plan.Equal(&s.Action.Plan):
		return "the live system changed since: look again"
	}
	return ""
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
