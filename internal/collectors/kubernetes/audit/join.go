package audit

import (
	"cmp"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// maxSkew is the greatest difference between the clocks of the log and of managedFields.
// Two servers write them if an aggregated API server stores the objects.
const maxSkew = 2 * time.Second

// AddUsers returns a copy of the owners of an object with their users set, as far as the writes to
// the object identify them unambiguously. created is the time at which the object was created;
// earlier writes, to another object with the same name, are ignored.
func AddUsers(owners []model.Owner, h History, created time.Time) []model.Owner {
	owners = slices.Clone(owners)
	writes, whole := h.Writes, h.reaches(created)
	for i := range owners {
		o := &owners[i]
		o.Accounts = accounts(o, writes, created)
		w := writeBy(o, writes, created)
		if w == nil {
			continue
		}
		o.User, o.Evidence, o.Before = w.User, w.evidence(), before(w, o, writes, created)
		o.BeforeUnknown = !whole && !h.proves(w, o)
		if o.At.IsZero() {
			o.At = w.Ended.Truncate(time.Second)
		}
	}
	return owners
}

// writeBy returns the write that set an owner's entry in managedFields. It returns nil if no write
// matches, or if writes of several users match. The API server determines the time of the entry
// during the request, in whole seconds. For an entry without a time (kubectl scale), writeBy
// returns the last write.
func writeBy(o *model.Owner, writes []Write, created time.Time) *Write {
	var during, near []*Write
	for i := range writes {
		w := &writes[i]
		if !w.matches(o) || !w.isAfter(created) {
			continue
		}
		switch {
		case o.At.IsZero():
			during = []*Write{w}
		case w.spans(o.At, 0):
			during = append(during, w)
		case w.spans(o.At, maxSkew):
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

// proves reports whether the history proves, even without the creation of the object, that the write
// set all fields of the owner's entry. An entry of the subresource scale has one field, which the
// last write set: the one at the time of the entry or, if the entry has no time, the last in the log.
func (h *History) proves(w *Write, o *model.Owner) bool {
	return w.Subresource == "scale" && (!o.At.IsZero() || !h.Since.IsZero() && !w.Ended.Before(h.Since))
}

// accounts returns the authenticated users of all writes that match the owner's entry, at
// any time, sorted.
func accounts(o *model.Owner, writes []Write, created time.Time) []string {
	var names []string
	for i := range writes {
		if w := &writes[i]; w.matches(o) && w.isAfter(created) {
			names = append(names, w.Account)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxBefore bounds the earlier users of a field manager that are reported.
const maxBefore = 5

// before returns other users whose earlier writes match the owner's entry, because an
// entry only has the time of its last write. It returns none for an entry of the
// subresource scale: the entry has one field, which the last write set.
func before(last *Write, o *model.Owner, writes []Write, created time.Time) []string {
	if last.Subresource == "scale" {
		return nil
	}
	var names []string
	for i := range writes {
		if w := &writes[i]; w.matches(o) && w.isAfter(created) && w.first().Before(last.Ended) && w.User != last.User {
			names = append(names, w.User)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(maxBefore, len(names))]
}

// matches reports whether a write sets an entry in managedFields such as the owner's.
func (w *Write) matches(o *model.Owner) bool {
	return w.Action != model.Deleted && w.Manager == o.Name && w.Subresource == o.Through && (w.Patch || !o.Applies)
}

// spans reports whether a time in whole seconds is within the request, or at most
// tolerance outside.
func (w *Write) spans(at time.Time, tolerance time.Duration) bool {
	return !at.Before(w.Began.Truncate(time.Second).Add(-tolerance)) && !at.After(w.Ended.Add(tolerance))
}

// isAfter reports whether the write was to the object that was created at that time, and
// not to an earlier object of the same name.
func (w *Write) isAfter(created time.Time) bool {
	return created.IsZero() || !w.Ended.Before(created.Add(-maxSkew))
}

// Events returns the audit events of an object, sorted by time. For a live object, these are its
// creation and the last edit of each writer; otherwise, its last deletion. created is the time at
// which the live object was created. The writes must be sorted by time.
func Events(ref model.Ref, writes []Write, live bool, created time.Time) []model.AuditEvent {
	if !live {
		return deletion(ref, writes)
	}
	var kept []*Write
	seen := map[writer]bool{}
	for i := len(writes) - 1; i >= 0; i-- {
		w := &writes[i]
		createdBy := w.Action == model.Created && w.spans(created, maxSkew)
		edited := w.Action == model.Edited && w.isAfter(created)
		if (createdBy || edited) && !seen[w.writer()] {
			seen[w.writer()] = true
			kept = append(kept, w)
		}
	}
	slices.Reverse(kept)
	events := make([]model.AuditEvent, 0, len(kept))
	for _, w := range kept {
		events = append(events, w.event(ref))
	}
	return events
}

// deletion returns the event of the last deletion; nil if the object was created again
// after it.
func deletion(ref model.Ref, writes []Write) []model.AuditEvent {
	for i := len(writes) - 1; i >= 0; i-- {
		switch writes[i].Action {
		case model.Created:
			return nil
		case model.Deleted:
			return []model.AuditEvent{writes[i].event(ref)}
		}
	}
	return nil
}

// event returns the audit event of a write. The event of an edit has no fields, except
// that of an edit through scale, which sets one field.
func (w *Write) event(ref model.Ref) model.AuditEvent {
	t := model.AuditEvent{Ref: ref, Action: w.Action, Writer: w.Manager, Account: w.Account, Actor: model.Actor{
		Name: w.User, At: w.Ended, Via: model.AuditLog, Evidence: w.evidence(), Confidence: model.Exact,
	}}
	if w.Action != model.Edited {
		return t
	}
	t.Actor.Confidence = model.Likely
	if w.Subresource == "scale" && (w.Group == "apps" || w.Group == "") {
		t.Fields, t.Actor.Confidence = []string{"spec.replicas"}, model.Exact
	}
	return t
}

// CompareEvents orders events as in a snapshot: by kind, ID and time. It returns a negative number
// if t sorts before u.
func CompareEvents(t, u model.AuditEvent) int {
	return cmp.Or(cmp.Compare(t.Kind, u.Kind), cmp.Compare(t.ID, u.ID), t.Actor.At.Compare(u.Actor.At),
		cmp.Compare(t.Actor.Evidence, u.Actor.Evidence))
}
