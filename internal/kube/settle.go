package kube

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// observedWithin is the time that Flux has to see a change of an object.
const observedWithin = 2 * time.Minute

// SettleChecks removes the violations of a snapshot that another object causes, which has its own, and those of
// objects that were changed a moment ago. The resources must be sorted.
func SettleChecks(s *model.Snapshot) {
	settled := map[int][]model.Violation{}
	for i := range s.Resources {
		r := &s.Resources[i]
		kept := slices.DeleteFunc(slices.Clone(r.Violations), func(v model.Violation) bool {
			if v.Check == checkNotObserved && isRecent(s, r) {
				r.Undecided = append(slices.Clip(r.Undecided), v.Check)
				return true
			}
			return slices.ContainsFunc(v.WaitsFor, func(ref model.Ref) bool { return fails(s, ref, map[model.Ref]bool{}) })
		})
		if len(kept) < len(r.Violations) {
			settled[i] = kept
		}
	}
	// Each object is judged by what the others have before any is removed.
	for i, kept := range settled {
		s.Resources[i].Violations = kept
	}
}

// isRecent reports whether the object was written a moment before the snapshot. A time far in the future, which a client may
// have written, is none.
func isRecent(s *model.Snapshot, r *model.Resource) bool {
	for i := range r.Owners {
		if o := &r.Owners[i]; o.Through == "" && s.Taken.Sub(o.At).Abs() < observedWithin {
			return true
		}
	}
	return false
}

// fails reports whether an object fails by itself, or waits for one that does. Objects that only wait for each other do not.
func fails(s *model.Snapshot, ref model.Ref, seen map[model.Ref]bool) bool {
	key := model.Key{Source: s.Source, Kind: ref.Kind, ID: ref.ID}
	at, found := slices.BinarySearchFunc(s.Resources, key, func(r model.Resource, k model.Key) int { return r.Compare(k) })
	if !found || seen[ref] {
		return false
	}
	seen[ref] = true
	r := &s.Resources[at]
	if slices.Contains(r.Undecided, checkNotReady) {
		return true
	}
	for i := range r.Violations {
		switch v := &r.Violations[i]; {
		case v.Check == checkNotReady && len(v.WaitsFor) > 0:
			if slices.ContainsFunc(v.WaitsFor, func(next model.Ref) bool { return fails(s, next, seen) }) {
				return true
			}
		case slices.Contains([]string{checkNotReady, checkStalled, checkSuspended}, v.Check):
			return true
		}
	}
	return false
}
