package model

import (
	"slices"
	"strconv"
	"time"
)

// A Position is how far the data of a part of a source had come when it was read: a
// number that only the source sets and only raises, such as the id of its last
// change.
type Position struct {
	// Scope is the part.
	Scope
	// Name is what the source calls the number.
	Name  string
	Value int64
	// Object is the id of the object of the scope's kind whose last change the
	// position is: when that object is deleted, a lower position proves nothing.
	// Value is then a time, in seconds since 1970. "" where the source counts.
	Object string `json:",omitempty"`
	// Lineage is the identity of what counts; positions of different lineages are
	// not comparable. "" where it is not known.
	Lineage string `json:",omitempty"`
	// Asked is when the reading of the part began.
	Asked time.Time
}

// String returns the value for people.
func (p Position) String() string {
	if p.Object != "" {
		return time.Unix(p.Value, 0).UTC().Format(time.RFC3339)
	}
	return strconv.FormatInt(p.Value, 10)
}

// Raise makes the position that of an object's last change, where that is later.
func (p *Position) Raise(at time.Time, object string) {
	if seconds := at.Unix(); !at.IsZero() && seconds > p.Value {
		p.Value, p.Object = seconds, object
	}
}

// A Mark is the greatest position of a part that driftd saw.
type Mark struct {
	Position
	// Seen is when it was recorded.
	Seen time.Time
	// Older are the positions below it that were seen since; nil while there are
	// none.
	Older *Older `json:",omitempty"`
}

// Older is a run of positions below a mark none of which is lower than the one
// before.
type Older struct {
	First, Last int64
	Since       time.Time
}

// Staleness is why a part of a snapshot may come from an old copy of the source's
// data, and what to do.
type Staleness struct {
	Scope
	Reason string
}

// Doubt notes that the source may have answered from an old copy of its data in a
// scope: nothing in it counts as read, so that absence proves nothing and no finding
// is over.
func (s *Snapshot) Doubt(scope Scope, reason string) {
	s.Stale = append(s.Stale, Staleness{scope, reason})
	for i := range s.Coverage {
		if c := &s.Coverage[i]; c.Complete && scope.Contains(c.Kind, c.Place) {
			c.Complete, c.Reason = false, reason
		}
	}
}

// StaleIn returns why a resource of this kind and place may come from an old copy;
// "" where nothing says so.
func (s *Snapshot) StaleIn(kind, place string) string {
	for i := range s.Stale {
		if s.Stale[i].Contains(kind, place) {
			return s.Stale[i].Reason
		}
	}
	return ""
}

// Current returns the snapshot without the resources that may come from an old copy.
func (s *Snapshot) Current() Snapshot {
	current := *s
	if len(s.Stale) > 0 {
		current.Resources = slices.DeleteFunc(slices.Clone(s.Resources), func(r Resource) bool { return s.StaleIn(r.Kind, r.Place) != "" })
	}
	return current
}

// Has reports whether the snapshot holds a resource.
func (s *Snapshot) Has(ref Ref) bool {
	_, ok := slices.BinarySearchFunc(s.Resources, Key{Source: s.Source, Kind: ref.Kind, ID: ref.ID}, func(r Resource, k Key) int { return r.Compare(k) })
	return ok
}
