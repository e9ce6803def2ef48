package kubernetes

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// An inventory is what a watch knows: a look, kept up to date. One goroutine
// owns it.
type inventory struct {
	base *look
	// shelves hold what was listed, in the order of base's listings.
	shelves map[target]*shelf
	// defined counts what happened to the objects that define kinds: after the
	// first, base no longer knows which kinds there are.
	defined int
	// weight is about what the objects take of memory, in bytes.
	weight int64
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
	// followed tells that a watch keeps the shelf up to date.
	followed bool
	progress
}

func newInventory(base *look) *inventory {
	inv := &inventory{base: base, shelves: map[target]*shelf{}}
	for _, l := range base.listings {
		inv.shelves[l.target] = newShelf(l, base.source)
		inv.weight += weigh(l.resources)
	}
	return inv
}

func newShelf(l listing, source string) *shelf {
	s := &shelf{byID: make(map[string]model.Resource, len(l.resources)), scope: l.coverage(source), followed: canFollow(l), progress: l.progress}
	for _, r := range l.resources {
		s.byID[r.ID] = r
	}
	return s
}

// definesKinds tells a kind whose objects say which other kinds are served.
func definesKinds(kind string) bool {
	return kind == "kubernetes/CustomResourceDefinition.apiextensions.k8s.io" ||
		kind == "kubernetes/APIService.apiregistration.k8s.io"
}

// touch returns the shelf of a target to which something happens.
func (inv *inventory) touch(t target) *shelf {
	if definesKinds(t.kind) {
		inv.defined++
	}
	return inv.shelves[t]
}

// put takes an object in its new state; it tells whether anything that counts
// is different.
func (inv *inventory) put(t target, r model.Resource) bool {
	s := inv.touch(t)
	old, ok := s.byID[r.ID]
	if ok {
		inv.weight -= old.Weight()
	}
	inv.weight += r.Weight()
	s.byID[r.ID] = r
	s.sorted = nil
	return !ok || !same(old, r)
}

// advance notes how far the watch of a target has come.
func (inv *inventory) advance(t target, version string) bool {
	inv.shelves[t].version = version
	return false
}

func (inv *inventory) remove(t target, id string) bool {
	s := inv.touch(t)
	old, ok := s.byID[id]
	if ok {
		inv.weight -= old.Weight()
	}
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
	old, s := inv.touch(l.target), newShelf(l, inv.base.source)
	inv.shelves[l.target] = s
	inv.weight += weigh(l.resources) - weigh(slices.Collect(maps.Values(old.byID)))
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

// abandon notes that nothing keeps a target up to date any more.
func (inv *inventory) abandon(t target) bool {
	inv.shelves[t].followed = false
	return false
}

// knowsKinds tells whether a kind that base does not know is not served: what
// defines kinds is followed, and nothing happened to it.
func (inv *inventory) knowsKinds() bool {
	for _, a := range inv.base.catalog.apis {
		if !definesKinds(a.kind) {
			continue
		}
		if s := inv.shelves[target{api: a}]; s == nil || !s.followed || s.doubt != "" {
			return false
		}
	}
	return inv.defined == 0
}

// snapshot returns the present state. Objects that may be out of date are not
// in it: nothing is known of them.
func (inv *inventory) snapshot(now time.Time) model.Snapshot {
	snap := inv.base.frame(now)
	if i := slices.IndexFunc(snap.Coverage, func(c model.Coverage) bool { return c.Kind == "" }); !inv.knowsKinds() {
		snap.Coverage[i].Complete, snap.Coverage[i].Skipped = false, true
		snap.Coverage[i].Reason = "not known since the last full look: kinds may have been installed"
	}
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
	snap.Positions = inv.base.positions(func(t target) progress {
		if s := inv.shelves[t]; s.scope.Complete && s.doubt == "" {
			return s.progress
		}
		return progress{}
	})
	kube.MarkOwnersRemoved(snap.Resources)
	return finish(snap)
}

func (s *shelf) resources() []model.Resource {
	if s.sorted == nil {
		s.sorted = slices.SortedFunc(maps.Values(s.byID), func(a, b model.Resource) int { return a.Compare(b.Key) })
	}
	return s.sorted
}

// same reports whether an event changed nothing that is compared: status and counters
// change often.
func same(a, b model.Resource) bool {
	return a.Value.Equal(b.Value) && a.SystemOwned == b.SystemOwned && a.Watched == b.Watched && a.Altered == b.Altered && reflect.DeepEqual(a.Origin, b.Origin) &&
		sameApplied(a.LastApplied, b.LastApplied) && slices.EqualFunc(a.Owners, b.Owners, sameOwner)
}

func sameApplied(a, b *model.Value) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

// sameOwner compares owners without their times.
func sameOwner(a, b model.Owner) bool {
	b.At = a.At
	return reflect.DeepEqual(a, b)
}
