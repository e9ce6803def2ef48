package bus

import (
	"cmp"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An Event is one change of an object according to a log, with the user and the time.
type Event struct {
	// Ref has no ID if the log contains only that an object of the kind was created between Began
	// and At.
	model.Ref
	Action model.Action `json:"Deed,omitempty"`
	// Fields lists the paths in the kind's values that may have changed, sorted; nil if any may
	// have changed.
	Fields []string `json:",omitempty"`
	// Broad reports whether Fields may contain more than the changed fields.
	Broad bool `json:",omitempty"`
	At    time.Time
	Began time.Time `json:",omitzero"`
	// UserID and User are the ID and the name of the user; one of them may be "".
	UserID string `json:",omitempty"`
	User   string `json:",omitempty"`
	// Owner is the user to whom the object belongs, if its ID is unique only per user.
	Owner string `json:",omitempty"`
	// Request is the ID of the request, and Origin the ID of the request to another service that
	// caused it. Either may be "".
	Request string `json:",omitempty"`
	Origin  string `json:",omitempty"`
	// Via is the log, and Evidence identifies the entry in it.
	Via      string `json:",omitempty"`
	Evidence string
	// Doubtful reports whether the change may not have happened, because an error occurred, or may
	// have been made by another user.
	Doubtful bool `json:",omitempty"`
}

// Compare orders events as in model.Snapshot.AuditEvents: by kind, ID and time. It never returns 0
// for different events, since times in logs have a resolution of seconds.
func (a *Event) Compare(b *Event) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), a.At.Compare(b.At),
		cmp.Compare(a.Evidence, b.Evidence), slices.Compare(a.Fields, b.Fields), cmp.Compare(a.Action, b.Action),
		cmp.Compare(a.UserID, b.UserID), cmp.Compare(a.User, b.User), cmp.Compare(a.Request, b.Request), cmp.Compare(a.Origin, b.Origin))
}

// Merge returns the events in the order of Compare, with one event for each change of an object by
// a request. If several logs contain the change, the event has the most exact fields.
func Merge(events []Event) []Event {
	type action struct {
		model.Ref
		model.Action
		request string
	}
	sorted := slices.Clone(events)
	slices.SortFunc(sorted, func(a, b Event) int { return a.Compare(&b) })
	merged := make([]Event, 0, len(sorted))
	at := map[action]int{}
	for _, a := range sorted {
		d := action{a.Ref, a.Action, a.Request}
		i, found := at[d]
		if a.Request == "" || !found {
			at[d] = len(merged)
			merged = append(merged, a)
			continue
		}
		merged[i] = merged[i].with(&a)
	}
	return merged
}

// with returns the combination of two events for the same change.
func (a *Event) with(b *Event) Event {
	both := *a
	switch {
	case a.uncertainty() > b.uncertainty():
		both = *b
		both.At = a.At
	case a.uncertainty() == b.uncertainty():
		both.Fields = slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.Fields, b.Fields))))
	}
	both.User, both.UserID = cmp.Or(both.User, a.User, b.User), cmp.Or(both.UserID, a.UserID, b.UserID)
	both.Origin = cmp.Or(both.Origin, a.Origin, b.Origin)
	return both
}

// uncertainty returns 0 if the changed fields are known, and more the less is known.
func (a *Event) uncertainty() int {
	switch {
	case a.Action != model.Edited:
		return 0
	case len(a.Fields) == 0:
		return 2
	case a.Broad:
		return 1
	}
	return 0
}

// Uncertain reports whether fewer fields than those of the event may have changed, or none.
func (a *Event) Uncertain() bool { return a.Doubtful || a.uncertainty() > 0 }
