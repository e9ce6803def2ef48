package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// writers attributes the fields of a live resource to its owners. The owner that applies
// the declaration is determined on first use: most resources do not differ.
type writers struct {
	live       *model.Resource
	schema     *model.Schema
	declared   model.Value
	controller func(string) bool
	known      bool
	applied    *model.Owner
}

// applier returns the owner that applied the declaration to the live resource: the one that wrote
// the record of it, or else the one whose fields agree most with the declaration, or else the one
// that created the resource. It is never a tool for manual edits, nor a later writer without a
// field as declared.
func (w *writers) applier() *model.Owner {
	if w.known {
		return w.applied
	}
	w.known = true
	var best overlap
	for i := range w.live.Owners {
		o := &w.live.Owners[i]
		if o.Records {
			w.applied = o
			return o
		}
		if o.Through != "" || o.Edits {
			continue
		}
		t := overlap{made: !o.At.IsZero() && o.At.Equal(w.live.Created), delivers: o.Delivers || o.Applies}
		t.count(&o.Fields, w.schema, w.declared, w.live.Value)
		if t.plausible() && (w.applied == nil || t.exceeds(best)) {
			best, w.applied = t, o
		}
	}
	return w.applied
}

// An overlap counts the declared fields that one owner has, by whether live and
// declared agree on them.
type overlap struct {
	agree, differ  int
	made, delivers bool
}

func (t overlap) plausible() bool { return t.agree > 0 || t.made || t.delivers && t.differ > 0 }

func (t overlap) exceeds(u overlap) bool {
	if t.agree != u.agree {
		return t.agree > u.agree
	}
	if t.agree > 0 && t.differ != u.differ {
		return t.differ < u.differ
	}
	return t.differ > u.differ
}

// count adds the fields of the declared value that are in the set to t.
func (t *overlap) count(set *model.FieldSet, schema *model.Schema, d, l model.Value) {
	switch {
	case d.Kind() == model.Map && !set.Leaf():
		for _, f := range d.Fields() {
			if below := set.Child(model.Step{Kind: model.FieldStep, Text: f.Name}); below != nil {
				t.count(below, schema.Field(f.Name), f.Value, l.At(f.Name))
			}
		}
	case d.Kind() == model.List && granular(schema) && !set.Leaf():
		for i := range d.Items() {
			s := elementSegment(schema, &d.Items()[i])
			if below := set.Child(s.step()); below != nil {
				live, _ := s.follow(l)
				t.count(below, schema.Element(), d.Items()[i], live)
			}
		}
	case Equal(schema, d, l):
		t.agree++
	default:
		t.differ++
	}
}

// ownersAt returns the owners whose entries are closest to the node at a path. An owner of a node
// above is included if it owns everything below that node.
func (w *writers) ownersAt(p path) []*model.Owner {
	steps, atomic := p.steps(), w.atomicDepth(p)
	var owners []*model.Owner
	closest := 0
	for i := range w.live.Owners {
		o := &w.live.Owners[i]
		depth := o.Fields.Depth(steps)
		if depth < max(closest, 1) || depth < len(steps) && depth < atomic {
			continue
		}
		if depth > closest {
			closest, owners = depth, owners[:0]
		}
		owners = append(owners, o)
	}
	return owners
}

// atomicDepth returns how many steps of the path lead to the first node that is
// owned as one: an atomic map, or a list whose elements have no names.
func (w *writers) atomicDepth(p path) int {
	schema := w.schema
	for i, s := range p {
		switch {
		case s.kind == model.IndexStep, s.kind == model.FieldStep && schema != nil && schema.Atomic:
			return i
		case s.kind == model.FieldStep:
			schema = schema.Field(s.name)
		default:
			schema = schema.Element()
		}
	}
	return len(p)
}

// isApplier reports whether o is the applier, or has its name and left the record.
func (w *writers) isApplier(o *model.Owner) bool {
	d := w.applier()
	return o.Records || d != nil && d.Name == o.Name && d.Applies == o.Applies && o.Through == ""
}

// keepsRecord reports whether the fields of an applier are those that it applied last. An
// applier that only created the resource has no such record.
func keepsRecord(o *model.Owner) bool { return o.Applies || o.Delivers || o.Records }

// isController reports whether the owner is a known controller: by the accounts that
// a log records for it, or by its name where there is no log.
func (w *writers) isController(o *model.Owner) bool {
	if w.controller == nil || len(o.Accounts) == 0 {
		return w.controller != nil && w.controller(o.Name)
	}
	return !slices.ContainsFunc(o.Accounts, func(account string) bool { return !w.controller(account) })
}

// editedCounted reports whether a writer other than the applier owns a field whose changes
// Resource.Generation counts.
func (w *walk) editedCounted() bool {
	return slices.ContainsFunc(w.live.Owners, func(o model.Owner) bool {
		return !w.writers.isApplier(&o) && slices.ContainsFunc(o.Fields.Steps(), func(s model.Step) bool { return w.counted(s.Text) })
	})
}

// counted reports whether Resource.Generation counts changes of a top-level field.
func (w *walk) counted(field string) bool {
	return w.subject.Kind != nil && !slices.Contains(w.subject.Kind.Uncounted, field)
}

// changedBy returns the actor that set the node at the walk's path to its live value.
func (w *walk) changedBy() model.Actor {
	var last *model.Owner
	for _, o := range w.writers.ownersAt(w.path) {
		if (!w.writers.isApplier(o) || !keepsRecord(o)) && (last == nil || o.At.After(last.At)) {
			last = o
		}
	}
	if owners := w.writers.ownersAt(w.path); last == nil && w.record.whole && len(owners) > 0 {
		// The live value is not the one in the applier's record: its name was used for an
		// edit.
		last = owners[0]
	}
	if last != nil {
		return w.actor(last)
	}
	return w.removedBy()
}

// removedBy returns the actor that removed a field, which a record of owners does not contain. The
// actor is known if only one can have edited the resource since the last apply according to a log,
// and likely if the only writer since then owns the parent of the field.
func (w *walk) removedBy() model.Actor {
	if len(w.live.Owners) == 0 {
		return w.loggedActor()
	}
	editors := w.editorsSinceApply()
	if actor, ok := w.soleEditor(editors); ok {
		return actor
	}
	if names := w.editorNames(editors); len(names) > 1 {
		return model.UnknownActor(w.live.OwnersFrom + " keeps no trace of who removed a field, and several wrote since the last apply: " + strings.Join(names[:min(maxNamed, len(names))], ", "))
	}
	parent := w.path[:max(0, len(w.path)-1)].steps()
	applier := w.writers.applier()
	switch {
	case len(editors) == 1 && len(parent) > 0 && editors[0].Fields.Depth(parent) == len(parent):
		return w.likely(editors[0], " beside the removed field, the only one since the last apply")
	case len(editors) == 0 && applier != nil && !keepsRecord(applier) && applier.At.Equal(w.live.Created):
		return w.likely(applier, ", which made the object without the field")
	}
	reason := w.live.OwnersFrom + " keeps no trace of who removed a field"
	if w.subject.Kind != nil {
		reason = cmp.Or(w.subject.Kind.WriterUnknown, reason)
	}
	return model.UnknownActor(reason)
}

// maxNamed bounds the number of possible actors in a reason.
const maxNamed = 5

// likely returns the actor behind a writer as a likely one, with the reason.
func (w *walk) likely(o *model.Owner, why string) model.Actor {
	actor := w.actor(o)
	actor.Evidence += why
	actor.Confidence = model.Likely
	return actor
}

// editorNames returns the sorted names of all writers that edited the resource since the last
// apply, according to a log or the record of owners.
func (w *walk) editorNames(editors []*model.Owner) []string {
	var names []string
	signed := map[string]bool{}
	for i := range w.subject.AuditEvents {
		if t := &w.subject.AuditEvents[i]; t.Action == model.Edited && w.isManualEdit(t) {
			names = append(names, t.Actor.Name)
			signed[t.Writer] = true
		}
	}
	for _, o := range editors {
		if signed[o.Name] {
			continue
		}
		names = append(names, w.actor(o).Name)
		names = append(names, o.Before...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// soleEditor returns the actor that edited the resource since the last apply according to a log. If
// more than one can have done so and the last entry does not contain the field, ok is false.
func (w *walk) soleEditor(editors []*model.Owner) (who model.Actor, ok bool) {
	var edits []*model.AuditEvent
	path := w.livePath()
	for i := range w.subject.AuditEvents {
		if t := &w.subject.AuditEvents[i]; t.Action == model.Edited && (names(t, path) || w.isManualEdit(t)) {
			edits = append(edits, t)
		}
	}
	if len(edits) == 0 {
		return model.Actor{}, false
	}
	last := edits[len(edits)-1]
	if names(last, path) {
		return last.Actor, true
	}
	several := slices.ContainsFunc(edits, func(t *model.AuditEvent) bool { return t.Actor.Name != last.Actor.Name })
	unsigned := slices.ContainsFunc(editors, func(o *model.Owner) bool {
		return !slices.ContainsFunc(edits, func(t *model.AuditEvent) bool { return t.Writer == o.Name })
	})
	return last.Actor, !several && !unsigned
}

// isManualEdit reports whether the event is an edit of any field since the last apply, and
// neither by a controller nor by the applier.
func (w *walk) isManualEdit(t *model.AuditEvent) bool {
	d := w.writers.applier()
	applied := d != nil && (t.Writer == d.Name || t.Actor.At.Before(d.At))
	return len(t.Fields) == 0 && !applied && (w.writers.controller == nil || !w.writers.controller(cmp.Or(t.Account, t.Writer)))
}

// editorsSinceApply returns the writers since the last apply that are neither controllers
// nor the applier.
func (w *walk) editorsSinceApply() []*model.Owner {
	var editors []*model.Owner
	d := w.writers.applier()
	for i := range w.live.Owners {
		o := &w.live.Owners[i]
		if o.Through != "" || w.writers.isApplier(o) || w.writers.isController(o) || d != nil && o.At.Before(d.At) {
			continue
		}
		editors = append(editors, o)
	}
	return editors
}

// actor returns the actor behind a writer. A write without a time cannot be found in a
// log: then it is the sole editor, if there is one.
func (w *walk) actor(o *model.Owner) model.Actor {
	if _, signed := o.LoggedUser(); !signed && o.At.IsZero() {
		if who, ok := w.soleEditor(w.editorsSinceApply()); ok {
			who.Confidence = model.Likely
			return who
		}
	}
	return ownerActor(w.live, o)
}

func ownerActor(live *model.Resource, o *model.Owner) model.Actor {
	if who, ok := o.LoggedUser(); ok {
		return who
	}
	operation := "update"
	if o.Applies {
		operation = "apply"
	}
	if o.Through != "" {
		operation += " through " + o.Through
	}
	return model.Actor{Name: o.Name, At: o.At, Via: live.OwnersFrom, Evidence: operation, Confidence: model.Likely}
}

// creator returns the actor that created a resource: according to the source's logs, or else the
// first writer.
func creator(s *model.Subject, options Options) model.Actor {
	if t := lastEvent(s.AuditEvents, func(t *model.AuditEvent) bool { return t.Action == model.Created }); t != nil {
		return t.Actor
	}
	var first *model.Owner
	live := s.Live
	for i := range live.Owners {
		o := &live.Owners[i]
		if o.Through != "" || o.At.IsZero() {
			continue
		}
		if first == nil || o.At.Before(first.At) || o.At.Equal(first.At) && options.precedes(o, first) {
			first = o
		}
	}
	if first == nil {
		return unknownActorAt(live, live.Created, model.ViaCreation)
	}
	actor := ownerActor(live, first)
	if !live.Created.IsZero() {
		actor.At = live.Created
	}
	return actor
}

// precedes reports whether the first of two writers in the same second wrote before the other one: times of writes have
// whole seconds. A tool of people and pipelines made the resource, and a controller reacted to it.
func (o Options) precedes(first, other *model.Owner) bool {
	reacts := (&writers{controller: o.Controller}).isController
	return isTool(first) && !isTool(other) || reacts(other) && !reacts(first)
}

// isTool reports whether a writer is a tool of people and pipelines.
func isTool(o *model.Owner) bool { return o.Edits || o.Applies || o.Delivers }

// notAppliedActor returns the unknown actor of a value that was not applied yet.
func notAppliedActor() model.Actor {
	return model.UnknownActor("declared, not applied yet; the author is known only if the declaration is in git, as committed")
}
