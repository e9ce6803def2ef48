package model

import (
	"slices"
	"strconv"
	"time"
)

// A Position is the version of the data of a part of a source: a number that only the
// source sets, and only increases, such as the ID of its last change.
type Position struct {
	// Scope is the part.
	Scope
	// Name is the source's name of the number.
	Name  string
	Value int64
	// Object is the ID of the object of the scope's kind whose last change the position
	// is: after that object is deleted, a lower position proves nothing. Value is a time
	// then, in seconds since 1970. "" if the source counts.
	Object string `json:",omitempty"`
	// Lineage is the identity of the counter; positions of different lineages are not
	// comparable. "" if it is not known.
	Lineage string `json:",omitempty"`
	// Asked is when the read of the part began.
	Asked time.Time
}

// String returns the value as text.
func (p Position) String() string {
	if p.Object != "" {
		return time.Unix(p.Value, 0).UTC().Format(time.RFC3339)
	}
	return strconv.FormatInt(p.Value, 10)
}

// Raise sets the position to an object's last change, if that is later.
func (p *Position) Raise(at time.Time, object string) {
	if seconds := at.Unix(); !at.IsZero() && seconds > p.Value {
		p.Value, p.Object = seconds, object
	}
}

// A Mark is the greatest position of a part that driftd has read.
type Mark struct {
	Position
	// Seen is when it was recorded.
	Seen time.Time
	// Older are the positions below it that were read since; nil if there are none.
	Older *Older `json:",omitempty"`
}

// Older is a series of positions below a mark that does not decrease.
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

// Doubt records that a scope may have been read from an old copy of the source's data. The
// scope does not count as read then: absence proves nothing and no finding is resolved.
func (s *Snapshot) Doubt(scope Scope, reason string) {
	s.Stale = append(s.Stale, Staleness{scope, reason})
	for i := range s.Coverage {
		if c := &s.Coverage[i]; c.Complete && scope.Contains(c.Kind, c.Place) {
			c.Complete, c.Reason = false, reason
		}
	}
}

// StaleIn returns why a resource of this kind and place may come from an old copy; "" if
// there is no sign of that.
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
func (s *Snapshot) Has(ref Ref) bool { return s.Find(ref) != nil }

// Find returns the resource, or nil.
func (s *Snapshot) Find(ref Ref) *Resource {
	i, ok := slices.BinarySearchFunc(s.Resources, Key{Source: s.Source, Kind: ref.Kind, ID: ref.ID}, func(r Resource, k Key) int { return r.Compare(k) })
	if !ok {
		return nil
	}
	return &s.Resources[i]
}
