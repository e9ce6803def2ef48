package model

import (
	"slices"
	"strings"
	"time"
)

// An Extent is a set of resources that an unreadable part of a declaration may
// declare. Each empty field stands for anything.
type Extent struct {
	// Kind is the name of a kind. A name that ends in ".*" stands for the kind in
	// every group: "kubernetes/Ingress.*".
	Kind  string
	Place string
	// Placeless limits the extent to resources without a place.
	Placeless bool
	Name      string
}

// Holds reports whether the extent contains the resource.
func (e Extent) Holds(r *Resource) bool {
	return (e.Kind == "" || e.holdsKind(r.Kind)) && (e.Name == "" || e.Name == r.Name) &&
		(e.Place == "" || e.Place == r.Place) && (!e.Placeless || r.Place == "")
}

func (e Extent) holdsKind(kind string) bool {
	bare, anyGroup := strings.CutSuffix(e.Kind, ".*")
	if !anyGroup {
		return kind == e.Kind
	}
	rest, ok := strings.CutPrefix(kind, bare)
	return ok && (rest == "" || rest[0] == '.')
}

// MayDeclare reports whether the part may declare the resource.
func (p *Problem) MayDeclare(r *Resource) bool {
	return !p.Bounded || slices.ContainsFunc(p.Extents, func(e Extent) bool { return e.Holds(r) })
}

// MayDeclareAt reports whether the part may declare the resource and names its place.
func (p *Problem) MayDeclareAt(r *Resource) bool {
	return p.Bounded && slices.ContainsFunc(p.Extents, func(e Extent) bool {
		return e.Holds(r) && (e.Placeless || e.Place != "")
	})
}

// An Unjudged is why a live resource that no declaration claims was not judged.
type Unjudged struct {
	// Declaration and Address name the unreadable part that may declare it; "" if there
	// is none.
	Declaration, Address string
	// Reason is why that part could not be read, or else why the resource is watched.
	Reason string
	// Older reports whether it lies outside of every governed scope and existed at the
	// first complete look.
	Older bool
	// Expected reports whether it would be unmanaged otherwise. Only such resources are
	// counted: an unreadable part may also declare resources outside of every governed
	// scope.
	Expected bool
}

// A FirstRead describes the first snapshot that read one scope of a source in full.
type FirstRead struct {
	Source string
	Scope
	// Newest is the creation time of the newest resource in that snapshot, by the
	// source's own clock; zero if there was none.
	Newest time.Time
}

// MaxUnjudged bounds the resources that a NotJudged lists.
const MaxUnjudged = 200

// NotJudged counts the live resources of a source that were not judged for one
// reason.
type NotJudged struct {
	Source string `json:"source"`
	// Declaration and Address name the part that could not be read. They are empty if
	// Older is set.
	Declaration string `json:"declaration,omitempty"`
	Address     string `json:"address,omitempty"`
	// Older reports whether the resources lie outside of every governed scope and
	// existed at the first complete look.
	Older  bool   `json:"older,omitempty"`
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Resources are the first of them by key, at most MaxUnjudged.
	Resources []NotJudgedResource `json:"resources"`
}

// A NotJudgedResource is one resource of a NotJudged.
type NotJudgedResource struct {
	Kind  string `json:"kind"`
	ID    string `json:"resource"`
	Place string `json:"namespace"`
	// Watched is why the resource is watched; "" if it is not.
	Watched string `json:"watched,omitempty"`
}

// A NotGoverned is a place into which a declaration puts objects and which it
// does not govern.
type NotGoverned struct {
	Source      string `json:"source"`
	Place       string `json:"namespace"`
	Declaration string `json:"declaration"`
	// Remedy is how to govern the place.
	Remedy string `json:"remedy"`
}
