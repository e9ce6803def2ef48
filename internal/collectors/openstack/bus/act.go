package bus

import (
	"cmp"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An Act is what a log tells: who did what to which object, and when.
type Act struct {
	// Ref has no ID where the log tells that an object of that kind was made
	// between Began and At, and not which one.
	model.Ref
	Deed model.Action `json:",omitempty"`
	// Fields are the paths in the kind's values that it may have touched, sorted;
	// nil where it may have been any.
	Fields []string `json:",omitempty"`
	// Broad tells that Fields are more than it surely touched.
	Broad bool `json:",omitempty"`
	At    time.Time
	Began time.Time `json:",omitzero"`
	// UserID and User say who did it; one of them may be "".
	UserID string `json:",omitempty"`
	User   string `json:",omitempty"`
	// Owner is whose the object is, where the id is unique for one user only.
	Owner string `json:",omitempty"`
	// Request is the id of the request that did it, Origin that of the request to
	// another service on whose behalf it was sent; either may be "".
	Request string `json:",omitempty"`
	Origin  string `json:",omitempty"`
	// Via is the log, Evidence its entry.
	Via      string `json:",omitempty"`
	Evidence string
	// Doubtful tells that it may not have come to pass: something went wrong on
	// the way, or another one may have done it.
	Doubtful bool `json:",omitempty"`
}

// Compare orders acts as a snapshot wants its traces: by kind, id and time. Acts
// that differ are never equal: logs count in seconds, and come in any order.
func (a *Act) Compare(b *Act) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), a.At.Compare(b.At),
		cmp.Compare(a.Evidence, b.Evidence), slices.Compare(a.Fields, b.Fields), cmp.Compare(a.Deed, b.Deed),
		cmp.Compare(a.UserID, b.UserID), cmp.Compare(a.User, b.User), cmp.Compare(a.Request, b.Request), cmp.Compare(a.Origin, b.Origin))
}

// Merge returns acts in order, with one for each thing that a request did to an
// object: several logs tell of it, and the one that knows best which fields were
// touched counts.
func Merge(acts []Act) []Act {
	type deed struct {
		model.Ref
		model.Action
		request string
	}
	sorted := slices.Clone(acts)
	slices.SortFunc(sorted, func(a, b Act) int { return a.Compare(&b) })
	merged := make([]Act, 0, len(sorted))
	at := map[deed]int{}
	for _, a := range sorted {
		d := deed{a.Ref, a.Deed, a.Request}
		i, told := at[d]
		if a.Request == "" || !told {
			at[d] = len(merged)
			merged = append(merged, a)
			continue
		}
		merged[i] = merged[i].with(&a)
	}
	return merged
}

// with returns what two logs tell of one act.
func (a *Act) with(b *Act) Act {
	both := *a
	switch {
	case a.vagueness() > b.vagueness():
		both = *b
		both.At = a.At
	case a.vagueness() == b.vagueness():
		both.Fields = slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.Fields, b.Fields))))
	}
	both.User, both.UserID = cmp.Or(both.User, a.User, b.User), cmp.Or(both.UserID, a.UserID, b.UserID)
	both.Origin = cmp.Or(both.Origin, a.Origin, b.Origin)
	return both
}

// vagueness is 0 where the fields are known, and grows with what they may be.
func (a *Act) vagueness() int {
	switch {
	case a.Deed != model.Edited:
		return 0
	case len(a.Fields) == 0:
		return 2
	case a.Broad:
		return 1
	}
	return 0
}

// Vague tells that it may have been less than what the act says, or nothing.
func (a *Act) Vague() bool { return a.Doubtful || a.vagueness() > 0 }
