package diff

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An aspect is what a ruling decides on: one field of a claim, or the resource as a
// whole. Its live and recorded values agree and differ from the declared one.
//
// For example, git declares memory: 4Gi (d). The state of the last apply records 2048Mi, which
// is 2Gi in the terms of the declaration (v), and live is 2147483648 (l). The question is
// whether a commit declared 2Gi earlier (Pending: the newer commit is not applied yet) or
// none did (Bypassed: 2Gi was applied past git).
type aspect struct {
	evidence *model.Evidence
	// d is declared and l is live; v is the declared value that l was applied from.
	d, v, l model.Value
	equal   func(a, b model.Value) bool
	// ofDeclared and ofLive return what an earlier value of the claim, or of the
	// resource, has of the aspect; ok is false if it has nothing.
	ofDeclared, ofLive func(*model.Value) (held model.Value, ok bool)
	// isUnknown reports whether the value that a version declares is not known. unknown
	// is the text for it.
	isUnknown func(*model.Version) bool
	unknown   string
	// whole reports whether it is the resource as a whole.
	whole bool
	// written is when the live value was last written; zero if unknown.
	written time.Time
	// last is the ruling of the last scan on l; nil if there is none.
	last *model.Ruling
}

// wholeAspect returns the resource of a claim as an aspect: either live and not declared, or
// declared and not live.
func wholeAspect(c *model.Claim, live bool) *aspect {
	exists := func(v *model.Value) (model.Value, bool) { return model.BoolOf(v != nil), true }
	a := &aspect{
		evidence:   c.Evidence,
		d:          model.BoolOf(!live),
		v:          model.BoolOf(live),
		l:          model.BoolOf(live),
		equal:      model.Value.Equal,
		ofDeclared: exists,
		ofLive:     exists,
		isUnknown:  func(v *model.Version) bool { return v.Value == nil && len(v.Unknown) > 0 },
		unknown:    "may declare it by an expression",
		whole:      true,
	}
	if last, ok := c.Evidence.Rulings[""]; ok {
		a.last = &last
	}
	return a
}

// rule decides between pending and bypassed. docs/decisions/0024 has the table; its
// first matching row decides.
func (a *aspect) rule() model.Ruling {
	seen := a.history()
	older, branch, gap := a.versions()
	a.dropDisproved(&seen, older)
	if seen.held {
		older = seen.observedVersion(older)
	}
	return a.unlessBehind(a.decide(seen, older, branch, gap), seen)
}

func (a *aspect) decide(seen history, older, branch *model.Version, gap string) model.Ruling {
	switch {
	case older == nil && branch != nil && a.evidence.ApplyBeforeMerge:
		return model.Ruling{Verdict: model.Pending}
	case seen.left && older != nil:
		return bypassed(a.reappliedReason(older))
	case older != nil && a.reverted(seen):
		return bypassed("an older version " + hashInParentheses(older.From) + "was applied again after driftd saw a newer one live")
	case older != nil:
		return a.ruleSuperseded(older, seen)
	case branch != nil:
		return bypassed("applied from " + branch.Branch + " (commit " + shortHash(branch.From.Hash) + "), which is not merged")
	case gap == "":
		return bypassed("applied, and declared by no commit")
	}
	return a.ruleByObservations(seen, gap)
}

// reappliedReason returns the reason for an older version that was applied after driftd saw what
// is declared now.
func (a *aspect) reappliedReason(older *model.Version) string {
	if a.whole {
		return "made again after driftd saw it gone, and declared by no commit since"
	}
	return "an older version " + hashInParentheses(older.From) + "was applied again after driftd saw the declared one live"
}

// lateReason returns the reason for an older version that was applied after it was replaced.
func (a *aspect) lateReason(older *model.Version) string {
	if a.whole {
		return "made after " + supersederText(older.Until) + " had removed it"
	}
	return "an older version " + hashInParentheses(older.From) + "was applied after " + supersederText(older.Until)
}

func bypassed(reason string) model.Ruling {
	return model.Ruling{Verdict: model.Bypassed, Reason: reason}
}

func unproven(gap string) model.Ruling {
	return model.Ruling{Verdict: model.Pending, Unproven: true, Reason: "pending or bypassed: " + gap}
}

// unlessBehind returns a ruling, or an unproven one if it is a new bypass and the live
// value may be declared by now.
func (a *aspect) unlessBehind(ruled model.Ruling, seen history) model.Ruling {
	if a.evidence.Behind && ruled.Verdict == model.Bypassed && !a.stillHolds(model.Bypassed, seen) {
		return unproven(a.evidence.Gap)
	}
	return ruled
}

// stillHolds reports whether the last scan proved a verdict on the live value and the value
// did not change since.
func (a *aspect) stillHolds(v model.Verdict, seen history) bool {
	return a.last != nil && !seen.liveMoved && a.last.Verdict == v && !a.last.Unproven
}

// versions returns the last version of the ref that declares the live value, and the last such
// version of another branch. If both are nil, gap is the reason why that does not prove that the
// value was never declared; "" if it does.
func (a *aspect) versions() (older, branch *model.Version, gap string) {
	gap = a.evidence.Gap
	for i := range a.evidence.Versions {
		v := &a.evidence.Versions[i]
		switch {
		case a.isUnknown(v):
			gap = "commit " + shortHash(v.From.Hash) + " " + a.unknown
		case !a.holds(a.ofDeclared, v.Value, a.v):
		case v.Branch == "" && (older == nil || supersededAt(v).After(supersededAt(older))):
			older = v
		case v.Branch != "" && branch == nil:
			branch = v
		}
	}
	return older, branch, gap
}

// reverted reports whether driftd saw another value live after the live one was
// superseded, and that value was declared later.
func (a *aspect) reverted(m history) bool {
	if !m.moved {
		return false
	}
	newest := func(v model.Value) int {
		return slices.IndexFunc(a.evidence.Versions, func(of model.Version) bool {
			return of.Branch == "" && len(of.Unknown) == 0 && a.holds(a.ofDeclared, of.Value, v)
		})
	}
	before, now := newest(m.prior), newest(a.v)
	return before >= 0 && before < now
}

// holds reports whether an earlier value has v.
func (a *aspect) holds(of func(*model.Value) (model.Value, bool), value *model.Value, v model.Value) bool {
	held, ok := of(value)
	return ok && a.equal(held, v)
}

// sameDeclared reports whether two values of the claim have the same.
func (a *aspect) sameDeclared(x, y *model.Value) bool {
	held, ok := a.ofDeclared(y)
	if _, other := a.ofDeclared(x); !ok || !other {
		return ok == other
	}
	return a.holds(a.ofDeclared, x, held)
}

// supersededAt returns when a version stopped being declared: the time at which driftd
// saw that, or else the committer's time.
func supersededAt(v *model.Version) time.Time {
	if !v.Until.Seen.IsZero() {
		return v.Until.Seen
	}
	return v.Until.When
}

// A history summarizes the values of an aspect that earlier scans read.
type history struct {
	// since is when driftd first read the current live value, without another value
	// in between. before is when driftd first read the previous live value, or, if that
	// changed in this scan, last read it. Zero if unknown.
	since, before time.Time
	// declaredSince is since for the declared value.
	declaredSince time.Time
	// liveMoved and declaredMoved report whether a side differs from what the last
	// scan read; known reports whether an earlier scan read both.
	liveMoved, declaredMoved, known bool
	// left reports whether the live value was the declared value before it became the
	// current one.
	left bool
	// moved reports whether prior was live when the live value was declared no more.
	moved bool
	prior model.Value
	// held reports whether an earlier scan read the live value as declared. heldUntil
	// is when the declaration changed after that; zero means in this scan.
	held      bool
	heldUntil time.Time
	// declaredBefore reports whether an earlier scan read another declared value.
	declaredBefore bool
}

// history returns the values of the aspect that earlier scans read.
func (a *aspect) history() history {
	e := a.evidence
	var m history
	run := func(list []model.Observation, of func(*model.Value) (model.Value, bool), v model.Value) int {
		i := 0
		for i < len(list) && a.holds(of, list[i].Value, v) {
			i++
		}
		return i
	}
	live, declared := run(e.Live, a.ofLive, a.l), run(e.Declared, a.ofDeclared, a.d)
	m.known = len(e.Live) > 0 && len(e.Declared) > 0
	m.liveMoved, m.declaredMoved = live == 0, declared == 0
	m.declaredBefore = declared < len(e.Declared)
	if live > 0 {
		m.since = e.Live[live-1].At
	}
	if declared > 0 {
		m.declaredSince = e.Declared[declared-1].At
	}
	for i := range e.Declared {
		if a.holds(a.ofDeclared, e.Declared[i].Value, a.v) {
			if m.held = true; i > 0 {
				m.heldUntil = e.Declared[i-1].At
			}
			break
		}
	}
	if live < len(e.Live) {
		a.addPrior(&m, &e.Live[live])
	}
	return m
}

// addPrior notes what was live before the live value.
func (a *aspect) addPrior(m *history, o *model.Observation) {
	m.before = o.At
	if m.liveMoved && m.before.Before(a.evidence.LastRead) {
		m.before = a.evidence.LastRead
	}
	later := func(than time.Time) bool { return !than.IsZero() && (m.liveMoved || than.Before(m.since)) }
	m.left = later(m.declaredSince) && a.holds(a.ofLive, o.Value, a.d)
	prior, ok := a.ofLive(o.Value)
	if m.moved = ok && (later(m.heldUntil) || !m.held && later(m.declaredSince)); m.moved {
		m.prior = prior
	}
}

// liveWhileDeclared reports whether a scan read the value as live while it was declared.
func (m *history) liveWhileDeclared() bool {
	return m.held && !m.since.IsZero() && (m.heldUntil.IsZero() || m.since.Before(m.heldUntil))
}

// observedVersion returns the version that driftd read, with the commits of the version in git
// if there is one. The time at which driftd saw it end replaces the committer's.
func (m *history) observedVersion(older *model.Version) *model.Version {
	own := model.Version{Until: model.Commit{Seen: m.heldUntil}}
	if older != nil {
		own.From, own.Until.Hash = older.From, older.Until.Hash
	}
	return &own
}

// dropDisproved drops what a missed version disproves: driftd read what was declared before
// that version, not after it. The last ruling is void if the version was declared while
// it was live.
func (a *aspect) dropDisproved(m *history, older *model.Version) {
	if !a.missedVersion(older) {
		return
	}
	m.left, m.moved, m.held, m.declaredBefore = false, false, false, false
	if supersededAt(older).After(m.since) {
		a.last = nil
	}
}

// missedVersion reports whether a version was declared and superseded between two scans. That is so
// if the declared value of the last scan was also declared before that version, and driftd has read
// it since before the version was superseded, without another value in between.
func (a *aspect) missedVersion(older *model.Version) bool {
	e := a.evidence
	if older == nil || len(e.Declared) == 0 {
		return false
	}
	last := e.Declared[0]
	if a.holds(a.ofDeclared, last.Value, a.v) {
		return false
	}
	since := last.At
	for _, o := range e.Declared {
		if !a.sameDeclared(o.Value, last.Value) {
			break
		}
		since = o.At
	}
	if !supersededAt(older).After(since) {
		return false
	}
	for i := len(e.Versions) - 1; i >= 0 && &e.Versions[i] != older; i-- {
		if v := &e.Versions[i]; v.Branch == "" && !a.isUnknown(v) && a.sameDeclared(v.Value, last.Value) {
			return true
		}
	}
	return false
}

// ruleSuperseded decides on a value that was declared earlier: pending if it was applied before it
// was replaced or within the deploy window, and bypassed otherwise. The time of the replacement is
// unknown if the commit has no date or one in the future.
func (a *aspect) ruleSuperseded(older *model.Version, m history) model.Ruling {
	pending := model.Ruling{Verdict: model.Pending}
	late := bypassed(a.lateReason(older))
	if a.stillHolds(model.Bypassed, m) {
		return late // The observations that proved it may have been pruned.
	}
	at := supersededAt(older)
	if m.declaredBefore && !m.declaredSince.IsZero() && at.After(m.declaredSince) {
		// driftd read the commit on the ref then, so it is not younger.
		at = m.declaredSince
	}
	if gap := a.undated(older, m, at); gap != "" {
		return a.ruleByObservations(m, gap)
	}
	if at.IsZero() || !m.since.IsZero() && !m.since.After(at) {
		return pending
	}
	applied := a.written
	if applied.Before(m.before) {
		applied = m.before
	}
	if !m.since.IsZero() && applied.After(m.since) {
		applied = m.since
	}
	if !applied.After(at.Add(a.evidence.DeployWindow)) {
		return pending
	}
	return late
}

// undated returns why the time at which a version was superseded is not known, or "".
func (a *aspect) undated(older *model.Version, m history, at time.Time) string {
	switch {
	case at.IsZero() && older.Until.Hash != "" && !m.held:
		return "commit " + shortHash(older.Until.Hash) + " has no date"
	case !a.evidence.Now.IsZero() && at.After(a.evidence.Now.Add(a.evidence.DeployWindow)):
		return "commit " + shortHash(older.Until.Hash) + " has a date in the future"
	}
	return ""
}

// ruleByObservations decides by the values that earlier scans read, if neither the history
// nor a scan shows that the live value was ever declared. A new declared value alone does
// not make it pending: the actor that applied the live value may have written the record.
func (a *aspect) ruleByObservations(m history, gap string) model.Ruling {
	switch {
	case a.stillHolds(model.Pending, m):
		return model.Ruling{Verdict: model.Pending}
	case a.stillHolds(model.Bypassed, m), m.known && m.liveMoved && !m.declaredMoved:
		return bypassed("the live side changed and the declaration did not")
	}
	return unproven(gap)
}

// isNew reports whether a claim's resource, which is not live, was first declared within
// the deploy window, and no scan read it since: its first apply may not have run yet.
func isNew(c *model.Claim) bool {
	e := c.Evidence
	if e == nil || c.RecordOnly || c.ByIdentity || c.Recorded != nil {
		return false
	}
	first := introduced(e).When
	recent := !first.IsZero() && !first.After(e.Now.Add(e.DeployWindow)) && !e.Now.After(first.Add(e.DeployWindow))
	return recent && !wasLive(e, first)
}

// wasLive reports whether a scan read the resource as live at a time or later.
func wasLive(e *model.Evidence, since time.Time) bool {
	i := slices.IndexFunc(e.Live, func(o model.Observation) bool { return o.Value != nil })
	return i == 0 || i > 0 && e.Live[i-1].At.After(since)
}

// introduced returns the commit since which the ref declares the resource that its head
// declares, with the time at which driftd read that, if it did; zero if the history does
// not show it.
func introduced(e *model.Evidence) model.Commit {
	unknown := slices.ContainsFunc(e.Versions, func(v model.Version) bool { return v.Branch == "" && len(v.Unknown) > 0 })
	absent := slices.ContainsFunc(e.Versions, func(v model.Version) bool { return v.Branch == "" && v.Value == nil })
	if unknown || e.Gap != "" && !absent {
		return model.Commit{}
	}
	first := sinceWhen(e, func(v *model.Version) bool { return v.Value != nil })
	if !first.Seen.IsZero() {
		first.When = first.Seen
	}
	return first
}

// sinceWhen returns the commit since which the ref declares what holds reports of a
// version, until its head; zero if its head does not.
func sinceWhen(e *model.Evidence, holds func(*model.Version) bool) model.Commit {
	var since model.Commit
	for i := range e.Versions {
		switch v := &e.Versions[i]; {
		case v.Branch != "":
		case !holds(v):
			return since
		default:
			since = v.From
		}
	}
	return since
}

// author returns the author of a commit of the claim's declaration, or else the last actor
// in the claim's own log.
func author(c model.Commit, claim *model.Claim) model.Actor {
	if c.Author == "" {
		return claimAuthorOrUnapplied(claim, "")
	}
	return authorOf(c)
}

// authorOf returns the author of a commit as an actor.
func authorOf(c model.Commit) model.Actor {
	return model.Actor{Name: c.Author, At: c.When, Via: "git", Confidence: model.Likely, Message: c.Message, Evidence: "commit " + shortHash(c.Hash)}
}

// ruleWhole decides between pending and bypassed for a resource that an apply would
// create, replace or remove as a whole, and returns the actor.
func ruleWhole(s *model.Subject, c *model.Claim) (model.Ruling, model.Actor) {
	switch {
	case c.Value.IsNull() && s.Live != nil:
		if ruled := ruleMade(s, c); ruled.Verdict != model.Pending || ruled.Unproven {
			ruled.Reason += "; " + c.Pending
			return ruled, creator(s, Options{})
		}
	case !c.Value.IsNull() && s.Live == nil && c.Recorded == nil && c.Evidence != nil:
		if ruled := ruleGone(c); ruled.Verdict != model.Pending || ruled.Unproven {
			return ruled, remover(s, c)
		}
	}
	return model.Ruling{Verdict: model.Pending, Reason: c.Pending}, claimAuthorOrUnapplied(c, "")
}

// ruleMade decides on a resource that was applied, is live, and is not declared: pending
// if it was declared when it was made and is to be removed.
func ruleMade(s *model.Subject, c *model.Claim) model.Ruling {
	if c.Evidence == nil {
		return unproven("its history was not read")
	}
	a := wholeAspect(c, true)
	a.written = s.Live.Created
	return a.rule()
}

// ruleGone decides on a resource that is declared, and neither recorded nor live: pending
// if it is to be made, bypassed if an apply destroyed it while it was declared.
func ruleGone(c *model.Claim) model.Ruling {
	a := wholeAspect(c, false)
	seen := a.history()
	older, _, _ := a.versions()
	switch {
	case a.missedVersion(older):
	case !a.stillHolds(model.Bypassed, seen) && !destroyed(c.Evidence):
	case c.Lost:
		return unproven("there is no record of what was applied: it may be lost")
	case c.Source == model.LiveSource(c.Declaration):
		// The plan reads what is in the record.
		return a.unlessBehind(bypassed("applied and declared, and not in the record any more: destroyed by an apply that no commit holds, or removed from the record by hand"), seen)
	default:
		return a.unlessBehind(bypassed("applied and declared, and destroyed by an apply that no commit holds"), seen)
	}
	return model.Ruling{Verdict: model.Pending}
}
