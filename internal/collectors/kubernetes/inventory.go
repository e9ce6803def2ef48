package kubernetes

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// An inventory is the current state of a watch: the objects of a scan with later changes.
// Only one goroutine uses it.
type inventory struct {
	base *scan
	// targets holds the objects of each listing of base.
	targets map[target]*targetState
	// defined counts the changes of objects that define kinds. If it is not 0, the catalog
	// of base may be incomplete.
	defined int
	// weight is the approximate memory use of the objects, in bytes.
	weight int64
}

// A targetState contains the objects of one target.
type targetState struct {
	byID map[string]model.Resource
	// sorted is byID sorted by key; nil after a change.
	sorted []model.Resource
	// scope is the coverage of the target. stale is the reason why the objects may be out of
	// date, or "".
	scope model.Coverage
	stale string
	// withheld reports that the last snapshot lacked the objects because they were stale.
	withheld bool
	// followed reports that a watch updates the objects.
	followed bool
	progress
}

func newInventory(base *scan) *inventory {
	inv := &inventory{base: base, targets: map[target]*targetState{}}
	for _, l := range base.listings {
		inv.targets[l.target] = newTargetState(l, base.source)
		inv.weight += weigh(l.resources)
	}
	return inv
}

func newTargetState(l listing, source string) *targetState {
	s := &targetState{byID: make(map[string]model.Resource, len(l.resources)), scope: l.coverage(source), followed: canFollow(l), progress: l.progress}
	for _, r := range l.resources {
		s.byID[r.ID] = r
	}
	return s
}

// definesKinds reports whether the objects of a kind define which kinds are served.
func definesKinds(kind string) bool {
	return kind == "kubernetes/CustomResourceDefinition.apiextensions.k8s.io" ||
		kind == "kubernetes/APIService.apiregistration.k8s.io"
}

// touch returns the state of a target that is about to change, and counts changes of kinds.
func (inv *inventory) touch(t target) *targetState {
	if definesKinds(t.kind) {
		inv.defined++
	}
	return inv.targets[t]
}

// put adds or replaces an object. It reports whether anything changed that is compared.
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

// advance sets the resourceVersion of a target. It returns false.
func (inv *inventory) advance(t target, version string) bool {
	inv.targets[t].version = version
	return false
}

// remove removes an object. It reports whether the object existed.
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

// markUnreadable removes an object that cannot be decoded any more, and makes the coverage
// of its target incomplete. It returns true.
func (inv *inventory) markUnreadable(t target, u unreadable) bool {
	inv.remove(t, u.id())
	s := inv.targets[t]
	s.scope.Complete, s.scope.Skipped, s.scope.Reason = false, false, unreadableReason([]unreadable{u})
	return true
}

// replace replaces the objects of a target by those of a new listing. It reports whether
// anything changed that is compared.
func (inv *inventory) replace(l listing) bool {
	old, s := inv.touch(l.target), newTargetState(l, inv.base.source)
	inv.targets[l.target] = s
	inv.weight += weigh(l.resources) - weigh(slices.Collect(maps.Values(old.byID)))
	return old.withheld || old.scope != s.scope || !maps.EqualFunc(old.byID, s.byID, same)
}

// markStale sets the reason why a target may be out of date, or clears it with "". It reports
// whether objects that the last snapshot lacked are valid again. A stale target alone is no
// reason for a new snapshot: if the whole server is unreachable, the heartbeat reports it.
func (inv *inventory) markStale(t target, reason string) bool {
	s := inv.targets[t]
	s.stale = reason
	changed := s.withheld && reason == ""
	s.withheld = s.withheld && reason != ""
	return changed
}

// unfollow records that no watch updates the target any more. It returns false.
func (inv *inventory) unfollow(t target) bool {
	inv.targets[t].followed = false
	return false
}

// hasAllKinds reports whether the catalog of base has all kinds: the kinds that define kinds
// are watched, and no object of them changed.
func (inv *inventory) hasAllKinds() bool {
	for _, a := range inv.base.catalog.apis {
		if !definesKinds(a.kind) {
			continue
		}
		if s := inv.targets[target{api: a}]; s == nil || !s.followed || s.stale != "" {
			return false
		}
	}
	return inv.defined == 0
}

// snapshot returns the current state without objects that may be outdated.
func (inv *inventory) snapshot(now time.Time) model.Snapshot {
	snap := inv.base.emptySnapshot(now)
	if i := slices.IndexFunc(snap.Coverage, func(c model.Coverage) bool { return c.Kind == "" }); !inv.hasAllKinds() {
		snap.Coverage[i].Complete, snap.Coverage[i].Skipped = false, true
		snap.Coverage[i].Reason = "kinds may have been installed since the last full scan"
	}
	for _, l := range inv.base.listings {
		s := inv.targets[l.target]
		scope := s.scope
		if s.withheld = s.stale != ""; s.withheld {
			scope.Complete, scope.Skipped, scope.Reason = false, false, s.stale
		} else {
			snap.Resources = append(snap.Resources, s.resources()...)
		}
		snap.Coverage = append(snap.Coverage, scope)
	}
	snap.Positions = inv.base.positions(func(t target) progress {
		if s := inv.targets[t]; s.scope.Complete && s.stale == "" {
			return s.progress
		}
		return progress{}
	})
	kube.MarkOwnersRemoved(snap.Resources)
	return finish(snap)
}

// resources returns the objects sorted by key.
func (s *targetState) resources() []model.Resource {
	if s.sorted == nil {
		s.sorted = slices.SortedFunc(maps.Values(s.byID), func(a, b model.Resource) int { return a.Compare(b.Key) })
	}
	return s.sorted
}

// same reports whether two states of an object differ in nothing that is compared. Status and
// counters, which change often, are not compared, but the checks that they fail and the objects
// that they list are.
func same(a, b model.Resource) bool {
	return a.Value.Equal(b.Value) && a.SystemOwned == b.SystemOwned && a.Watched == b.Watched && a.Altered == b.Altered && a.Outgoing == b.Outgoing && reflect.DeepEqual(a.Origin, b.Origin) &&
		model.SameValue(a.LastApplied, b.LastApplied) && slices.EqualFunc(a.Owners, b.Owners, sameOwner) &&
		slices.EqualFunc(a.Violations, b.Violations, sameViolation) && slices.Equal(a.Undecided, b.Undecided) && slices.Equal(a.Installs, b.Installs) &&
		commitOf(a) == commitOf(b) && sameFetched(a.Fetched, b.Fetched)
}

// commitOf returns the commit of the inventory in an object.
func commitOf(r model.Resource) string {
	if r.Inventory == nil {
		return ""
	}
	return r.Inventory.Commit
}

func sameFetched(a, b *model.Fetched) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Commit == b.Commit && a.At.Equal(b.At)
}

// sameViolation reports whether two failed checks are equal except for who caused them and when: a
// controller writes a status again and again.
func sameViolation(a, b model.Violation) bool {
	b.Actor = a.Actor
	return reflect.DeepEqual(a, b)
}

// sameOwner reports whether two owners are equal except for their times.
func sameOwner(a, b model.Owner) bool {
	b.At = a.At
	return reflect.DeepEqual(a, b)
}
