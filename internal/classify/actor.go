package classify

import (
	"cmp"
	"slices"

	"github.com/driftd/driftd/internal/model"
)

// keepActor keeps the earlier actor of a finding, or of a field, with the same values, so that the
// actor does not become less certain when a log drops entries.
func keepActor(f, before *model.Finding) {
	if len(f.Changes) == 0 {
		if f.Basis == before.Basis && lessCertain(f.Actor, before.Actor) {
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
		if was := earlierActor(before, c); was != nil && lessCertain(now, *was) {
			now, kept = *was, true
		}
		c.Actor = &now
	}
	if kept {
		f.Changes, f.Actor = changes, model.LiftActor(changes)
	}
}

// keepWriters keeps the earlier actor of each side of a disputed field whose value is the same.
func keepWriters(c *model.Change, before *model.Finding) {
	i := slices.IndexFunc(before.Changes, func(b model.Change) bool { return b.Path == c.Path })
	if i < 0 || len(c.Claims) == 0 {
		return
	}
	b := &before.Changes[i]
	if model.SameValue(b.Live, c.Live) {
		c.LiveActor = moreCertain(c.LiveActor, b.LiveActor)
	}
	c.Claims = slices.Clone(c.Claims)
	for j := range c.Claims {
		now := &c.Claims[j]
		k := slices.IndexFunc(b.Claims, func(was model.ClaimedValue) bool {
			return was.Declaration == now.Declaration && was.Value.Equal(now.Value)
		})
		if k >= 0 {
			now.Actor = moreCertain(now.Actor, b.Claims[k].Actor)
		}
	}
}

// moreCertain returns the present actor of a side, or the earlier one if the present one
// is less certain. Either may be nil.
func moreCertain(now, was *model.Actor) *model.Actor {
	if now == nil || was != nil && lessCertain(*now, *was) {
		return was
	}
	return now
}

// actorOf returns the actor of a field of a finding.
func actorOf(f *model.Finding, c *model.Change) *model.Actor {
	if c.Actor != nil {
		return c.Actor
	}
	return &f.Actor
}

// earlierActor returns the earlier actor of a field with the same values, or nil if the values
// differ. Values of an unreadable secret are distinguished by their author only.
func earlierActor(before *model.Finding, c *model.Change) *model.Actor {
	if c.Declared == nil && c.Recorded == nil && c.Live == nil {
		return nil
	}
	i := slices.IndexFunc(before.Changes, func(b model.Change) bool { return b.Path == c.Path })
	if i < 0 {
		return nil
	}
	b := &before.Changes[i]
	same := model.SameValue(b.Declared, c.Declared) && model.SameValue(b.Recorded, c.Recorded) && model.SameValue(b.Live, c.Live) && model.SameValue(b.Running, c.Running) &&
		slices.EqualFunc(b.Claims, c.Claims, func(x, y model.ClaimedValue) bool {
			return x.Declaration == y.Declaration && x.Value.Equal(y.Value)
		})
	if !same {
		return nil
	}
	return actorOf(before, b)
}

// lessCertain reports whether now is less certain than was, and not of a later edit. Of
// two actors with the same confidence, one from an audit log is more certain.
func lessCertain(now, was model.Actor) bool {
	less := cmp.Or(cmp.Compare(certainty(was), certainty(now)), model.CompareBool(now.Via == model.AuditLog, was.Via == model.AuditLog)) < 0
	return less && !now.At.After(was.At)
}

// certainty returns the rank of an actor; the most certain has the lowest.
func certainty(a model.Actor) int {
	switch a.Confidence {
	case model.Exact:
		return 0
	case model.Likely:
		return 1
	case model.Unknown:
	}
	return 2
}
