package diff

import (
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// waits reports a field that is live as it was applied and that is declared
// otherwise: pending where the declaration moved, bypassed where the live side
// did.
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

// declaredAs returns what a declaration that was applied as r says of the live
// value: nothing, where the system filled it in.
func (w *walk) declaredAs(schema *model.Schema, r, l model.Value) model.Value {
	set := func(o *model.Owner) bool { return !w.writers.declares(o) }
	if r.IsNull() && fillsIn(schema, l) && !slices.ContainsFunc(w.writers.of(w.path), set) {
		return r
	}
	return l
}

// rule decides between pending and bypassed for a field that was applied with
// the live value l, as a declaration of v, and is declared as d. The first row of
// the table that holds decides; docs/decisions/0024 has the table.
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
	case older != nil:
		return w.superseded(older, seen)
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

// versions looks for the value l in what was declared before: the last time on
// the ref, and the last time on another branch. gap is why neither proves that
// it was never declared.
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

// holdsAt reports whether a value of the claim holds v at a path. A value that
// is not there holds nothing, not even an absent field.
func (w *walk) holdsAt(schema *model.Schema, of *model.Value, at path, v model.Value) bool {
	if of == nil || of.IsNull() {
		return false
	}
	found, _ := lookUp(*of, at)
	return Equal(schema, found, v)
}

// supersededAt returns when a version stopped being declared: the time at which
// driftd saw it go before the committer's.
func supersededAt(v *model.Version) time.Time {
	if !v.Until.Seen.IsZero() {
		return v.Until.Seen
	}
	return v.Until.When
}

// A memory is what earlier scans read of one field.
type memory struct {
	// since is when driftd began to see the live value without a break, and
	// before when it began to see the one before that; zero where unknown.
	since, before time.Time
	// declaredSince is the same as since for the declared value.
	declaredSince time.Time
	// liveMoved and declaredMoved report whether a side is another one than the
	// last scan read; known reports whether the last scan read both.
	liveMoved, declaredMoved, known bool
	// left reports whether the field was live as it is declared now, and moved
	// away from that.
	left bool
	// held reports whether an earlier scan read the live value as declared, and
	// heldUntil when that ended: zero means in this scan.
	held      bool
	heldUntil time.Time
	// declaredBefore reports whether an earlier scan read another declared value.
	declaredBefore bool
}

// memory reads what earlier scans saw of the field at the walk's path.
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
	if live < len(e.Live) {
		m.before = e.Live[live].At
		wasDeclared := declared > 0 && (live == 0 || m.declaredSince.Before(m.since))
		m.left = wasDeclared && w.holdsAt(schema, w.seenAs(e.Live[live].Value), w.path.live(), d)
	}
	for i := range e.Declared {
		if w.holdsAt(schema, e.Declared[i].Value, w.path, v) {
			if m.held = true; i > 0 {
				m.heldUntil = e.Declared[i-1].At
			}
			break
		}
	}
	return m
}

// liveWhileHeld reports whether a scan saw the value live while it was declared.
func (m *memory) liveWhileHeld() bool {
	return m.held && !m.since.IsZero() && (m.heldUntil.IsZero() || m.since.Before(m.heldUntil))
}

func unchanged(v *model.Value) *model.Value { return v }

// seenAs returns an earlier value of the resource in the claim's words.
func (w *walk) seenAs(v *model.Value) *model.Value {
	if v == nil || w.claim.Lens == nil {
		return v
	}
	view := w.claim.Lens.View(*v)
	return &view
}

// latest returns the version that was superseded last: the one in git, or the
// one that driftd itself read. What driftd read goes before the committer's time.
func (m *memory) latest(older *model.Version) *model.Version {
	own := model.Version{Until: model.Commit{Seen: m.heldUntil}}
	if older != nil {
		own.From, own.Until.Hash = older.From, older.Until.Hash
	}
	return &own
}

// superseded decides on a value that was declared earlier: whether it was
// applied before another one took its place.
func (w *walk) superseded(older *model.Version, m memory) model.Ruling {
	pending := model.Ruling{Verdict: model.Pending}
	at := supersededAt(older)
	if m.declaredBefore && !m.declaredSince.IsZero() && at.After(m.declaredSince) {
		// The commit was on the ref when driftd read it, whatever its date is.
		at = m.declaredSince
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

// lastWrite returns when the field was last written, after the live record of
// writers, or else when the declaration's writer last wrote; zero where neither
// is known.
func (w *walk) lastWrite() time.Time {
	if o := w.lastWriter(); o != nil {
		return o.At
	}
	return time.Time{}
}

// lastWriter returns who wrote the field last, or else the declaration's writer,
// which removed it; nil where the live side keeps no such record.
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

// writtenBy returns who wrote what the live record of writers gives to an owner.
// Who can write a resource can write that record, too. A later write in the
// source's logs counts where the record has no entry of it, or where the owner is
// disproved.
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

// disproved reports whether a scan saw another value after the last write of an
// owner, so that it did not write the live one.
func (w *walk) disproved(o *model.Owner, schema *model.Schema, l model.Value) bool {
	return w.claim.Evidence != nil && slices.ContainsFunc(w.claim.Evidence.Live, func(seen model.Observation) bool {
		return seen.At.After(o.At) && !w.holdsAt(schema, w.seenAs(seen.Value), w.path.live(), l)
	})
}

// remembered decides by memory alone, where history does not tell whether the
// live value was ever declared.
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

// ruleWhole decides between pending and bypassed for a resource that waits as a
// whole, and names who is answerable.
func ruleWhole(s *model.Subject, c *model.Claim) (model.Ruling, model.Actor) {
	switch {
	case c.Value.IsNull() && s.Live != nil:
		if ruled := ruleMade(c); ruled.Verdict != model.Pending || ruled.Unproven {
			return ruled, creator(s)
		}
	case !c.Value.IsNull() && s.Live == nil && c.Recorded == nil && destroyed(c.Evidence):
		return bypassed("applied and declared, and destroyed by an apply that no commit holds"), remover(s, c)
	}
	return model.Ruling{Verdict: model.Pending, Reason: c.Pending}, declarer(c, "")
}

// ruleMade decides on a resource that was applied, is live, and is not declared:
// it waits to be removed, or no commit ever declared it.
func ruleMade(c *model.Claim) model.Ruling {
	e := c.Evidence
	unproven := func(why string) model.Ruling {
		return model.Ruling{Verdict: model.Pending, Unproven: true, Reason: "pending or bypassed: " + why + "; " + c.Pending}
	}
	if e == nil {
		return unproven("its history was not read")
	}
	var branch *model.Version
	gap := e.Gap
	for i := range e.Versions {
		switch v := &e.Versions[i]; {
		case v.Value == nil && len(v.Unknown) > 0:
			gap = "commit " + short(v.From.Hash) + " may declare it by an expression"
		case v.Value == nil:
		case v.Branch == "":
			return model.Ruling{Verdict: model.Pending}
		case branch == nil:
			branch = v
		}
	}
	switch {
	case slices.ContainsFunc(e.Declared, func(o model.Observation) bool { return o.Value != nil }):
		return model.Ruling{Verdict: model.Pending}
	case branch != nil && e.ApplyBeforeMerge:
		return model.Ruling{Verdict: model.Pending}
	case branch != nil:
		return bypassed("applied from " + branch.Branch + " (commit " + short(branch.From.Hash) + "), which is not merged; " + c.Pending)
	case gap == "":
		return bypassed("applied, and declared by no commit; " + c.Pending)
	}
	return unproven(gap)
}

// destroyed reports whether the resource was live while it was declared, and is
// gone although it is declared still.
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

// inHash names a commit in the middle of a sentence; "" for one without a hash.
func inHash(c model.Commit) string {
	if c.Hash == "" {
		return ""
	}
	return "(" + short(c.Hash) + ") "
}

// after names the commit that superseded a version, or when driftd saw that.
func after(c model.Commit) string {
	if c.Hash != "" {
		return short(c.Hash)
	}
	return "another one was declared at " + c.Seen.UTC().Format("2006-01-02 15:04 UTC")
}

// short abbreviates a commit's hash.
func short(hash string) string { return strings.TrimSpace(hash[:min(len(hash), 12)]) }
