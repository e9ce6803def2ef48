package kubernetes

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An inventory is what a watch knows: a look, kept up to date. One goroutine
// owns it.
type inventory struct {
	base *look
	// shelves hold what was listed, in the order of base's listings.
	shelves map[target]*shelf
}

// A shelf holds the objects of one target.
type shelf struct {
	byID map[string]model.Resource
	// sorted is byID by key; nil after a change.
	sorted []model.Resource
	// scope says whether the shelf is whole, doubt why it may be out of date.
	scope model.Coverage
	doubt string
	// doubted tells that a snapshot went out without what is on the shelf.
	doubted bool
}

func newInventory(base *look) *inventory {
	inv := &inventory{base: base, shelves: map[target]*shelf{}}
	for _, l := range base.listings {
		inv.shelves[l.target] = newShelf(l, base.source)
	}
	return inv
}

func newShelf(l listing, source string) *shelf {
	s := &shelf{byID: make(map[string]model.Resource, len(l.resources)), scope: l.coverage(source)}
	for _, r := range l.resources {
		s.byID[r.ID] = r
	}
	return s
}

// put takes an object in its new state; it tells whether anything that counts
// is different.
func (inv *inventory) put(t target, r model.Resource) bool {
	s := inv.shelves[t]
	old, ok := s.byID[r.ID]
	s.byID[r.ID] = r
	s.sorted = nil
	return !ok || !same(old, r)
}

func (inv *inventory) remove(t target, id string) bool {
	s := inv.shelves[t]
	_, ok := s.byID[id]
	delete(s.byID, id)
	s.sorted = nil
	return ok
}

// spoil notes that an object cannot be decoded any more.
func (inv *inventory) spoil(t target, u unreadable) bool {
	inv.remove(t, u.id())
	s := inv.shelves[t]
	s.scope.Complete, s.scope.Skipped, s.scope.Reason = false, false, unreadableReason([]unreadable{u})
	return true
}

// replace takes a new listing of a target.
func (inv *inventory) replace(l listing) bool {
	old, s := inv.shelves[l.target], newShelf(l, inv.base.source)
	inv.shelves[l.target] = s
	return old.doubted || old.scope != s.scope || !maps.EqualFunc(old.byID, s.byID, same)
}

// distrust notes why a target may be out of date, or with "" that it is not. A
// doubt by itself is no change: when the whole server is away there is nothing
// to tell, and a look at it says so.
func (inv *inventory) distrust(t target, reason string) bool {
	s := inv.shelves[t]
	s.doubt = reason
	changed := s.doubted && reason == ""
	s.doubted = s.doubted && reason != ""
	return changed
}

// snapshot returns the present state. Objects that may be out of date are not
// in it: nothing is known of them.
func (inv *inventory) snapshot(now time.Time) model.Snapshot {
	snap := inv.base.frame(now)
	for _, l := range inv.base.listings {
		s := inv.shelves[l.target]
		scope := s.scope
		if s.doubted = s.doubt != ""; s.doubted {
			scope.Complete, scope.Skipped, scope.Reason = false, false, s.doubt
		} else {
			snap.Resources = append(snap.Resources, s.resources()...)
		}
		snap.Coverage = append(snap.Coverage, scope)
	}
	return finish(snap)
}

func (s *shelf) resources() []model.Resource {
	if s.sorted == nil {
		s.sorted = slices.SortedFunc(maps.Values(s.byID), func(a, b model.Resource) int { return a.Compare(b.Key) })
	}
	return s.sorted
}

// same tells whether an event changed nothing that anybody compares: status
// and counters change all the time.
func same(a, b model.Resource) bool {
	return a.Value.Equal(b.Value) && a.Automatic == b.Automatic &&
		sameApplied(a.LastApplied, b.LastApplied) && slices.EqualFunc(writers(a), writers(b), sameOwner)
}

func sameApplied(a, b *model.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// writers are the owners of more than status.
func writers(r model.Resource) []model.Owner {
	return slices.DeleteFunc(slices.Clone(r.Owners), func(o model.Owner) bool { return o.Subresource == "status" })
}

// sameOwner compares who owns what; when is of no account.
func sameOwner(a, b model.Owner) bool {
	b.At = a.At
	return reflect.DeepEqual(a, b)
}
