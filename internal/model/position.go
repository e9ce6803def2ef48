package model

import (
	"slices"
	"sort"
	"strconv"
	"time"
)

// A Position is the version of the data in a part of a source. It is a number that only the source
// sets and that only increases, such as the ID of the last change.
type Position struct {
	// Scope is the part of the source.
	Scope
	// Name is the source's name for the number.
	Name  string
	Value int64
	// Object is the ID of the object whose last change the position describes, if the source has no
	// counter; "" if it has. The object is of the kind of Scope. Value is then a time, in seconds
	// since 1970. After the object is deleted, a lower position proves nothing.
	Object string `json:",omitempty"`
	// Lineage identifies the counter; "" if unknown. Positions of different lineages are not
	// comparable.
	Lineage string `json:",omitempty"`
	// Asked is the time at which the read of the part began.
	Asked time.Time
}

// String returns the value in decimal, or as an RFC 3339 time if Object is set.
func (p Position) String() string {
	if p.Object != "" {
		return time.Unix(p.Value, 0).UTC().Format(time.RFC3339)
	}
	return strconv.FormatInt(p.Value, 10)
}

// Raise sets Value and Object to those of an object that was last changed at the time at. It does
// nothing if at is zero or not later than Value.
func (p *Position) Raise(at time.Time, object string) {
	if seconds := at.Unix(); !at.IsZero() && seconds > p.Value {
		p.Value, p.Object = seconds, object
	}
}

// A Mark is the greatest position of a part of a source that driftd has read.
type Mark struct {
	Position
	// Seen is the time at which the mark was recorded.
	Seen time.Time
	// Older describes the positions below the mark that were read since; nil if there are none.
	Older *Older `json:",omitempty"`
}

// An Older is a series of positions below a mark in which no position is less than the one before.
type Older struct {
	First, Last int64
	Since       time.Time
}

// A Staleness is the reason why a part of a snapshot may come from an old copy of the source's
// data, with the next step.
type Staleness struct {
	Scope
	Reason string
}

// Doubt records that the scope may have been read from an old copy of the source's data. The scope
// is then no longer complete, so that absence from it proves nothing and no finding is resolved.
func (s *Snapshot) Doubt(scope Scope, reason string) {
	s.Stale = append(s.Stale, Staleness{scope, reason})
	for i := range s.Coverage {
		if c := &s.Coverage[i]; c.Complete && scope.Contains(c.Kind, c.Place) {
			c.Complete, c.Reason = false, reason
		}
	}
}

// StaleIn returns the reason why a resource with the kind and place may come from an old copy of
// the data; "" if there is no sign of one.
func (s *Snapshot) StaleIn(kind, place string) string {
	for i := range s.Stale {
		if s.Stale[i].Contains(kind, place) {
			return s.Stale[i].Reason
		}
	}
	return ""
}

// Current returns a copy of the snapshot without the resources that may come from an old copy of
// the data.
func (s *Snapshot) Current() Snapshot {
	current := *s
	if len(s.Stale) > 0 {
		current.Resources = slices.DeleteFunc(slices.Clone(s.Resources), func(r Resource) bool { return s.StaleIn(r.Kind, r.Place) != "" })
	}
	return current
}

// Has reports whether the snapshot contains the resource.
func (s *Snapshot) Has(ref Ref) bool { return s.Find(ref) != nil }

// Find returns a pointer to the resource in the snapshot, or nil if the snapshot does not contain
// it.
func (s *Snapshot) Find(ref Ref) *Resource {
	if ref == (Ref{}) {
		return nil
	}
	key := Key{Source: s.Source, Kind: ref.Kind, ID: ref.ID}
	i, ok := sort.Find(len(s.Resources), func(i int) int { return key.Compare(s.Resources[i].Key) })
	if !ok {
		return nil
	}
	return &s.Resources[i]
}
