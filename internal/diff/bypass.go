package diff

import (
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// waits reports a field whose live and recorded values agree and differ from the
// declared one: pending if the declaration changed, bypassed if the live value did.
func (w *walk) waits(schema *model.Schema, d, r, l model.Value) {
	ruled := w.rule(schema, d, w.declaredAs(schema, r, l), l)
	actor := w.appliedBy(schema, l)
	if ruled.Verdict == model.Pending && !ruled.Unproven {
		actor = declarer(w.claim, w.path.String())
	}
	c := w.change(d, r, l, actor)
	c.Unproven = ruled.Unproven
	w.found = append(w.found, found{ruled.Verdict, c, ruled.Reason})
}

// declaredAs returns the declared value that, applied as r, results in the live value
// l: r if the system filled l in, l otherwise.
func (w *walk) declaredAs(schema *model.Schema, r, l model.Value) model.Value {
	set := func(o *model.Owner) bool { return !w.writers.declares(o) }
	if r.IsNull() && fillsIn(schema, l) && !slices.ContainsFunc(w.writers.of(w.path), set) {
		return r
	}
	return l
}

// rule decides between pending and bypassed for a field whose live value is l, which
// was applied from a declaration of v, and which is declared as d.
// docs/decisions/0024 has the table; its first matching row decides.
func (w *walk) rule(schema *model.Schema, d, v, l model.Value) model.Ruling {
	e := w.claim.Evidence
	if e == nil {
		return model.Ruling{Verdict: model.Pending, Unproven: true}
	}
	seen := w.memory(schema, d, v, l)
	older, branch, gap := w.versions(schema, v)
	if seen.held {
		older = seen.latest(older)
	}
	switch {
	case older == nil && branch != nil && e.ApplyBeforeMerge:
		return model.Ruling{Verdict: model.Pending}
	case seen.left && older != nil:
		return bypassed("an older version " + inHash(older.From) + "was applied again after driftd saw the declared one live")
	case older != nil && w.cameBack(schema, seen, v):
		return bypassed("an older version " + inHash(older.From) + "was applied again after driftd saw a newer one live")
	case older != nil:
		return w.superseded(older, seen, l)
	case branch != nil:
		return bypassed("applied from " + branch.Branch + " (commit " + short(branch.From.Hash) + "), which is not merged")
	case gap == "":
		return bypassed("applied, and declared by no commit")
	}
	return w.remembered(seen, l, gap)
}

func bypassed(reason string) model.Ruling {
	return model.Ruling{Verdict: model.Bypassed, Reason: reason}
}

// versions returns the last version of the ref that declares the value l, and the
// last one of another branch. gap is why the absence of both does not prove that l was
// never declared; "" if it does.
func (w *walk) versions(schema *model.Schema, l model.Value) (older, branch *model.Version, gap string) {
	path := w.path.String()
	gap = w.claim.Evidence.Gap
	for i := range w.claim.Evidence.Versions {
		v := &w.claim.Evidence.Versions[i]
		switch {
		case slices.ContainsFunc(v.Unknown, func(u string) bool { return u == "" || below(path, u) || below(u, path) }):
			gap = "commit " + short(v.From.Hash) + " declares it by an expression"
		case !w.holdsAt(schema, v.Value, w.path, l):
		case v.Branch == "" && (older == nil || supersededAt(v).After(supersededAt(older))):
			older = v
		case v.Branch != "" && branch == nil:
			branch = v
		}
	}
	return older, branch, gap
}

// cameBack reports whether driftd saw another value live after v was superseded,
// and that value was declared later than v.
func (w *walk) cameBack(schema *model.Schema, m memory, v model.Value) bool {
	if !m.moved {
		return false
	}
	newest := func(v model.Value) int {
		return slices.IndexFunc(w.claim.Evidence.Versions, func(of model.Version) bool {
			return of.Branch == "" && len(of.Unknown) == 0 && w.holdsAt(schema, of.Value, w.path, v)
		})
	}
	before, now := newest(m.prior), newest(v)
	return before >= 0 && before < now
}

// holdsAt reports whether a value of the claim has v at a path. A nil or null value
// has nothing, not even an absent field.
func (w *walk) holdsAt(schema *model.Schema, of *model.Value, at path, v model.Value) bool {
	if of == nil || of.IsNull() {
		return false
	}
	found, _ := lookUp(*of, at)
	return Equal(schema, found, v)
}

// supersededAt returns when a version stopped being declared: the time at which driftd
// saw that, or else the committer's time.
func supersededAt(v *model.Version) time.Time {
	if !v.Until.Seen.IsZero() {
		return v.Until.Seen
	}
	return v.Until.When
}

// A memory is what earlier scans read of one field.
type memory struct {
	// since is when driftd first read the current live value, without another value
	// in between. before is the same for the previous live value. Zero if unknown.
	since, before time.Time
	// declaredSince is since for the declared value.
	declaredSince time.Time
	// liveMoved and declaredMoved report whether a side differs from what the last
	// scan read; known reports whether an earlier scan read both.
	liveMoved, declaredMoved, known bool
	// left reports whether the live value was the declared value before it became the
	// current one.
	left bool
	// moved reports whether the field was live as prior when the live value was
	// declared no more.
	moved bool
	prior model.Value
	// held reports whether an earlier scan read the live value as declared. heldUntil
	// is when the declaration changed after that; zero means in this scan.
	held      bool
	heldUntil time.Time
	// declaredBefore reports whether an earlier scan read another declared value.
	declaredBefore bool
}

// memory returns what earlier scans read of the field at the walk's path.
func (w *walk) memory(schema *model.Schema, d, v, l model.Value) memory {
	e := w.claim.Evidence
	var m memory
	run := func(list []model.Observation, at path, view func(*model.Value) *model.Value, v model.Value) int {
		i := 0
		for i < len(list) && w.holdsAt(schema, view(list[i].Value), at, v) {
			i++
		}
		return i
	}
	live, declared := run(e.Live, w.path.live(), w.seenAs, l), run(e.Declared, w.path, unchanged, d)
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
		if w.holdsAt(schema, e.Declared[i].Value, w.path, v) {
			if m.held = true; i > 0 {
				m.heldUntil = e.Declared[i-1].At
			}
			break
		}
	}
	if live < len(e.Live) {
		w.priorTo(&m, schema, d, &e.Live[live])
	}
	return m
}

// liveWhileHeld reports whether a scan read the value as live while it was declared.
func (m *memory) liveWhileHeld() bool {
	return m.held && !m.since.IsZero() && (m.heldUntil.IsZero() || m.since.Before(m.heldUntil))
}

// priorTo notes what was live before the live value.
func (w *walk) priorTo(m *memory, schema *model.Schema, d model.Value, o *model.Observation) {
	m.before = o.At
	later := func(than time.Time) bool { return !than.IsZero() && (m.liveMoved || than.Before(m.since)) }
	seen := w.seenAs(o.Value)
	m.left = later(m.declaredSince) && w.holdsAt(schema, seen, w.path.live(), d)
	if m.moved = seen != nil && (later(m.heldUntil) || !m.held && later(m.declaredSince)); m.moved {
		m.prior, _ = lookUp(*seen, w.path.live())
	}
}

func unchanged(v *model.Value) *model.Value { return v }

// seenAs returns an earlier value of the resource in the form of the claim.
func (w *walk) seenAs(v *model.Value) *model.Value {
	if v == nil || w.claim.Lens == nil {
		return v
	}
	view := w.claim.Lens.View(*v)
	return &view
}

// latest returns the version that driftd read, with the commits of the version in git
// if there is one. The time at which driftd saw it end replaces the committer's.
func (m *memory) latest(older *model.Version) *model.Version {
	own := model.Version{Until: model.Commit{Seen: m.heldUntil}}
	if older != nil {
		own.From, own.Until.Hash = older.From, older.Until.Hash
	}
	return &own
}

// superseded decides on a value that was declared earlier: pending if it was applied
// before it was replaced or within the deploy window, bypassed otherwise. A commit
// without a date, or with one in the future, does not show when that was.
func (w *walk) superseded(older *model.Version, m memory, l model.Value) model.Ruling {
	pending := model.Ruling{Verdict: model.Pending}
	at := supersededAt(older)
	if m.declaredBefore && !m.declaredSince.IsZero() && at.After(m.declaredSince) {
		// driftd read the commit on the ref then, so it is not younger.
		at = m.declaredSince
	}
	if gap := w.undated(older, m, at); gap != "" {
		return w.remembered(m, l, gap)
	}
	if at.IsZero() || !m.since.IsZero() && !m.since.After(at) {
		return pending
	}
	applied := w.lastWrite()
	if applied.Before(m.before) {
		applied = m.before
	}
	if !m.since.IsZero() && applied.After(m.since) {
		applied = m.since
	}
	if !applied.After(at.Add(w.claim.Evidence.DeployWindow)) {
		return pending
	}
	return bypassed("an older version " + inHash(older.From) + "was applied after " + after(older.Until))
}

// undated returns why a version does not tell when it was superseded, or "".
func (w *walk) undated(older *model.Version, m memory, at time.Time) string {
	e := w.claim.Evidence
	switch {
	case at.IsZero() && older.Until.Hash != "" && !m.held:
		return "commit " + short(older.Until.Hash) + " has no date"
	case !e.Now.IsZero() && at.After(e.Now.Add(e.DeployWindow)):
		return "commit " + short(older.Until.Hash) + " has a date in the future"
	}
	return ""
}

// lastWrite returns when the field was last written according to the live record of
// writers, or else when the declaration's writer last wrote; zero if neither is known.
func (w *walk) lastWrite() time.Time {
	if o := w.lastWriter(); o != nil {
		return o.At
	}
	return time.Time{}
}

// lastWriter returns the last writer of the field, or else the declaration's writer,
// which removed it; nil if the live side keeps no record of writers.
func (w *walk) lastWriter() *model.Owner {
	var last *model.Owner
	for _, o := range w.writers.of(w.path) {
		if last == nil || o.At.After(last.At) {
			last = o
		}
	}
	if last == nil {
		last = w.writers.declarer()
	}
	return last
}

// appliedBy returns who applied the live value l.
func (w *walk) appliedBy(schema *model.Schema, l model.Value) model.Actor {
	o := w.lastWriter()
	if o == nil {
		return w.traced()
	}
	return w.writtenBy(o, w.disproved(o, schema, l))
}

// writtenBy returns the actor of a write that the live record of writers attributes to
// an owner. Anyone who can write a resource can also change that record. A later write
// in the source's logs takes precedence if the record does not contain its writer, or
// if the owner is disproved.
func (w *walk) writtenBy(o *model.Owner, disproved bool) model.Actor {
	t := lastTrace(w.subject.Traces, func(t *model.Trace) bool {
		recorded := slices.ContainsFunc(w.live.Owners, func(o model.Owner) bool { return o.Name == t.Writer })
		return t.Deed == model.Edited && t.Writer != "" && (disproved || !recorded) && t.Actor.At.After(o.At)
	})
	if t == nil {
		return w.actor(o)
	}
	actor := t.Actor
	actor.Confidence = model.Likely
	actor.Evidence += ", a later write than the one that " + w.live.OwnersFrom + " records"
	return actor
}

// disproved reports whether a scan read another value after the last write of an
// owner, which therefore did not write the live value.
func (w *walk) disproved(o *model.Owner, schema *model.Schema, l model.Value) bool {
	return w.claim.Evidence != nil && slices.ContainsFunc(w.claim.Evidence.Live, func(seen model.Observation) bool {
		return seen.At.After(o.At) && !w.holdsAt(schema, w.seenAs(seen.Value), w.path.live(), l)
	})
}

// remembered decides by what earlier scans read, if the history does not show whether
// the live value was ever declared.
func (w *walk) remembered(m memory, l model.Value, gap string) model.Ruling {
	last, ruled := w.claim.Evidence.Rulings[w.path.String()]
	var decidedOn model.Value
	if last.Live != nil {
		decidedOn = *last.Live
	}
	unmoved := ruled && !m.liveMoved && decidedOn.Equal(l)
	unproven := model.Ruling{Verdict: model.Pending, Unproven: true, Reason: "pending or bypassed: " + gap}
	switch {
	case unmoved && last.Unproven:
		return unproven
	case unmoved && last.Verdict == model.Pending, !unmoved && m.known && m.declaredMoved && !m.liveMoved:
		return model.Ruling{Verdict: model.Pending}
	case unmoved, m.known && m.liveMoved && !m.declaredMoved:
		return bypassed("the live side changed and the declaration did not")
	}
	return unproven
}

// ruleWhole decides between pending and bypassed for a resource that an apply would
// create, replace or remove as a whole, and returns the actor.
func ruleWhole(s *model.Subject, c *model.Claim) (model.Ruling, model.Actor) {
	switch {
	case c.Value.IsNull() && s.Live != nil:
		if ruled := ruleMade(c, s.Live.Created); ruled.Verdict != model.Pending || ruled.Unproven {
			return ruled, creator(s)
		}
	case !c.Value.IsNull() && s.Live == nil && c.Recorded == nil && destroyed(c.Evidence):
		return bypassed("applied and declared, and destroyed by an apply that no commit holds"), remover(s, c)
	}
	return model.Ruling{Verdict: model.Pending, Reason: c.Pending}, declarer(c, "")
}

// ruleMade decides on a resource that was applied, is live, and is not declared:
// ruleMade decides on a resource that was applied, is live, and is not declared:
// pending if it was declared before and is to be removed, bypassed if no commit ever
// declared it, or if it was made again after it was removed.
func ruleMade(c *model.Claim, created time.Time) model.Ruling {
	e := c.Evidence
	unproven := func(why string) model.Ruling {
		return model.Ruling{Verdict: model.Pending, Unproven: true, Reason: "pending or bypassed: " + why + "; " + c.Pending}
	}
	if e == nil {
		return unproven("its history was not read")
	}
	older, branch, gap := everDeclared(e)
	isDeclared := func(o model.Observation) bool { return o.Value != nil }
	switch {
	case older == nil && !slices.ContainsFunc(e.Declared, isDeclared):
	case madeAgain(e):
		return bypassed("made again after driftd saw it gone, and declared by no commit since; " + c.Pending)
	case older != nil && len(e.Live) == 0 && !supersededAt(older).IsZero() && created.After(supersededAt(older).Add(e.DeployWindow)):
		return bypassed("made after " + after(older.Until) + " had removed it; " + c.Pending)
	default:
		return model.Ruling{Verdict: model.Pending}
	}
	switch {
	case branch != nil && e.ApplyBeforeMerge:
		return model.Ruling{Verdict: model.Pending}
	case branch != nil:
		return bypassed("applied from " + branch.Branch + " (commit " + short(branch.From.Hash) + "), which is not merged; " + c.Pending)
	case gap == "":
		return bypassed("applied, and declared by no commit; " + c.Pending)
	}
	return unproven(gap)
}

// everDeclared returns the last version that declared the resource, on the ref
// and on another branch. gap is why neither proves that it never was.
func everDeclared(e *model.Evidence) (older, branch *model.Version, gap string) {
	gap = e.Gap
	for i := range e.Versions {
		switch v := &e.Versions[i]; {
		case v.Value == nil && len(v.Unknown) > 0:
			gap = "commit " + short(v.From.Hash) + " may declare it by an expression"
		case v.Value == nil:
		case v.Branch == "" && older == nil:
			older = v
		case v.Branch != "" && branch == nil:
			branch = v
		}
	}
	return older, branch, gap
}

// madeAgain reports whether driftd saw the resource gone, or not made yet, when
// it was declared no more, and the resource came after that.
func madeAgain(e *model.Evidence) bool {
	wasLive, wasUndeclared := 0, 0
	for wasLive < len(e.Live) && e.Live[wasLive].Value != nil {
		wasLive++
	}
	for wasUndeclared < len(e.Declared) && e.Declared[wasUndeclared].Value == nil {
		wasUndeclared++
	}
	if wasLive == len(e.Live) || wasUndeclared == 0 {
		return false
	}
	return wasLive == 0 || e.Declared[wasUndeclared-1].At.Before(e.Live[wasLive-1].At)
}

// destroyed reports whether the resource was live while it was declared, and is absent
// although it is still declared.
func destroyed(e *model.Evidence) bool {
	if e == nil || len(e.Declared) == 0 || e.Declared[0].Value == nil {
		return false
	}
	since := e.Declared[0].At
	for _, o := range e.Declared {
		if o.Value == nil {
			break
		}
		since = o.At
	}
	for i, o := range e.Live {
		if o.Value != nil {
			return i == 0 || since.Before(e.Live[i-1].At)
		}
	}
	return false
}

// inHash returns a commit's short hash in parentheses, followed by a space; "" for a
// commit without a hash.
func inHash(c model.Commit) string {
	if c.Hash == "" {
		return ""
	}
	return "(" + short(c.Hash) + ") "
}

// after returns the short hash of the commit that superseded a version, or else a text
// with the time at which driftd saw that.
func after(c model.Commit) string {
	if c.Hash != "" {
		return short(c.Hash)
	}
	return "another one was declared at " + c.Seen.UTC().Format("2006-01-02 15:04 UTC")
}

// short abbreviates a commit's hash.
func short(hash string) string { return strings.TrimSpace(hash[:min(len(hash), 12)]) }
