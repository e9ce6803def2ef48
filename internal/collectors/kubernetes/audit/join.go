package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// slack is how far the clocks of the log and of managedFields may be apart: two
// servers write them where an aggregated API server keeps the objects.
const slack = 2 * time.Second

// Sign returns the owners with the users who used them, as far as the writes to
// the object tell it without doubt. Created is when the object came to be; what
// was written before was written to another one. Writes are sorted by time. The
// given owners stay as they are.
func Sign(owners []model.Owner, writes []Write, created time.Time) []model.Owner {
	owners = slices.Clone(owners)
	for i := range owners {
		o := &owners[i]
		o.Accounts = accounts(o, writes, created)
		w := writeBy(o, writes, created)
		if w == nil {
			continue
		}
		o.User, o.Evidence, o.Before = w.User, w.evidence(), before(w, o, writes, created)
		if o.At.IsZero() {
			o.At = w.Ended.Truncate(time.Second)
		}
	}
	return owners
}

// writeBy returns the write that an owner's entry tells of; nil when none is
// known, or when several people may have made it. An entry's time is taken while
// the request is under way, in whole seconds. Where it has none (kubectl scale),
// the last write counts.
func writeBy(o *model.Owner, writes []Write, created time.Time) *Write {
	var during, near []*Write
	for i := range writes {
		w := &writes[i]
		if !w.couldLeave(o) || !w.since(created) {
			continue
		}
		switch {
		case o.At.IsZero():
			during = []*Write{w}
		case w.spans(o.At, 0):
			during = append(during, w)
		case w.spans(o.At, slack):
			near = append(near, w)
		}
	}
	if len(during) == 0 {
		during = near
	}
	if len(during) == 0 || slices.ContainsFunc(during, func(w *Write) bool { return w.User != during[0].User }) {
		return nil
	}
	return during[len(during)-1]
}

// accounts returns the authenticated users of all known writes that may have left
// the owner's entry, whenever they were made.
func accounts(o *model.Owner, writes []Write, created time.Time) []string {
	var names []string
	for i := range writes {
		if w := &writes[i]; w.couldLeave(o) && w.since(created) {
			names = append(names, w.Account)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxBefore bounds how many are named that used a writer before.
const maxBefore = 5

// before returns who else used an owner's writer, as far as the log reaches back.
// An entry has the time of the last write only. One that came through scale has
// one field, and the last word on it counts.
func before(last *Write, o *model.Owner, writes []Write, created time.Time) []string {
	if last.Subresource == "scale" {
		return nil
	}
	var names []string
	for i := range writes {
		if w := &writes[i]; w.couldLeave(o) && w.since(created) && w.Began.Before(last.Ended) && w.User != last.User {
			names = append(names, w.User)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(maxBefore, len(names))]
}

// couldLeave reports whether a write leaves an entry such as the owner's.
func (w *Write) couldLeave(o *model.Owner) bool {
	return w.Deed != model.Deleted && w.Manager == o.Name && w.Subresource == o.Through && (w.Patch || !o.Applies)
}

// spans tells whether a time in whole seconds lies within the request, give or
// take.
func (w *Write) spans(at time.Time, tolerance time.Duration) bool {
	return !at.Before(w.Began.Truncate(time.Second).Add(-tolerance)) && !at.After(w.Ended.Add(tolerance))
}

// since tells whether the write is one to the object that was created then.
func (w *Write) since(created time.Time) bool {
	return created.IsZero() || !w.Ended.Before(created.Add(-slack))
}

// Traces returns what the writes to an object tell of it: who deleted it last,
// who made it, who edited it. Live tells that it is there, created is when it
// came to be. Writes are sorted by time, and so are the traces.
func Traces(ref model.Ref, writes []Write, live bool, created time.Time) []model.AuditEvent {
	if !live {
		return removal(ref, writes)
	}
	var kept []*Write
	seen := map[by]bool{}
	for i := len(writes) - 1; i >= 0; i-- {
		w := &writes[i]
		made := w.Deed == model.Created && w.spans(created, slack)
		edited := w.Deed == model.Edited && w.since(created)
		// Of one writer the last word is enough.
		if (made || edited) && !seen[w.by()] {
			seen[w.by()] = true
			kept = append(kept, w)
		}
	}
	slices.Reverse(kept)
	traces := make([]model.AuditEvent, 0, len(kept))
	for _, w := range kept {
		traces = append(traces, w.trace(ref))
	}
	return traces
}

// removal tells who deleted an object that is gone; nothing when it was made
// again after the last deletion that is known.
func removal(ref model.Ref, writes []Write) []model.AuditEvent {
	for i := len(writes) - 1; i >= 0; i-- {
		switch writes[i].Deed {
		case model.Created:
			return nil
		case model.Deleted:
			return []model.AuditEvent{writes[i].trace(ref)}
		}
	}
	return nil
}

// trace tells of a write. That of an edit names no field, unless its door leads
// to one alone.
func (w *Write) trace(ref model.Ref) model.AuditEvent {
	t := model.AuditEvent{Ref: ref, Action: w.Deed, Writer: w.Manager, Account: w.Account, Actor: model.Actor{
		Name: w.User, At: w.Ended, Via: model.AuditLog, Evidence: w.evidence(), Confidence: model.Exact,
	}}
	if w.Deed != model.Edited {
		return t
	}
	t.Actor.Confidence = model.Likely
	if w.Subresource == "scale" && (w.Group == "apps" || w.Group == "") {
		t.Fields, t.Actor.Confidence = []string{"spec.replicas"}, model.Exact
	}
	return t
}

// CompareTraces orders traces as a snapshot wants them: by kind, id and time.
func CompareTraces(t, u model.AuditEvent) int {
	return cmp.Or(cmp.Compare(t.Kind, u.Kind), cmp.Compare(t.ID, u.ID), t.Actor.At.Compare(u.Actor.At),
		cmp.Compare(t.Actor.Evidence, u.Actor.Evidence))
}
