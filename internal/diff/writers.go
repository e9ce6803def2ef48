package diff

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// writers returns who wrote a live resource: the writer that applies the
// declaration, known controllers, and all others. The declarer is computed on
// the first call that needs it: most resources differ in nothing.
type writers struct {
	live       *model.Resource
	schema     *model.Schema
	declared   model.Value
	controller func(string) bool
	known      bool
	declaring  *model.Owner
}

// declarer returns the owner that wrote the declaration into the live
// resource: the one that left the record of it, or else the one whose fields
// agree with the declaration most, or else the one that made the resource. A
// tool for editing by hand is never it, nor somebody who came later and owns
// nothing as it is declared.
func (w *writers) declarer() *model.Owner {
	if w.known {
		return w.declaring
	}
	w.known = true
	var best tally
	for i := range w.live.Owners {
		o := &w.live.Owners[i]
		if o.Records {
			w.declaring = o
			return o
		}
		if o.Subresource != "" || o.Edits {
			continue
		}
		t := tally{made: !o.At.IsZero() && o.At.Equal(w.live.Created), delivers: o.Delivers || o.Applies}
		t.count(&o.Fields, w.schema, w.declared, w.live.Value)
		if t.plausible() && (w.declaring == nil || t.better(best)) {
			best, w.declaring = t, o
		}
	}
	return w.declaring
}

// A tally counts the declared fields that one owner has, by whether live and
// declared agree on them.
type tally struct {
	agree, differ  int
	made, delivers bool
}

func (t tally) plausible() bool { return t.agree > 0 || t.made || t.delivers && t.differ > 0 }

func (t tally) better(u tally) bool {
	if t.agree != u.agree {
		return t.agree > u.agree
	}
	if t.agree > 0 && t.differ != u.differ {
		return t.differ < u.differ
	}
	return t.differ > u.differ
}

// count goes down the declared value as far as the set does.
func (t *tally) count(set *model.FieldSet, schema *model.Schema, d, l model.Value) {
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

// of returns the owners that speak most closely of the node at path. An owner
// of a node above counts where that node is owned with all that is in it.
func (w *writers) of(p path) []*model.Owner {
	steps, atomic := p.steps(), w.atomicDepth(p)
	var owners []*model.Owner
	closest := 0
	for i := range w.live.Owners {
		o := &w.live.Owners[i]
		depth := o.Fields.Depth(steps)
		if o.Subresource == "status" || depth < max(closest, 1) || depth < len(steps) && depth < atomic {
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

// declares tells whether o is the declarer, through whichever door.
func (w *writers) declares(o *model.Owner) bool {
	d := w.declarer()
	return o.Records || d != nil && d.Name == o.Name && d.Applies == o.Applies && o.Subresource == ""
}

// keepsRecord tells whether what a declarer owns is what it applied last. One
// that merely made the resource keeps no record.
func keepsRecord(o *model.Owner) bool { return o.Applies || o.Delivers || o.Records }

// controls reports whether the owner is a known controller: by the accounts that
// a log records for it, or by its name where there is no log.
func (w *writers) controls(o *model.Owner) bool {
	if w.controller == nil || len(o.Accounts) == 0 {
		return w.controller != nil && w.controller(o.Name)
	}
	return !slices.ContainsFunc(o.Accounts, func(account string) bool { return !w.controller(account) })
}

// handOnSpec tells whether a writer other than the declarer left a trace
// outside metadata and status.
func (w *writers) handOnSpec() bool {
	return slices.ContainsFunc(w.live.Owners, func(o model.Owner) bool {
		return o.Subresource != "status" && !w.declares(&o) && slices.ContainsFunc(o.Fields.Steps(), func(s model.Step) bool {
			return s.Text != "metadata" && s.Text != "status"
		})
	})
}

// changedBy names who made the node at the walk's path what it is now.
func (w *walk) changedBy() model.Actor {
	var last *model.Owner
	for _, o := range w.writers.of(w.path) {
		if (!w.writers.declares(o) || !keepsRecord(o)) && (last == nil || o.At.After(last.At)) {
			last = o
		}
	}
	if owners := w.writers.of(w.path); last == nil && w.record.whole && len(owners) > 0 {
		// The declaration's writer left another value than its record has: the same
		// name was used for an edit.
		last = owners[0]
	}
	if last != nil {
		return w.actor(last)
	}
	return w.removedBy()
}

// removedBy names who removed a field. No record of owners keeps that; but where
// a log tells who wrote since the last apply, or only one hand did, and beside
// the field, it is likely.
func (w *walk) removedBy() model.Actor {
	if len(w.live.Owners) == 0 {
		return w.traced()
	}
	hands := w.handsSinceApply()
	if actor, ok := w.editor(hands); ok {
		return actor
	}
	if names := w.editors(hands); len(names) > 1 {
		return model.UnknownActor(w.live.OwnersFrom + " keeps no trace of who removed a field, and several wrote since the last apply: " + strings.Join(names[:min(maxNamed, len(names))], ", "))
	}
	beside := w.path[:max(0, len(w.path)-1)].steps()
	maker := w.writers.declarer()
	switch {
	case len(hands) == 1 && len(beside) > 0 && hands[0].Fields.Depth(beside) == len(beside):
		return w.likely(hands[0], " beside the removed field, the only one since the last apply")
	case len(hands) == 0 && maker != nil && !keepsRecord(maker) && maker.At.Equal(w.live.Created):
		return w.likely(maker, ", which made the object without the field")
	}
	reason := w.live.OwnersFrom + " keeps no trace of who removed a field"
	if w.subject.Kind != nil {
		reason = cmp.Or(w.subject.Kind.Unsigned, reason)
	}
	return model.UnknownActor(reason)
}

// maxNamed bounds how many are named that may have done something.
const maxNamed = 5

// likely names who used a writer that may have done it, and why.
func (w *walk) likely(o *model.Owner, why string) model.Actor {
	actor := w.actor(o)
	actor.Evidence += why
	actor.Confidence = model.Likely
	return actor
}

// editors returns the names of all that wrote by hand since the last apply, as
// far as a log or the record of owners tells, sorted.
func (w *walk) editors(hands []*model.Owner) []string {
	var names []string
	signed := map[string]bool{}
	for i := range w.subject.Traces {
		if t := &w.subject.Traces[i]; t.Deed == model.Edited && w.handEdits(t) {
			names = append(names, t.Actor.Name)
			signed[t.Writer] = true
		}
	}
	for _, o := range hands {
		if signed[o.Name] {
			continue
		}
		names = append(names, w.actor(o).Name)
		names = append(names, o.Before...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// editor names who edited the resource since the last apply, after a log, where
// it can have been one person alone, or where the last entry names the field.
func (w *walk) editor(hands []*model.Owner) (who model.Actor, ok bool) {
	var edits []*model.Trace
	path := w.livePath()
	for i := range w.subject.Traces {
		if t := &w.subject.Traces[i]; t.Deed == model.Edited && (names(t, path) || w.handEdits(t)) {
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
	several := slices.ContainsFunc(edits, func(t *model.Trace) bool { return t.Actor.Name != last.Actor.Name })
	unsigned := slices.ContainsFunc(hands, func(o *model.Owner) bool {
		return !slices.ContainsFunc(edits, func(t *model.Trace) bool { return t.Writer == o.Name })
	})
	return last.Actor, !several && !unsigned
}

// handEdits reports whether the trace is an edit of any field since the last
// apply by neither a controller nor the declarer.
func (w *walk) handEdits(t *model.Trace) bool {
	d := w.writers.declarer()
	applied := d != nil && (t.Writer == d.Name || t.Actor.At.Before(d.At))
	return len(t.Fields) == 0 && !applied && (w.writers.controller == nil || !w.writers.controller(cmp.Or(t.Account, t.Writer)))
}

// handsSinceApply returns the writers since the last apply that are neither
// controllers nor the declarer.
func (w *walk) handsSinceApply() []*model.Owner {
	var hands []*model.Owner
	d := w.writers.declarer()
	for i := range w.live.Owners {
		o := &w.live.Owners[i]
		if o.Subresource != "" || w.writers.declares(o) || w.writers.controls(o) || d != nil && o.At.Before(d.At) {
			continue
		}
		hands = append(hands, o)
	}
	return hands
}

// actor names who used a writer. What was written at no time cannot be found in a
// log; where only one person can have done it, that is who.
func (w *walk) actor(o *model.Owner) model.Actor {
	if _, signed := o.Signed(); !signed && o.At.IsZero() {
		if who, ok := w.editor(w.handsSinceApply()); ok {
			who.Confidence = model.Likely
			return who
		}
	}
	return ownerActor(w.live, o)
}

func ownerActor(live *model.Resource, o *model.Owner) model.Actor {
	if who, ok := o.Signed(); ok {
		return who
	}
	operation := "update"
	if o.Applies {
		operation = "apply"
	}
	if o.Subresource != "" {
		operation += " through " + o.Subresource
	}
	return model.Actor{Name: o.Name, At: o.At, Via: live.OwnersFrom, Evidence: operation, Confidence: model.Likely}
}

// creator names who made a resource: the one whom the source's logs name, the
// writer whose time is its creation, or the first one.
func creator(s *model.Subject) model.Actor {
	if t := lastTrace(s.Traces, func(t *model.Trace) bool { return t.Deed == model.Created }); t != nil {
		return t.Actor
	}
	var first *model.Owner
	live := s.Live
	for i := range live.Owners {
		o := &live.Owners[i]
		if o.Subresource != "" || o.At.IsZero() {
			continue
		}
		if first == nil || o.At.Before(first.At) {
			first = o
		}
	}
	if first == nil {
		return someone(live, live.Created, "its creation")
	}
	actor := ownerActor(live, first)
	if !live.Created.IsZero() {
		actor.At = live.Created
	}
	return actor
}

// notApplied says that nobody is known to have declared what waits.
func notApplied() model.Actor {
	return model.UnknownActor("declared, not applied yet; who declared it is told where that lies in git, as it was committed")
}
