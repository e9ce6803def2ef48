package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// undeclared compares a node that the claim does not declare. A value that the system or a known
// controller sets is not drift. A value that was applied and is no longer declared is pending. Any
// other value is undeclared.
func (w *walk) undeclared(schema *model.Schema, r, l model.Value) {
	switch {
	case schema != nil && schema.Volatile, r.IsNull() && w.ofSystem(schema, l):
	case comparedByField(schema, l):
		w.fields(schema, model.Value{}, r, l)
	case l.Kind() == model.List && granular(schema):
		w.elements(schema, model.Value{}, r, l)
	case !r.IsNull():
		w.reportDropped(schema, r, l)
	default:
		w.reportExtra(schema, l)
	}
}

// ofSystem reports whether a live value that is neither declared nor recorded is the system's. It reports a generated
// value that a writer set instead.
func (w *walk) ofSystem(schema *model.Schema, l model.Value) bool {
	switch {
	case l.IsNull(), w.bySystemAlone(schema, l):
		return true
	case schema != nil && schema.Generated:
		w.reportGenerated(schema, l)
		return true
	}
	return w.isDefaultTree(schema, l)
}

// isDefaultTree reports whether a live map is the default, or derived from other fields, or a list means the same
// as none.
func (w *walk) isDefaultTree(schema *model.Schema, l model.Value) bool {
	if l.Kind() == model.Map {
		return schema != nil && (schema.Default != nil && Equal(schema, *schema.Default, l) || schema.Derive != nil && w.equalsDerived(schema, l))
	}
	return l.Kind() == model.List && absentEquals(schema, l)
}

// comparedByField reports whether the fields of a live map are compared one by one. An
// empty map that differs from an absent one is compared as a whole.
func comparedByField(schema *model.Schema, l model.Value) bool {
	return l.Kind() == model.Map && !(l.IsEmpty() && isContent(schema))
}

// equalsUndeclared reports whether a live value means the same as an absent one, or is
// derived by the system from other fields. A zero value that is not the default was
// written: by its owner, or, if every default is known and it has no owner, by a writer
// whose entry was removed from the record.
func (w *walk) equalsUndeclared(schema *model.Schema, l model.Value) bool {
	if schema != nil && schema.Derive != nil {
		return w.equalsDerived(schema, l)
	}
	if !absentEquals(schema, l) || schema != nil && schema.Default != nil {
		return absentEquals(schema, l)
	}
	owners := w.writers.ownersAt(w.path)
	if len(owners) == 0 {
		return len(w.live.Owners) == 0 && !w.live.OwnersRemoved || w.claim.Lens != nil || !w.defaultsKnown()
	}
	return w.originOf(owners, schema, l) == origin{}
}

// equalsDerived reports whether a live value is what the system derives from other fields.
func (w *walk) equalsDerived(schema *model.Schema, l model.Value) bool {
	holder, _ := lookUp(w.view, w.path[:len(w.path)-1])
	return Equal(schema, schema.Derive(holder), l)
}

// bySystemAlone reports whether the system sets an undeclared value: it allocates it, or
// may derive it and no record of writers distinguishes that from an edit.
func (w *walk) bySystemAlone(schema *model.Schema, l model.Value) bool {
	return schema != nil && (schema.Generated && w.generatedBy(schema, l) == nil || schema.Derived && len(w.live.Owners) == 0 && !w.isSet() && (schema.Derive == nil || !w.live.OwnersRemoved))
}

// generatedBy returns the last writer that set a value which the system allocates otherwise; nil if
// the system, the applier, or the writer that created the object set it.
func (w *walk) generatedBy(schema *model.Schema, l model.Value) *model.Owner {
	if schema.Derive != nil && w.equalsDerived(schema, l) {
		return nil
	}
	var last *model.Owner
	for _, o := range w.writers.ownersAt(w.path) {
		if why, _ := w.evidence(o, l); why != "" || w.writers.isApplier(o) || w.isMaker(o) || w.claim.Lens != nil && !o.Edits {
			continue
		}
		if last == nil || o.At.After(last.At) {
			last = o
		}
	}
	return last
}

// reportGenerated reports a value that a writer set instead of the system.
func (w *walk) reportGenerated(schema *model.Schema, l model.Value) {
	if w.claimedByOther() || w.exemptIfDelegated(schema, model.Value{}, l) {
		return
	}
	w.add(model.Undeclared, model.Value{}, model.Value{}, l, w.writtenBy(w.generatedBy(schema, l), false))
}

// reportDropped reports a value that was applied and is no longer declared.
func (w *walk) reportDropped(schema *model.Schema, r, l model.Value) {
	absent := model.Value{}
	switch {
	case w.decider(schema, absent, l) != nil || w.claimedByOther():
	case !w.declaredFor(schema, absent, r).IsNull():
		w.reportAgainstRecord(schema, r, r, l)
	case Equal(schema, absent, l) && Equal(schema, absent, r):
	case w.mark:
		if o := w.lastWriter(); o == nil || w.markedBy(o, l) != (origin{}) {
			w.exempt(l, o, "a mark of a tool that applies declarations")
		}
	case Equal(schema, absent, l) && w.appliedSince(w.otherOwners()):
	case Equal(schema, absent, l):
		w.add(model.Codified, absent, r, l, w.changedBy())
	case Equal(schema, r, l):
		w.reportPending(schema, absent, r, l)
	default:
		w.add(model.Conflict, absent, r, l, w.changedBy())
	}
}

// reportExtra reports a live value that is neither declared nor recorded.
func (w *walk) reportExtra(schema *model.Schema, l model.Value) {
	if w.equalsUndeclared(schema, l) || w.claimedByOther() || w.exemptIfDelegated(schema, model.Value{}, l) {
		return
	}
	absent := model.Value{}
	if len(w.live.Owners) == 0 {
		w.reportUnrecorded(schema, l)
		return
	}
	owners := w.writers.ownersAt(w.path)
	if w.foreign {
		// A controller writes such a note with the status, under a name that differs between distributions.
		owners = slices.DeleteFunc(owners, func(o *model.Owner) bool { return o.Through != "" })
	}
	by := w.originOf(owners, schema, l)
	switch {
	case by.reason != "":
		w.exempt(l, by.exempt, by.reason)
	case by.unrecorded != nil:
		w.add(model.Undeclared, absent, absent, l, w.unrecordedActor(by.unrecorded))
	case by.writer != nil:
		// The declaration's own writer did not add what the declaration lacks.
		w.add(model.Undeclared, absent, absent, l, w.writtenBy(by.writer, w.writers.isApplier(by.writer)))
	case by.applied && w.mayDerive(schema) && !w.path.in(w.claim.Value).IsNull():
		// The declaration has an empty value there, for which the system set another.
	case by.applied:
		w.reportPending(schema, absent, l, l)
	case len(owners) == 0:
		w.reportUnowned(schema, l)
	}
}

// reportUnowned reports a live value without an owner. It was changed at admission, the record of
// owners was edited, or the writer used an interface that records no owner.
func (w *walk) reportUnowned(schema *model.Schema, l model.Value) {
	switch {
	case w.foreign && w.mayDerive(schema):
		return
	case w.foreign:
		w.exempt(l, nil, "no field manager, and a label or annotation of a controller")
		return
	case hasDefault(schema):
	case w.mayDerive(schema), w.schema != nil && w.schema.Filled:
		return
	case !w.defaultsKnown():
		w.exempt(l, nil, "no field manager, and not every default of the kind is known")
		return
	}
	admits := len(w.live.Admission) > 0 && !hasDefault(schema)
	why, missing := w.evidenceFor(&model.Write{Live: l, Admits: admits})
	if why != "" {
		w.exempt(l, nil, why)
		return
	}
	actor, known := w.soleEditor(w.editorsSinceApply())
	switch {
	case missing != nil:
		actor = w.unrecordedActor(missing)
	case !known:
		actor = model.UnknownActor(w.unownedReason())
	}
	w.add(model.Undeclared, model.Value{}, model.Value{}, l, actor)
}

// unownedReason returns why the writer of a field that no writer owns is not known.
func (w *walk) unownedReason() string {
	reason := "not the default, and " + w.live.OwnersFrom + " names no writer"
	if kind := w.subject.Kind; kind != nil && kind.Unowned != "" {
		reason += ": " + kind.Unowned
	}
	return reason
}

func hasDefault(schema *model.Schema) bool {
	return schema != nil && schema.Default != nil && schema.Default.Kind() < model.List && !schema.Default.IsEmpty()
}

// closed reports whether every default at the walk's path is known, because the system
// itself has the kind, and has had the field for long enough.
func (w *walk) closed() bool { return w.schema != nil && w.schema.Closed && !w.newer() }

// newer reports whether the field at the walk's path, or one above it, is newer than
// the known defaults.
func (w *walk) newer() bool {
	schema := w.schema
	for i := range w.path {
		if schema = schemaAt(schema, w.path[i:i+1]); schema != nil && schema.Newer {
			return true
		}
	}
	return false
}

// defaultsKnown reports whether the schema has every default at the walk's path.
func (w *walk) defaultsKnown() bool {
	return w.closed() || w.claim.Lens == nil && w.subject.Kind != nil && w.subject.Kind.Defaulted
}

// reportUnrecorded reports a live value of an object without a record of writers. If every
// default is known, a value that is no default was written. But if the source returns no
// record at all, a controller may have written it.
func (w *walk) reportUnrecorded(schema *model.Schema, l model.Value) {
	switch {
	case w.foreign:
	case schema != nil && schema.Stray:
		w.reportStray(schema, l)
	case schema != nil && w.closed():
		w.add(model.Undeclared, model.Value{}, model.Value{}, l, w.loggedActor())
	case w.live.OwnersRemoved:
		w.reportUnowned(schema, l)
	case w.defaultsKnown():
		w.exempt(l, nil, "the object has no record of its writers")
	case w.claim.Lens == nil:
		w.exempt(l, nil, "the object has no record of its writers, and the value may be a default")
	}
}

// reportStray reports a live value that no claim can declare.
func (w *walk) reportStray(schema *model.Schema, l model.Value) {
	switch {
	case w.isSystems(l):
	case w.isInherited(schema, l):
		w.exempt(l, nil, "the template has it, too")
	case w.inheritedUnread != "" && !w.isEdited():
		w.addUnchecked(w.inheritedUnread, model.Value{}, model.Value{}, l)
	default:
		w.add(model.Undeclared, model.Value{}, model.Value{}, l, w.loggedActor())
	}
}

// isSystems reports whether a live value that no claim can declare is the default, or one that the system derives or changes,
// according to the schema of the live kind.
func (w *walk) isSystems(l model.Value) bool {
	if w.subject.Kind == nil || w.claim.Lens == nil {
		return false
	}
	schema := w.subject.Kind.Schema
	for _, s := range w.path {
		if schema == nil || s.kind != model.FieldStep {
			return false
		}
		if schema.Fields[s.name] != nil {
			schema = schema.Fields[s.name]
			continue
		}
		for name := range strings.SplitSeq(s.name, ".") {
			schema = schema.Field(name)
		}
	}
	return schema != nil && (schema.Volatile || schema.Derived || schema.Default != nil && absentEquals(schema, l))
}

// extraElement compares an element of a keyed list that the claim does not declare. It reports one
// change with the worst verdict in the element, unless the element itself is exempt and only fields
// in it are not.
func (w *walk) extraElement(schema *model.Schema, r, l model.Value) {
	before, exempted := len(w.differences), w.exempted()
	w.undeclared(schema, r, l)
	inside := w.differences[before:]
	if len(inside) == 0 {
		w.mergeExempt(exempted, l)
		return
	}
	if l.Kind() != model.Map && l.Kind() != model.List || w.ownedByController() {
		return
	}
	worst := slices.MinFunc(inside, func(a, b difference) int {
		return cmp.Or(cmp.Compare(rankDifference(a), rankDifference(b)), a.change.Actor.Compare(*b.change.Actor))
	})
	w.differences = w.differences[:before]
	if waiting := worst.verdict == model.Pending || worst.verdict == model.Bypassed; waiting && r.IsNull() {
		r = l
	}
	whole := w.change(model.Value{}, r, l, *worst.change.Actor)
	whole.Unproven = worst.change.Unproven
	w.differences = append(w.differences, difference{worst.verdict, whole, worst.reason})
}

// rankDifference returns the rank of a difference; the worst has the lowest. An unproven
// one follows the bypassed ones.
func rankDifference(f difference) int {
	verdict, after := f.verdict, 0
	if f.change.Unproven {
		verdict, after = model.Bypassed, 1
	}
	return 2*slices.Index(model.Verdicts(), verdict) + after
}

// ownedByController reports whether a controller wrote the element itself, so that only
// fields in it can be drift.
func (w *walk) ownedByController() bool {
	steps := w.path.steps()
	return slices.ContainsFunc(w.live.Owners, func(o model.Owner) bool {
		if w.writers.isApplier(&o) || o.Fields.Depth(steps) != len(steps) {
			return false
		}
		why, _ := w.evidence(&o, model.Value{})
		return why != ""
	})
}

// claimedByOther reports whether another claim on the resource declares the field.
func (w *walk) claimedByOther() bool {
	for _, v := range w.others {
		if _, ok := lookUp(v, w.path); ok {
			return true
		}
	}
	return false
}

// lookUp returns the node at a path; ok is false if there is none.
func lookUp(v model.Value, p path) (model.Value, bool) {
	for _, s := range p {
		next, ok := s.follow(v)
		if !ok {
			return model.Value{}, false
		}
		v = next
	}
	return v, true
}

// follow returns the child of v that the segment leads to.
func (s segment) follow(v model.Value) (model.Value, bool) {
	switch s.kind {
	case model.FieldStep:
		return v.Get(s.name)
	case model.IndexStep:
		return itemAt(v, s.index), s.index < len(v.Items())
	}
	for _, item := range v.Items() {
		if sameElement(s.schema, item, *s.element) {
			return item, true
		}
	}
	return model.Value{}, false
}
