package diff

import (
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// A record is the last applied value. If it is not whole, only the live record of writers shows
// what was applied.
type record struct {
	whole bool
	value model.Value
}

func newRecord(live *model.Resource, c *model.Claim) record {
	switch {
	case c.RecordOnly:
		return record{whole: true, value: c.Value}
	case c.Recorded != nil && c.Written != nil:
		return record{whole: true, value: canonicalRecord(*c.Recorded, *c.Written, c.Value)}
	case c.Recorded != nil:
		return record{whole: true, value: *c.Recorded}
	case live.LastApplied != nil && c.Written != nil:
		return record{whole: true, value: canonicalRecord(*live.LastApplied, *c.Written, c.Value)}
	case live.LastApplied != nil:
		return record{whole: true, value: *live.LastApplied}
	}
	return record{}
}

// canonicalRecord returns the record in the source's canonical form: the canonical value replaces
// each value that is equal to the written one.
func canonicalRecord(recorded, written, canonical model.Value) model.Value {
	switch {
	case recorded.Equal(written):
		return canonical
	case recorded.Kind() == model.Map && canonical.Kind() == model.Map:
		fields := make([]model.Field, 0, len(recorded.Fields()))
		for _, f := range recorded.Fields() {
			fields = append(fields, model.Field{Name: f.Name, Value: canonicalRecord(f.Value, written.At(f.Name), canonical.At(f.Name))})
		}
		return model.MapOf(fields...)
	case sameLength(recorded, written) && sameLength(written, canonical):
		items := make([]model.Value, len(recorded.Items()))
		for i := range items {
			items[i] = canonicalRecord(recorded.Items()[i], written.Items()[i], canonical.Items()[i])
		}
		return model.ListOf(items...)
	}
	return recorded
}

// reportDifference reports a declared value that differs from the live one.
func (w *walk) reportDifference(schema *model.Schema, d, r, l model.Value) {
	if w.fromTemplate(schema, d, r, l) || w.exemptIfDelegated(schema, d, l) {
		return
	}
	d = w.declaredFor(schema, d, r)
	if w.record.whole {
		w.reportAgainstRecord(schema, d, r, l)
		return
	}
	w.reportWithoutRecord(schema, d, r, l)
}

// reportWithoutRecord reports a difference according to the live record of writers.
func (w *walk) reportWithoutRecord(schema *model.Schema, d, r, l model.Value) {
	applier := w.writers.applier()
	owners := w.writers.ownersAt(w.path)
	owns := slices.Contains(owners, applier)
	switch {
	case w.claim.ByIdentity: // An inventory applies nothing.
		w.add(changedOrMoved(schema), d, r, l, w.changedBy())
	case owns && keepsRecord(applier):
		w.reportPending(schema, d, l, l)
	case applier == nil, owns:
		w.reportChangedUnlessDeclared("nothing records what was last applied", schema, d, r, l)
	case len(owners) == 0 && !l.IsNull() && fillsIn(schema, l):
		// An edit would have an owner: the default was never changed.
		w.reportPending(schema, d, r, l)
	case len(owners) > 0:
		w.reportChangedUnlessDeclared("", schema, d, r, l)
	default:
		w.reportAbsent(schema, d, r, l, applier)
	}
}

// reportChangedUnlessDeclared reports a field whose live value was written by a writer
// without a record of what it applied: pending if the value was declared and applied
// before the declaration changed, changed otherwise.
func (w *walk) reportChangedUnlessDeclared(reason string, schema *model.Schema, d, r, l model.Value) {
	if w.declaredWhenApplied(schema, d, l) {
		w.reportPending(schema, d, l, l)
		return
	}
	w.addFor(reason, changedOrMoved(schema), d, r, l, w.changedBy())
	w.differences[len(w.differences)-1].change.Unproven = w.claim.Evidence == nil
}

// declaredWhenApplied reports whether the live value was declared earlier and was applied then. If
// a tool for manual edits wrote it, an earlier scan must have read the value while it was declared.
func (w *walk) declaredWhenApplied(schema *model.Schema, d, l model.Value) bool {
	if w.claim.Evidence == nil {
		return false
	}
	a := w.aspect(schema, d, l, l)
	seen := a.history()
	older, _, _ := a.versions()
	byHand := slices.ContainsFunc(w.writers.ownersAt(w.path), func(o *model.Owner) bool { return o.Edits })
	switch {
	case older == nil && !seen.held && !a.stillHolds(model.Pending, seen), byHand && !seen.liveWhileDeclared():
		return false
	}
	ruled := a.rule()
	return ruled.Verdict == model.Pending && !ruled.Unproven
}

// reportAbsent reports a declared field that the live object lacks and that no
// writer owns. It was removed by hand, declared after the last apply, or left out by an
// apply that no commit contains: the live record of writers does not show which.
func (w *walk) reportAbsent(schema *model.Schema, d, r, l model.Value, applier *model.Owner) {
	ruled := w.rule(schema, d, l, l)
	switch {
	case ruled.Verdict == model.Bypassed && len(w.editorsSinceApply()) > 0:
		w.add(model.Changed, d, r, l, w.changedBy())
	case ruled.Verdict == model.Bypassed, !ruled.Unproven, w.declaredLater(applier):
		w.reportPending(schema, d, r, l)
	default:
		w.addFor("removed by hand, or declared since the last apply: "+w.live.OwnersFrom+" does not record which",
			model.Changed, d, r, l, w.changedBy())
		w.differences[len(w.differences)-1].change.Unproven = true
	}
}

func (w *walk) reportAgainstRecord(schema *model.Schema, d, r, l model.Value) {
	if !Equal(schema, d, r) && w.appliedSince(w.writers.ownersAt(w.path)) {
		w.reportChangedUnlessDeclared("", schema, d, model.Value{}, l)
		return
	}
	declared := !d.IsNull() || !r.IsNull()
	switch {
	case declared && (Equal(schema, r, l) || r.IsNull() && w.bySystem(schema, l)):
		w.reportPending(schema, d, r, l)
	case Equal(schema, d, r):
		w.add(changedOrMoved(schema), d, r, l, w.changedBy())
	default:
		w.add(model.Conflict, d, r, l, w.changedBy())
	}
}

// changedOrMoved returns the verdict on a field that was applied as declared and was
// changed since.
func changedOrMoved(schema *model.Schema) model.Verdict {
	if schema != nil && schema.Location {
		return model.Moved
	}
	return model.Changed
}

// bySystem reports whether the system itself set a live value that was never applied.
func (w *walk) bySystem(schema *model.Schema, l model.Value) bool {
	if fillsIn(schema, l) {
		return true
	}
	if len(w.live.Owners) == 0 {
		return false
	}
	for _, o := range w.writers.ownersAt(w.path) {
		if !w.writers.isApplier(o) {
			return false
		}
	}
	return true
}

// declaredLater reports whether a declared field that the live object lacks, and that has
// no owner, was declared after the last apply instead of removed by hand. Removed fields
// are not recorded. The evidence is the time of the declaration, or that the specification
// was changed by applies only since the object was created.
func (w *walk) declaredLater(applier *model.Owner) bool {
	switch {
	case !w.claim.Since.IsZero():
		return w.claim.Since.After(applier.At)
	case len(w.path) == 0 || w.live.Generation == 0 || !w.counted(w.path[0].name):
		return false
	case w.live.Generation == 1:
		return true
	}
	return !w.editedCounted() && applier.At.After(w.live.Created)
}

// reportCodified reports a field whose live and declared values are equal and differ from
// the recorded one.
func (w *walk) reportCodified(schema *model.Schema, d, r, l model.Value) {
	if w.record.whole && !Equal(schema, d, r) && !(r.IsNull() && fillsIn(schema, l)) && w.decider(schema, d, l) == nil && !w.appliedSince(w.writers.ownersAt(w.path)) {
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
	recorder := w.writers.applier()
	if recorder == nil || !recorder.Records || slices.Contains(owners, recorder) {
		return false
	}
	return slices.ContainsFunc(owners, func(o *model.Owner) bool {
		return o.Applies && o.Through == "" && !o.At.Before(recorder.At)
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

func (w *walk) add(verdict model.Verdict, d, r, l model.Value, actor model.Actor) {
	w.addFor("", verdict, d, r, l, actor)
}

func (w *walk) addFor(reason string, verdict model.Verdict, d, r, l model.Value, actor model.Actor) {
	w.differences = append(w.differences, difference{verdict, w.change(d, r, l, w.completeActor(d, l, actor)), reason})
}

// change returns the change at the walk's path.
func (w *walk) change(d, r, l model.Value, actor model.Actor) model.Change {
	c := model.Change{Path: w.path.String(), LivePath: w.changedLivePath(), Declared: side(d), Recorded: side(r), Live: side(l), Actor: &actor}
	if w.claim.RecordOnly {
		c.Declared = nil
	}
	c.Secret = d.HasSecret() || r.HasSecret() || l.HasSecret()
	c.Unenforced = w.unenforced()
	return c
}

func side(v model.Value) *model.Value {
	if v.IsNull() {
		return nil
	}
	return &v
}
