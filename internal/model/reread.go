package model

import (
	"cmp"
	"slices"
	"time"
)

// An ObjectName identifies an object in an event of its system. Type is the name of its kind as in
// the event, such as "virtualization.virtualmachine".
type ObjectName struct{ Type, ID string }

// A Reread is an object that was read again after the rest of its snapshot. It may have been absent
// in that read.
type Reread struct {
	Ref
	// At is the time at which that read began.
	At time.Time
}

// ReadAt returns the time at which the snapshot read the object: that of the last Reread, or else
// Taken.
func (s *Snapshot) ReadAt(ref Ref) time.Time {
	if i, found := findReread(s.Reread, ref); found {
		return s.Reread[i].At
	}
	return s.Taken
}

func findReread(list []Reread, ref Ref) (int, bool) {
	return slices.BinarySearchFunc(list, ref, func(r Reread, ref Ref) int { return compareRefs(r.Ref, ref) })
}

func compareRefs(a, b Ref) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) }

// With returns the snapshot updated by part, which was read later. Objects in part.Reread are
// present or absent as in part; all others are unchanged. Audit events are replaced in the same
// way, except that those about no particular object are all taken from part.
func (s *Snapshot) With(part *Snapshot) Snapshot {
	merged := *s
	outside := func(ref Ref) bool {
		_, again := findReread(part.Reread, ref)
		return !again
	}
	merged.Resources = merge(s.Resources, part.Resources, func(r *Resource) bool { return outside(Ref{r.Kind, r.ID}) },
		func(a, b Resource) int { return a.Compare(b.Key) })
	merged.Reread = merge(s.Reread, part.Reread, func(r *Reread) bool { return outside(r.Ref) },
		func(a, b Reread) int { return compareRefs(a.Ref, b.Ref) })
	merged.AuditEvents = merge(s.AuditEvents, part.AuditEvents, func(e *AuditEvent) bool { return e.ID != "" && outside(e.Ref) },
		func(a, b AuditEvent) int { return compareRefs(a.Ref, b.Ref) })
	return merged
}

// merge returns the elements of a that are kept, and those of b. Both are sorted by compare, and
// so is the result.
func merge[T any](a, b []T, kept func(*T) bool, compare func(a, b T) int) []T {
	all := make([]T, 0, len(a)+len(b))
	for i := range a {
		if !kept(&a[i]) {
			continue
		}
		for len(b) > 0 && compare(b[0], a[i]) < 0 {
			all, b = append(all, b[0]), b[1:]
		}
		all = append(all, a[i])
	}
	return append(all, b...)
}
