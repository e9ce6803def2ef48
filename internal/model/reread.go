package model

import (
	"cmp"
	"slices"
	"time"
)

// An ObjectName is the name of an object in an event of its system. Type is the system's name
// of its kind, as the event has it ("virtualization.virtualmachine").
type ObjectName struct{ Type, ID string }

// A Reread is an object that was read again after the rest of its snapshot, and that may be
// absent since then.
type Reread struct {
	Ref
	// At is when that read began.
	At time.Time
}

// ReadAt returns when the snapshot read an object.
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

// With returns the snapshot with the objects of a part, which was read later: those of
// part.Reread are as the part has them, present or absent, and all others as before. So are the
// audit events, except those about no particular object: the part has all of them.
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
