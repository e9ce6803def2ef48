package kube

import (
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// observedWithin is the time that a controller has to see a change of an object, or of another one that it waits for.
const observedWithin = 2 * time.Minute

// worksWithin is the time that Flux has to reconcile an object. Each step of a reconciliation begins it again.
const worksWithin = time.Hour

// SettleChecks removes violations that must not be reported now, and records their checks as
// undecided: violations that another object with a violation causes, and those of objects that were
// changed recently or on which a tool is working. The resources of the snapshot must be sorted.
func SettleChecks(s *model.Snapshot) {
	settled := map[int][]model.Violation{}
	for i := range s.Resources {
		r := &s.Resources[i]
		kept := slices.DeleteFunc(slices.Clone(r.Violations), func(v model.Violation) bool { return isUndecided(s, r, &v) })
		if len(kept) < len(r.Violations) {
			settled[i] = kept
		}
	}
	// Each object is judged by what the others have before any is removed.
	for i, kept := range settled {
		r := &s.Resources[i]
		r.Undecided = slices.Clip(r.Undecided)
		for j := range r.Violations {
			check := r.Violations[j].Check
			if !slices.ContainsFunc(kept, func(v model.Violation) bool { return v.Check == check }) {
				r.Undecided = append(r.Undecided, check)
			}
		}
		slices.Sort(r.Undecided)
		r.Undecided = slices.Compact(r.Undecided)
		r.Violations = kept
	}
}

// isUndecided reports whether a violation of an object may end by itself, or is that of another object.
func isUndecided(s *model.Snapshot, r *model.Resource, v *model.Violation) bool {
	switch {
	case v.Check == checkNotObserved:
		return specChanged(s, r)
	case v.Deletion:
		return isRecent(s, v.Actor.At, observedWithin)
	case v.Since != nil:
		return isRecent(s, *v.Since, worksWithin)
	}
	return slices.ContainsFunc(v.WaitsFor, func(ref model.Ref) bool {
		return fails(s, ref, map[model.Ref]bool{}) || becameReady(s, ref)
	})
}

// becameReady reports whether an object is ready since a moment before the snapshot. Flux looks again at an object that waits for it
// after 30 seconds, the default of --requeue-dependency.
func becameReady(s *model.Snapshot, ref model.Ref) bool {
	r := s.Find(ref)
	return r != nil && r.ReadySince != nil && isRecent(s, *r.ReadySince, observedWithin)
}

// isRecent reports whether a time is shortly before the snapshot. One that is far in the future, which a client may have written,
// is not.
func isRecent(s *model.Snapshot, at time.Time, within time.Duration) bool {
	return s.Taken.Sub(at).Abs() < within
}

// specChanged reports whether the spec of an object was written a moment before the snapshot. Writes of other fields, such as
// annotations, leave its generation.
func specChanged(s *model.Snapshot, r *model.Resource) bool {
	return slices.ContainsFunc(r.Owners, func(o model.Owner) bool {
		return o.Through == "" && o.Fields.Depth(fieldSteps("spec")) == 1 && isRecent(s, o.At, observedWithin)
	})
}

// fails reports whether an object fails by itself, was not reconciled yet, or waits for such an
// object. It returns false for objects that only wait for each other.
func fails(s *model.Snapshot, ref model.Ref, seen map[model.Ref]bool) bool {
	r := s.Find(ref)
	if r == nil || seen[ref] {
		return false
	}
	seen[ref] = true
	if slices.Contains(r.Undecided, checkNotReady) {
		return true
	}
	waits := false
	for i := range r.Violations {
		switch v := &r.Violations[i]; {
		case v.Check == checkNotReady && len(v.WaitsFor) > 0:
			waits = true
			if slices.ContainsFunc(v.WaitsFor, func(next model.Ref) bool { return fails(s, next, seen) }) {
				return true
			}
		case slices.Contains([]string{checkNotReady, checkStalled, checkSuspended}, v.Check):
			return true
		}
	}
	return !waits && r.ReadySince == nil
}
