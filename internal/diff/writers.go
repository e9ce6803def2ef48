package diff

import (
	"github.com/driftd/driftd/internal/model"
)

// writers tells the hands that wrote a live resource apart: the one that
// applies the declaration, known controllers, and everybody else. It looks
// only when asked: most resources differ in nothing.
type writers struct {
	live       *model.Resource
	declared   model.Value
	controller func(string) bool
	known      bool
	declaring  *model.Owner
}

// declarer returns the owner that wrote the declaration into the live
// resource: the one that left the record of it, or else the one that owns most
// of the declared fields. A tool for editing by hand is never it.
func (w *writers) declarer() *model.Owner {
	if w.known {
		return w.declaring
	}
	w.known = true
	most := 0
	for i := range w.live.Owners {
		o := &w.live.Owners[i]
		if o.Records {
			w.declaring = o
			return o
		}
		if o.Subresource != "" || o.Edits {
			continue
		}
		n := countOwned(&o.Fields, w.declared)
		if n > most || n == most && n > 0 && o.Applies && !w.declaring.Applies {
			most, w.declaring = n, o
		}
	}
	return w.declaring
}

// countOwned counts the declared leaves that the set holds.
func countOwned(set *model.FieldSet, declared model.Value) int {
	n := 0
	for _, f := range declared.Fields() {
		below := set.Child(model.Step{Kind: model.FieldStep, Text: f.Name})
		switch {
		case below == nil:
		case f.Value.Kind() == model.Map && !below.Leaf():
			n += countOwned(below, f.Value)
		case f.Value.Kind() == model.List && !below.Leaf():
			n += below.Len()
		default:
			n++
		}
	}
	return n
}

// of returns the owners that speak most closely of the node at path.
func (w *writers) of(steps []model.Step) []*model.Owner {
	var owners []*model.Owner
	closest := 0
	for i := range w.live.Owners {
		o := &w.live.Owners[i]
		depth := o.Fields.Depth(steps)
		if o.Subresource == "status" || depth < closest || depth < 1 {
			continue
		}
		if depth > closest {
			closest, owners = depth, owners[:0]
		}
		owners = append(owners, o)
	}
	return owners
}

// declares tells whether o is the declarer, through whichever door.
func (w *writers) declares(o *model.Owner) bool {
	d := w.declarer()
	return o.Records || d != nil && d.Name == o.Name && d.Applies == o.Applies && o.Subresource == ""
}

// hand returns the last writer of the node at path when nobody else than
// people wrote it; applied tells that the declaration's applier did.
func (w *writers) hand(steps []model.Step) (hand *model.Owner, applied bool) {
	for _, o := range w.of(steps) {
		switch {
		case w.declares(o):
			return nil, o.Applies
		case w.controls(o):
			return nil, false
		case hand == nil || o.At.After(hand.At):
			hand = o
		}
	}
	return hand, false
}

func (w *writers) controls(o *model.Owner) bool {
	return w.controller != nil && w.controller(o.Name)
}

// handsOnSpec counts the writers, other than the declarer, that left a trace
// outside metadata and status.
func (w *writers) handsOnSpec() int64 {
	var n int64
	for i := range w.live.Owners {
		o := &w.live.Owners[i]
		if o.Subresource == "status" || w.declares(o) {
			continue
		}
		for _, step := range o.Fields.Steps() {
			if step.Text != "metadata" && step.Text != "status" {
				n++
				break
			}
		}
	}
	return n
}

// changedBy names who made the node at the walk's path what it is now.
func (w *walk) changedBy() model.Actor {
	var last *model.Owner
	for _, o := range w.writers.of(w.path.steps()) {
		if !w.writers.declares(o) && (last == nil || o.At.After(last.At)) {
			last = o
		}
	}
	if last != nil {
		return w.actor(last)
	}
	return w.removedBy()
}

// removedBy names the likely remover of a field: no record keeps one, but the
// only hand that wrote after the last apply is a candidate.
func (w *walk) removedBy() model.Actor {
	if len(w.live.Owners) == 0 {
		return noWriters()
	}
	d := w.writers.declarer()
	var last *model.Owner
	for i := range w.live.Owners {
		o := &w.live.Owners[i]
		if o.Subresource != "" || w.writers.declares(o) || w.writers.controls(o) || d != nil && !o.At.After(d.At) {
			continue
		}
		if last == nil || o.At.After(last.At) {
			last = o
		}
	}
	if last == nil {
		return model.UnknownActor(w.live.OwnersFrom + " keeps no trace of who removed a field")
	}
	actor := w.actor(last)
	actor.Evidence += ", the last hand on the object"
	return actor
}

func (w *walk) actor(o *model.Owner) model.Actor { return ownerActor(w.live, o) }

func ownerActor(live *model.Resource, o *model.Owner) model.Actor {
	operation := "update"
	if o.Applies {
		operation = "apply"
	}
	if o.Subresource != "" {
		operation += " through " + o.Subresource
	}
	return model.Actor{Name: o.Name, At: o.At, Via: live.OwnersFrom, Evidence: operation, Confidence: model.Likely}
}

// creator names who made a resource: the writer whose time is its creation, or
// the first one.
func creator(live *model.Resource) model.Actor {
	var first *model.Owner
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
		return noWriters()
	}
	actor := ownerActor(live, first)
	if !live.Created.IsZero() {
		actor.At = live.Created
	}
	return actor
}

func noWriters() model.Actor {
	return model.UnknownActor("the live object carries no record of its writers")
}

func notApplied() model.Actor {
	return model.UnknownActor("declared, not applied yet: the live side did not change")
}
