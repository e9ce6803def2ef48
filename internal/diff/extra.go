package diff

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// undeclared looks at a node that the claim does not speak of. What the system
// fills in, and what known controllers set, is nobody's drift; what was applied
// and is no longer declared waits for the next apply; the rest was put there by
// somebody.
func (w *walk) undeclared(schema *model.Schema, r, l model.Value) {
	switch {
	case schema != nil && schema.Volatile:
	case r.IsNull() && (l.IsNull() || w.bySystemAlone(schema)):
	case r.IsNull() && isDefaultTree(schema, l):
	case hasFields(schema, l):
		w.fields(schema, model.Value{}, r, l)
	case l.Kind() == model.List && granular(schema):
		w.elements(schema, model.Value{}, r, l)
	case !r.IsNull():
		w.dropped(schema, r, l)
	default:
		w.extra(schema, l)
	}
}

// isDefaultTree reports whether a live map is the default, or a list means the same
// as none.
func isDefaultTree(schema *model.Schema, l model.Value) bool {
	if l.Kind() == model.Map {
		return schema != nil && schema.Default != nil && Equal(schema, *schema.Default, l)
	}
	return l.Kind() == model.List && absentEquals(schema, l)
}

// hasFields reports whether a live map says what its fields say: all but an empty
// one that says something itself.
func hasFields(schema *model.Schema, l model.Value) bool {
	return l.Kind() == model.Map && !(l.IsEmpty() && isContent(schema))
}

// saysNothing reports whether a live value means the same as none, as one that the
// system derives from the fields beside it. A zero that is not the default was
// written: by its owner, or, where every default is known and the record of owners
// has none, by a writer whose entry was removed.
func (w *walk) saysNothing(schema *model.Schema, l model.Value) bool {
	if schema != nil && schema.Derive != nil {
		holder, _ := lookUp(w.view, w.path[:len(w.path)-1])
		return Equal(schema, schema.Derive(holder), l)
	}
	if !absentEquals(schema, l) || schema != nil && schema.Default != nil {
		return absentEquals(schema, l)
	}
	owners := w.writers.of(w.path)
	if len(owners) == 0 {
		return len(w.live.Owners) == 0 && !w.live.Emptied || w.claim.Lens != nil || !w.defaultsKnown()
	}
	return w.author(owners, schema, l) == authorship{}
}

// bySystemAlone tells whether an undeclared value is the system's own: one
// that it allocates, or one that it may derive where no record of writers tells
// it from an edit.
func (w *walk) bySystemAlone(schema *model.Schema) bool {
	return schema != nil && (schema.Generated || schema.Derived && len(w.live.Owners) == 0 && (schema.Derive == nil || !w.live.Emptied))
}

// dropped reports what was applied once and is declared no longer.
func (w *walk) dropped(schema *model.Schema, r, l model.Value) {
	absent := model.Value{}
	switch {
	case w.delegated() || w.claimedByOther():
	case Equal(schema, absent, l) && Equal(schema, absent, r):
	case w.foreign:
	case Equal(schema, absent, l) && w.appliedSince(w.otherOwners()):
	case Equal(schema, absent, l):
		w.add(model.Codified, absent, r, l, w.changedBy())
	case Equal(schema, r, l):
		w.waits(schema, absent, r, l)
	default:
		w.add(model.Conflict, absent, r, l, w.changedBy())
	}
}

// extra judges a live value that was neither declared nor recorded.
func (w *walk) extra(schema *model.Schema, l model.Value) {
	if w.saysNothing(schema, l) || w.claimedByOther() || w.exemptDelegated(l) {
		return
	}
	absent := model.Value{}
	if len(w.live.Owners) == 0 {
		w.unrecorded(schema, l)
		return
	}
	owners := w.writers.of(w.path)
	by := w.author(owners, schema, l)
	switch {
	case by.why != "":
		w.exempt(l, by.exempt, by.why)
	case by.missing != nil:
		w.add(model.Undeclared, absent, absent, l, w.missed(by.missing))
	case by.writer != nil:
		// The declaration's own writer did not add what the declaration lacks.
		w.add(model.Undeclared, absent, absent, l, w.writtenBy(by.writer, w.writers.declares(by.writer)))
	case by.applied && !w.foreign:
		w.waits(schema, absent, l, l)
	case len(owners) == 0 && !w.foreign:
		w.unowned(schema, l)
	}
}

// unowned judges a live value that no writer owns. What changes an object at
// admission leaves none; neither does whoever edits the record of owners, nor
// kubectl scale after a server-side apply.
func (w *walk) unowned(schema *model.Schema, l model.Value) {
	switch {
	case hasDefault(schema):
	case mayDerive(schema), w.schema != nil && w.schema.Filled:
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
	actor, known := w.editor(w.handsSinceApply())
	switch {
	case missing != nil:
		actor = w.missed(missing)
	case !known:
		actor = model.UnknownActor("not the default, and " + w.live.OwnersFrom + " names no writer: kubectl scale leaves none after a server-side apply, " +
			"nor does an edit of " + w.live.OwnersFrom)
	}
	w.add(model.Undeclared, model.Value{}, model.Value{}, l, actor)
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

// unrecorded judges a live value of an object without a record of writers. Where
// every default is known, one that is none can only be somebody's; but where the
// source shows no record at all, the controllers of custom resources may have
// written it.
func (w *walk) unrecorded(schema *model.Schema, l model.Value) {
	switch {
	case w.foreign:
	case schema != nil && (w.closed() || schema.Stray):
		w.add(model.Undeclared, model.Value{}, model.Value{}, l, w.traced())
	case w.live.Emptied:
		w.unowned(schema, l)
	case w.defaultsKnown():
		w.exempt(l, nil, "the object has no record of its writers")
	}
}

// extraElement looks at an element of a keyed list that the claim does not
// speak of. It is one change, of the worst verdict in it, unless the element
// itself is exempt and only fields in it are not.
func (w *walk) extraElement(schema *model.Schema, r, l model.Value) {
	before, exempted := len(w.found), w.exempted()
	w.undeclared(schema, r, l)
	inside := w.found[before:]
	if len(inside) == 0 {
		w.mergeExempt(exempted, l)
		return
	}
	if l.Kind() != model.Map && l.Kind() != model.List || w.ownedByController() {
		return
	}
	worst := slices.MinFunc(inside, func(a, b found) int {
		return cmp.Or(cmp.Compare(rankFound(a), rankFound(b)), a.change.Actor.Compare(*b.change.Actor))
	})
	w.found = w.found[:before]
	if waiting := worst.verdict == model.Pending || worst.verdict == model.Bypassed; waiting && r.IsNull() {
		r = l
	}
	whole := w.change(model.Value{}, r, l, *worst.change.Actor)
	whole.Unproven = worst.change.Unproven
	w.found = append(w.found, found{worst.verdict, whole, worst.reason})
}

// rankFound orders what was found from the worst to the mildest. A pending
// change that may be a bypassed one comes just after those that are.
func rankFound(f found) int {
	verdict, after := f.verdict, 0
	if f.change.Unproven {
		verdict, after = model.Bypassed, 1
	}
	return 2*slices.Index(model.Verdicts(), verdict) + after
}

// ownedByController reports whether the element itself is exempt as the write of
// a controller, so that only single fields in it are drift.
func (w *walk) ownedByController() bool {
	steps := w.path.steps()
	return slices.ContainsFunc(w.live.Owners, func(o model.Owner) bool {
		if w.writers.declares(&o) || o.Fields.Depth(steps) != len(steps) {
			return false
		}
		why, _ := w.evidence(&o, model.Value{})
		return why != ""
	})
}

// claimedByOther tells whether another claim on the resource speaks of the
// field.
func (w *walk) claimedByOther() bool {
	for _, v := range w.others {
		if _, ok := lookUp(v, w.path); ok {
			return true
		}
	}
	return false
}

// lookUp follows a path into a tree.
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
