package diff

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A record is what was last applied. A whole record says all of it; without
// one, the writers' own record of fields may still tell.
type record struct {
	whole bool
	value model.Value
}

func newRecord(live *model.Resource, c *model.Claim) record {
	switch {
	case c.RecordOnly:
		return record{whole: true, value: c.Value}
	case c.Recorded != nil:
		return record{whole: true, value: *c.Recorded}
	case live.LastApplied != nil && c.Written != nil:
		return record{whole: true, value: rewrite(*live.LastApplied, *c.Written, c.Value)}
	case live.LastApplied != nil:
		return record{whole: true, value: *live.LastApplied}
	}
	return record{}
}

// rewrite says the record in the source's own words: where it has what is
// written, it has what the source makes of that.
func rewrite(recorded, written, canonical model.Value) model.Value {
	switch {
	case recorded.Equal(written):
		return canonical
	case recorded.Kind() == model.Map && canonical.Kind() == model.Map:
		fields := make([]model.Field, 0, len(recorded.Fields()))
		for _, f := range recorded.Fields() {
			fields = append(fields, model.Field{Name: f.Name, Value: rewrite(f.Value, written.At(f.Name), canonical.At(f.Name))})
		}
		return model.MapOf(fields...)
	case alike(recorded, written) && alike(written, canonical):
		items := make([]model.Value, len(recorded.Items()))
		for i := range items {
			items[i] = rewrite(recorded.Items()[i], written.Items()[i], canonical.Items()[i])
		}
		return model.ListOf(items...)
	}
	return recorded
}

// differs reports a declared value that is not the live one.
func (w *walk) differs(schema *model.Schema, d, r, l model.Value) {
	if w.fromTemplate(schema, d, l) || w.exemptDelegated(l) {
		return
	}
	if w.record.whole {
		w.differsFromRecord(schema, d, r, l)
		return
	}
	w.differsWithoutRecord(schema, d, r, l)
}

// differsWithoutRecord decides by the writers' own record of fields.
func (w *walk) differsWithoutRecord(schema *model.Schema, d, r, l model.Value) {
	declarer := w.writers.declarer()
	owners := w.writers.of(w.path)
	owns := slices.Contains(owners, declarer)
	switch {
	case w.claim.ByIdentity: // An inventory applies nothing.
		w.add(changedOrMoved(schema), d, r, l, w.changedBy())
	case owns && keepsRecord(declarer):
		w.waits(schema, d, l, l)
	case declarer == nil, owns:
		w.changedUnlessDeclared("nothing records what was last applied", schema, d, r, l)
	case len(owners) == 0 && !l.IsNull() && fillsIn(schema, l):
		// Whoever edits a field owns it: the default was never touched.
		w.waits(schema, d, r, l)
	case len(owners) > 0:
		w.changedUnlessDeclared("", schema, d, r, l)
	default:
		w.absentLive(schema, d, r, l, declarer)
	}
}

// changedUnlessDeclared reports a field whose live value was written by somebody
// who keeps no record of what he applied: changed, or pending where that value was
// declared and applied before the declaration moved on.
func (w *walk) changedUnlessDeclared(reason string, schema *model.Schema, d, r, l model.Value) {
	if w.declaredWhenApplied(schema, d, l) {
		w.waits(schema, d, l, l)
		return
	}
	w.addFor(reason, changedOrMoved(schema), d, r, l, w.changedBy())
	w.found[len(w.found)-1].change.Unproven = w.claim.Evidence == nil
}

// declaredWhenApplied reports whether an earlier declaration had the live value
// and it was applied then. Where a tool for editing by hand wrote it, driftd must
// have seen it live while it was declared.
func (w *walk) declaredWhenApplied(schema *model.Schema, d, l model.Value) bool {
	if w.claim.Evidence == nil {
		return false
	}
	a := w.aspect(schema, d, l, l)
	seen := a.memory()
	older, _, _ := a.versions()
	byHand := slices.ContainsFunc(w.writers.of(w.path), func(o *model.Owner) bool { return o.Edits })
	switch {
	case older == nil && !seen.held && !a.stands(model.Pending, seen), byHand && !seen.liveWhileHeld():
		return false
	}
	ruled := a.rule()
	return ruled.Verdict == model.Pending && !ruled.Unproven
}

// absentLive reports a declared field that the live object lacks and that no
// writer owns. It was removed by hand, declared after the last apply, or left out
// by an apply that no commit holds: the live record of writers does not say which.
func (w *walk) absentLive(schema *model.Schema, d, r, l model.Value, declarer *model.Owner) {
	ruled := w.rule(schema, d, l, l)
	switch {
	case ruled.Verdict == model.Bypassed && len(w.handsSinceApply()) > 0:
		w.add(model.Changed, d, r, l, w.changedBy())
	case ruled.Verdict == model.Bypassed, !ruled.Unproven, w.declaredLater(declarer):
		w.waits(schema, d, r, l)
	default:
		w.addFor("removed by hand, or declared since the last apply: "+w.live.OwnersFrom+" does not record which",
			model.Changed, d, r, l, w.changedBy())
		w.found[len(w.found)-1].change.Unproven = true
	}
}

func (w *walk) differsFromRecord(schema *model.Schema, d, r, l model.Value) {
	if !Equal(schema, d, r) && w.appliedSince(w.writers.of(w.path)) {
		w.changedUnlessDeclared("", schema, d, model.Value{}, l)
		return
	}
	declared := !d.IsNull() || !r.IsNull()
	switch {
	case declared && (Equal(schema, r, l) || r.IsNull() && w.bySystem(schema, l)):
		w.waits(schema, d, r, l)
	case Equal(schema, d, r):
		w.add(changedOrMoved(schema), d, r, l, w.changedBy())
	default:
		w.add(model.Conflict, d, r, l, w.changedBy())
	}
}

// changedOrMoved is the verdict on a field that was applied as declared and is
// another one now.
func changedOrMoved(schema *model.Schema) model.Verdict {
	if schema != nil && schema.Location {
		return model.Moved
	}
	return model.Changed
}

// fromTemplate tells whether a value that the claim leaves to the default is
// what the resource's template has, or may have had where that is gone, or one
// that the system made for it.
func (w *walk) fromTemplate(schema *model.Schema, d, l model.Value) bool {
	if w.template.IsNull() && w.claim.Template == (model.Ref{}) || !absentEquals(schema, d) {
		return false
	}
	if w.template.IsNull() || schema != nil && schema.Generated {
		return true
	}
	v, _ := lookUp(w.template, w.path.live())
	return Equal(schema, v, l)
}

// bySystem tells whether a live value that was never applied is of the
// system's own making.
func (w *walk) bySystem(schema *model.Schema, l model.Value) bool {
	if fillsIn(schema, l) {
		return true
	}
	if len(w.live.Owners) == 0 {
		return false
	}
	for _, o := range w.writers.of(w.path) {
		if !w.writers.declares(o) {
			return false
		}
	}
	return true
}

// declaredLater tells whether a declared field that the live object lacks, and
// that nobody owns, was declared after the last apply, rather than removed by
// hand. Nothing records removed fields; what is left is evidence: the time of
// the declaration, or else that the specification was never changed since the
// object was made, or only by applies.
func (w *walk) declaredLater(declarer *model.Owner) bool {
	specified := len(w.path) > 0 && w.path[0].name != "metadata"
	switch {
	case !w.claim.Since.IsZero():
		return w.claim.Since.After(declarer.At)
	case !specified || w.live.Generation == 0:
		return false
	case w.live.Generation == 1:
		return true
	}
	return !w.writers.handOnSpec() && declarer.At.After(w.live.Created)
}

// codified reports a field on which live and declared agree and the record
// does not.
func (w *walk) codified(schema *model.Schema, d, r, l model.Value) {
	if w.record.whole && !Equal(schema, d, r) && !(r.IsNull() && fillsIn(schema, l)) && !w.delegated() && !w.appliedSince(w.writers.of(w.path)) {
		w.add(model.Codified, d, r, l, w.changedBy())
	}
}

// appliedSince reports whether one of the owners of a field applied it since the live
// resource's own record was left, by a writer that is not among them. Such a writer, of
// a server-side apply, leaves the record as it was.
func (w *walk) appliedSince(owners []*model.Owner) bool {
	if w.live.LastApplied == nil || w.claim.Recorded != nil || w.claim.RecordOnly {
		return false
	}
	recorder := w.writers.declarer()
	if recorder == nil || !recorder.Records || slices.Contains(owners, recorder) {
		return false
	}
	return slices.ContainsFunc(owners, func(o *model.Owner) bool {
		return o.Applies && o.Subresource == "" && !o.At.Before(recorder.At)
	})
}

// otherOwners returns the owners of the live resource that did not leave its record.
func (w *walk) otherOwners() []*model.Owner {
	var others []*model.Owner
	for i := range w.live.Owners {
		if o := &w.live.Owners[i]; !o.Records {
			others = append(others, o)
		}
	}
	return others
}

// delegated reports whether another object decides the node, or one above it.
func (w *walk) delegated() bool { return w.delegation(false) != nil }

func (w *walk) add(verdict model.Verdict, d, r, l model.Value, actor model.Actor) {
	w.addFor("", verdict, d, r, l, actor)
}

func (w *walk) addFor(reason string, verdict model.Verdict, d, r, l model.Value, actor model.Actor) {
	w.found = append(w.found, found{verdict, w.change(d, r, l, w.by(d, l, actor)), reason})
}

// change returns the change at the walk's path.
func (w *walk) change(d, r, l model.Value, actor model.Actor) model.Change {
	c := model.Change{Path: w.path.String(), LivePath: w.changedLivePath(), Declared: side(d), Recorded: side(r), Live: side(l), Actor: &actor}
	if w.claim.RecordOnly {
		c.Declared = nil
	}
	c.Secret = d.HasSecret() || r.HasSecret() || l.HasSecret()
	return c
}

func side(v model.Value) *model.Value {
	if v.IsNull() {
		return nil
	}
	return &v
}
