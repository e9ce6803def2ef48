package classify

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// keepActor keeps who was named while a finding, or one of its fields, shows the
// same: a log that reaches back no longer so far does not make it less known.
func keepActor(f, before *model.Finding) {
	if len(f.Changes) == 0 {
		if f.Basis == before.Basis && forgot(f.Actor, before.Actor) {
			f.Actor = before.Actor
		}
		return
	}
	f.Changes = slices.Clone(f.Changes)
	for i := range f.Changes {
		keepWriters(&f.Changes[i], before)
	}
	kept, changes := false, slices.Clone(f.Changes)
	for i := range changes {
		c := &changes[i]
		now := *actorOf(f, c)
		if was := lastTime(before, c); was != nil && forgot(now, *was) {
			now, kept = *was, true
		}
		c.Actor = &now
	}
	if kept {
		f.Changes, f.Actor = changes, model.LiftActor(changes)
	}
}

// keepWriters keeps who was named for each side of a disputed field that is as it was.
func keepWriters(c *model.Change, before *model.Finding) {
	i := slices.IndexFunc(before.Changes, func(b model.Change) bool { return b.Path == c.Path })
	if i < 0 || len(c.Claims) == 0 {
		return
	}
	b := &before.Changes[i]
	if alike(b.Live, c.Live) {
		c.LiveActor = surest(c.LiveActor, b.LiveActor)
	}
	c.Claims = slices.Clone(c.Claims)
	for j := range c.Claims {
		now := &c.Claims[j]
		k := slices.IndexFunc(b.Claims, func(was model.ClaimedValue) bool {
			return was.Declaration == now.Declaration && was.Value.Equal(now.Value)
		})
		if k >= 0 {
			now.Actor = surest(now.Actor, b.Claims[k].Actor)
		}
	}
}

// surest returns who is named for a side now, or else was named before if less is known
// now. Either may be nil.
func surest(now, was *model.Actor) *model.Actor {
	if now == nil || was != nil && forgot(*now, *was) {
		return was
	}
	return now
}

// actorOf is who is named for a field of a finding.
func actorOf(f *model.Finding, c *model.Change) *model.Actor {
	if c.Actor != nil {
		return c.Actor
	}
	return &f.Actor
}

// lastTime is who was named for a field that shows what it showed before; nil
// when it does not. Of a secret that nobody can read only its author tells one
// value from another.
func lastTime(before *model.Finding, c *model.Change) *model.Actor {
	if c.Declared == nil && c.Recorded == nil && c.Live == nil {
		return nil
	}
	i := slices.IndexFunc(before.Changes, func(b model.Change) bool { return b.Path == c.Path })
	if i < 0 {
		return nil
	}
	b := &before.Changes[i]
	same := alike(b.Declared, c.Declared) && alike(b.Recorded, c.Recorded) && alike(b.Live, c.Live) && alike(b.Running, c.Running) &&
		slices.EqualFunc(b.Claims, c.Claims, func(x, y model.ClaimedValue) bool {
			return x.Declaration == y.Declaration && x.Value.Equal(y.Value)
		})
	if !same {
		return nil
	}
	return actorOf(before, b)
}

func alike(a, b *model.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// forgot reports whether now is less sure than was, and not about a later edit. Of two
// actors with the same confidence, one that an audit log names is surer.
func forgot(now, was model.Actor) bool {
	surer := cmp.Or(cmp.Compare(sureness(was), sureness(now)), first(was.Via == model.AuditLog, now.Via == model.AuditLog)) < 0
	return surer && !now.At.After(was.At)
}

// sureness is smaller the surer an actor is.
func sureness(a model.Actor) int {
	switch a.Confidence {
	case model.Exact:
		return 0
	case model.Likely:
		return 1
	case model.Unknown:
	}
	return 2
}
