package netbox

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// A fieldRef identifies a field of an object.
type fieldRef struct {
	model.Ref
	path string
}

// evidence decides which entries of the changelog explain the values that are live.
type evidence struct {
	// resources are sorted by key.
	resources []model.Resource
	fields    []normalize.Copied
	// object is the object whose entries are being evaluated. decided reports, for each of its
	// fields that an entry wrote, whether the last such entry left the live value. unnamed
	// reports whether a later entry may have changed any field.
	object  model.Ref
	decided map[string]bool
	unnamed bool
	// held are the copied fields whose last entry left the live value. last are the fields whose
	// last entry left another value, with the unknown actor and the reason.
	held map[fieldRef]bool
	last map[fieldRef]model.Actor
}

// explain returns the audit events of the entries in the same order: by object and time. An entry
// is evidence for a field only if it left the live value and no later entry left another one. A
// field that NetBox copied from a parent is explained by the entry of the parent. If the last entry
// left another value and nothing explains the live one, the actor is unknown, with a reason.
func explain(entries []entry, resources []model.Resource) []model.AuditEvent {
	x := evidence{resources: resources, fields: normalize.CopiedFields(), decided: map[string]bool{}, held: map[fieldRef]bool{}, last: map[fieldRef]model.Actor{}}
	events := make([]model.AuditEvent, 0, len(entries))
	for i := range slices.Backward(entries) {
		if t, ok := x.evaluate(&entries[i]); ok {
			events = append(events, t)
		}
	}
	events = append(events, x.copied(events)...)
	for i := range events {
		for _, path := range events[i].Fields {
			delete(x.last, fieldRef{events[i].Ref, path})
		}
	}
	for p, actor := range x.last {
		events = append(events, model.AuditEvent{Ref: p.Ref, Action: model.Edited, Fields: []string{p.path}, Actor: actor})
	}
	slices.SortStableFunc(events, compareEvents)
	return events
}

func compareEvents(a, b model.AuditEvent) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), a.Actor.At.Compare(b.Actor.At),
		cmp.Compare(len(a.Actor.Evidence), len(b.Actor.Evidence)), cmp.Compare(a.Actor.Evidence, b.Actor.Evidence),
		slices.Compare(a.Fields, b.Fields))
}

// evaluate returns the audit event for which an entry is evidence. If there is none, ok is false.
// Later entries of the same object must be evaluated first.
func (x *evidence) evaluate(e *entry) (t model.AuditEvent, ok bool) {
	if e.Ref != x.object {
		x.object, x.unnamed = e.Ref, false
		clear(x.decided)
	}
	live := find(x.resources, e.Ref)
	if live == nil {
		return e.AuditEvent, true
	}
	t = e.AuditEvent
	for i := range e.written {
		w := &e.written[i]
		left := w.Matches(live.Value)
		held, decided := x.decided[w.Path]
		if !decided {
			held = left
			x.decide(w.Path, left, &e.Actor)
		}
		if !left || !held {
			t.Excluded = append(t.Excluded, w.Path)
		}
	}
	if t.Action == model.Edited && len(t.Fields) == 0 && len(e.written) == 0 {
		x.unnamed = true
	}
	slices.Sort(t.Excluded)
	if len(t.Fields) == 0 {
		return t, true
	}
	t.Fields = slices.DeleteFunc(slices.Clone(t.Fields), func(path string) bool { return slices.Contains(t.Excluded, path) })
	t.Excluded = nil
	return t, len(t.Fields) > 0
}

// decide records whether the last entry that wrote a field left the live value.
func (x *evidence) decide(path string, left bool, who *model.Actor) {
	x.decided[path] = left
	switch p := (fieldRef{x.object, path}); {
	case !left && !x.unnamed:
		x.last[p] = model.UnknownActor(fmt.Sprintf("%s (object-changes) has no entry for this change: the last entry, %s by %s, left another value. Scripts and upgrades can change values without an entry",
			who.Via, who.Evidence, who.Name))
	case left && slices.ContainsFunc(x.fields, func(c normalize.Copied) bool { return c.Kind == p.Kind && c.Field == path }):
		x.held[p] = true
	}
}

// copied returns an audit event for every field that NetBox copied from a parent without an entry.
// It has the request of the parent's entry, so that the objects below one parent have one cause.
func (x *evidence) copied(events []model.AuditEvent) []model.AuditEvent {
	parents := map[model.Ref][]*model.AuditEvent{}
	for i := range events {
		t := &events[i]
		if t.Action == model.Edited && slices.ContainsFunc(x.fields, func(c normalize.Copied) bool { return c.Parent == t.Kind }) {
			parents[t.Ref] = append(parents[t.Ref], t)
		}
	}
	found := map[fieldRef]model.AuditEvent{}
	for i := range x.resources {
		for k := range x.fields {
			x.copy(&x.fields[k], &x.resources[i], parents, found)
		}
	}
	return slices.Collect(maps.Values(found))
}

// maxParents is how many levels of parents of an object are followed.
const maxParents = 64

// copy adds to found the newest entry of a parent of the child that explains the live value of
// a copied field, unless an entry of the child itself does.
func (x *evidence) copy(c *normalize.Copied, child *model.Resource, parents map[model.Ref][]*model.AuditEvent, found map[fieldRef]model.AuditEvent) {
	p := fieldRef{model.Ref{Kind: child.Kind, ID: child.ID}, c.Field}
	if child.Kind != c.Kind || len(parents) == 0 || x.held[p] {
		return
	}
	id := child.Value.At(c.Via)
	for range maxParents {
		parent := find(x.resources, model.Ref{Kind: c.Parent, ID: id.Text()})
		if parent == nil {
			return
		}
		value := c.Value(parent.Value, x.value)
		cause := causeOf(parents[model.Ref{Kind: c.Parent, ID: parent.ID}], c.From)
		if cause != nil && !value.IsNull() && value.Equal(child.Value.At(c.Field)) && !found[p].Actor.At.After(cause.Actor.At) {
			t := model.AuditEvent{Ref: p.Ref, Action: model.Edited, Fields: []string{c.Field}, Actor: cause.Actor}
			t.Actor.Confidence = likely(cause.Actor)
			t.Actor.Evidence += " of " + normalize.Noun(c.Parent) + " " + printable.Text(parent.Name) + ", whose " + c.Field + " NetBox copies to the objects below it"
			found[p] = t
		}
		if c.Up == "" {
			return
		}
		id = parent.Value.At(c.Up)
	}
}

// causeOf returns the newest event that names one of the fields, or nil.
func causeOf(events []*model.AuditEvent, fields []string) *model.AuditEvent {
	var newest *model.AuditEvent
	for _, t := range events {
		names := slices.ContainsFunc(t.Fields, func(f string) bool { return slices.Contains(fields, f) })
		if names && (newest == nil || t.Actor.At.After(newest.Actor.At)) {
			newest = t
		}
	}
	return newest
}

// value returns the value of an object, or Null.
func (x *evidence) value(kind string, id model.Value) model.Value {
	if r := find(x.resources, model.Ref{Kind: kind, ID: id.Text()}); r != nil {
		return r.Value
	}
	return model.Value{}
}

// find returns the resource with the reference, or nil. The resources must be sorted by key.
func find(resources []model.Resource, ref model.Ref) *model.Resource {
	i, found := slices.BinarySearchFunc(resources, ref, func(r model.Resource, ref model.Ref) int {
		return cmp.Or(cmp.Compare(r.Kind, ref.Kind), cmp.Compare(r.ID, ref.ID))
	})
	if !found {
		return nil
	}
	return &resources[i]
}
