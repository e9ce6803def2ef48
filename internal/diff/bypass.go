package diff

import (
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// reportPending reports a field whose live and recorded values are equal and differ from the
// declared one. It is pending if the declaration changed, and bypassed if the live value changed.
// If the next apply imports the resource, the live value came from no declaration and the field is
// changed.
func (w *walk) reportPending(schema *model.Schema, d, r, l model.Value) {
	if w.claim.Imported {
		w.addFor(w.claim.Pending, model.Changed, d, model.Value{}, l, w.changedBy())
		return
	}
	ruled := w.rule(schema, d, w.appliedValue(schema, r, l), l)
	actor := w.appliedBy(schema, l)
	if ruled.Verdict == model.Pending && !ruled.Unproven {
		if actor = declaredBy(w.claim, schema, w.path, d); actor.Confidence == model.Unknown {
			actor = notAppliedActor()
		}
	}
	c := w.change(d, r, l, actor)
	c.Unproven = ruled.Unproven
	w.differences = append(w.differences, difference{ruled.Verdict, c, ruled.Reason})
}

// declaredBy returns the actor that made the claim declare d at a path: the author of the commit
// since which the ref declares it, or else the last actor in the claim's own log.
func declaredBy(c *model.Claim, schema *model.Schema, at path, d model.Value) model.Actor {
	text := at.String()
	logged := claimAuthor(c, text)
	switch {
	case logged.Confidence != model.Unknown || c.WriterUnknown != "":
	case c.RecordOnly:
		logged.Reason = "the state does not record who set it; engine: plan with git shows who declared it"
	case c.Evidence != nil && c.Evidence.Gap != "":
		logged.Reason += ": " + c.Evidence.Gap
	}
	if c.Evidence == nil {
		return logged
	}
	known := true
	since := sinceWhen(c.Evidence, func(v *model.Version) bool {
		known = known && !isUnknownAt(v, text)
		held, ok := fieldAt(v.Value, at)
		return known && ok && Equal(schema, held, d)
	})
	switch {
	case !known || since.Hash == "":
		return logged
	case since.Oldest:
		return model.UnknownActor("declared by commit " + shortHash(since.Hash) + " or before, the oldest one that was read; raise history")
	case since.Author == "":
		return logged
	}
	return authorOf(since)
}

// isUnknownAt reports whether the value of a version is unknown at a path.
func isUnknownAt(v *model.Version, at string) bool {
	return slices.ContainsFunc(v.Unknown, func(u string) bool { return u == "" || model.Overlap(at, u) })
}

// appliedValue returns the declared value that, applied as r, results in the live value
// l: r if the system filled l in, l otherwise.
func (w *walk) appliedValue(schema *model.Schema, r, l model.Value) model.Value {
	set := func(o *model.Owner) bool { return !w.writers.isApplier(o) }
	if r.IsNull() && fillsIn(schema, l) && !slices.ContainsFunc(w.writers.ownersAt(w.path), set) {
		return r
	}
	return l
}

// rule decides between pending and bypassed for a field whose live value is l, which
// was applied from a declaration of v, and which is declared as d.
func (w *walk) rule(schema *model.Schema, d, v, l model.Value) model.Ruling {
	if w.claim.Evidence == nil {
		return model.Ruling{Verdict: model.Pending, Unproven: true}
	}
	return w.aspect(schema, d, v, l).rule()
}

// aspect returns the aspect of the field at the walk's path, with the values of rule.
func (w *walk) aspect(schema *model.Schema, d, v, l model.Value) *aspect {
	at, live := slices.Clone(w.path), slices.Clone(w.path.live())
	a := &aspect{
		evidence:   w.claim.Evidence,
		d:          d,
		v:          v,
		l:          l,
		equal:      func(a, b model.Value) bool { return Equal(schema, a, b) },
		ofDeclared: func(v *model.Value) (model.Value, bool) { return fieldAt(v, at) },
		ofLive:     func(v *model.Value) (model.Value, bool) { return fieldAt(w.inClaimForm(v), live) },
		unknown:    "declares it by an expression",
		written:    w.lastWrite(),
	}
	text := w.path.String()
	a.isUnknown = func(v *model.Version) bool { return isUnknownAt(v, text) }
	if last, ok := a.evidence.Rulings[text]; ok && deref(last.Live).Equal(l) {
		a.last = &last
	}
	return a
}

// fieldAt returns what a value of a claim or a resource has at a path. A nil or null
// value has nothing, not even an absent field.
func fieldAt(of *model.Value, at path) (held model.Value, ok bool) {
	if of == nil || of.IsNull() {
		return model.Value{}, false
	}
	held, _ = lookUp(*of, at)
	return held, true
}

// inClaimForm returns an earlier value of the resource in the form of the claim.
func (w *walk) inClaimForm(v *model.Value) *model.Value {
	if v == nil || w.claim.Lens == nil {
		return v
	}
	view := w.claim.Lens.View(*v)
	return &view
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
	for _, o := range w.writers.ownersAt(w.path) {
		if last == nil || o.At.After(last.At) {
			last = o
		}
	}
	if last == nil {
		last = w.writers.applier()
	}
	return last
}

// appliedBy returns who applied the live value l.
func (w *walk) appliedBy(schema *model.Schema, l model.Value) model.Actor {
	o := w.lastWriter()
	if o == nil {
		return w.loggedActor()
	}
	disproved := w.disproved(o, schema, l)
	if disproved && l.IsNull() && len(w.writers.ownersAt(w.path)) == 0 {
		return w.removedBy()
	}
	return w.writtenBy(o, disproved)
}

// writtenBy returns the actor of a write that the live record of writers attributes to
// an owner. Anyone who can write a resource can also change that record. A later write
// in the source's logs takes precedence if the record does not contain its writer, or
// if the owner is disproved.
func (w *walk) writtenBy(o *model.Owner, disproved bool) model.Actor {
	t := lastEvent(w.subject.AuditEvents, func(t *model.AuditEvent) bool {
		recorded := slices.ContainsFunc(w.live.Owners, func(o model.Owner) bool { return o.Name == t.Writer })
		return t.Action == model.Edited && t.Writer != "" && (disproved || !recorded) && t.Actor.At.After(o.At)
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
		held, ok := fieldAt(w.inClaimForm(seen.Value), w.path.live())
		return seen.At.After(o.At) && (!ok || !Equal(schema, held, l))
	})
}

// destroyed reports whether the resource was live while it was declared, and is now absent although
// it is still declared.
func destroyed(e *model.Evidence) bool {
	if len(e.Declared) == 0 || e.Declared[0].Value == nil {
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

// hashInParentheses returns a commit's short hash in parentheses, followed by a space; "" for a
// commit without a hash.
func hashInParentheses(c model.Commit) string {
	if c.Hash == "" {
		return ""
	}
	return "(" + shortHash(c.Hash) + ") "
}

// supersederText returns the short hash of the commit that superseded a version, or else a text
// with the time at which driftd saw that.
func supersederText(c model.Commit) string {
	if c.Hash != "" {
		return shortHash(c.Hash)
	}
	return "another one was declared at " + c.Seen.UTC().Format("2006-01-02 15:04 UTC")
}

// shortHash abbreviates a commit's hash.
func shortHash(hash string) string { return strings.TrimSpace(hash[:min(len(hash), 12)]) }
