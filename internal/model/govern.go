package model

import (
	"slices"
	"strings"
	"time"
)

// An Extent is a set of resources that an unreadable part of a declaration may declare. An empty
// field matches any value.
type Extent struct {
	// Kind is the name of a kind. A name that ends in ".*", such as "kubernetes/Ingress.*", matches
	// the kind in every group.
	Kind  string
	Place string
	// Placeless restricts the extent to resources without a place.
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

// MayDeclare reports whether the part that could not be read may declare the resource.
func (p *Problem) MayDeclare(r *Resource) bool {
	return !p.Bounded || slices.ContainsFunc(p.Extents, func(e Extent) bool { return e.Holds(r) })
}

// MayDeclareAt reports whether the part is bounded and has an extent that contains the resource and
// names its place.
func (p *Problem) MayDeclareAt(r *Resource) bool {
	return p.Bounded && slices.ContainsFunc(p.Extents, func(e Extent) bool {
		return e.Holds(r) && (e.Placeless || e.Place != "")
	})
}

// An Unjudged is the reason why a live resource that no declaration claims was not judged.
type Unjudged struct {
	// Declaration and Address name the unreadable part that may declare the resource; "" if there
	// is none.
	Declaration, Address string
	// Reason is why that part could not be read, or else why the resource is watched.
	Reason string
	// Older reports whether the resource is outside of every governed scope and existed at the
	// first complete read.
	Older bool
	// Expected reports whether the resource would be unmanaged otherwise. Only such resources are
	// counted, since an unreadable part may also declare resources outside of every governed scope.
	Expected bool
}

// A FirstRead describes the first snapshot in which one scope of a source was complete.
type FirstRead struct {
	Source string
	Scope
	// Newest is the creation time of the newest resource in that snapshot, by the clock of the
	// source; zero if the snapshot had none.
	Newest time.Time
}

// MaxUnjudged is the maximum number of resources that a NotJudged lists.
const MaxUnjudged = 200

// A NotJudged counts the live resources of a source that were not judged for one reason.
type NotJudged struct {
	Source string `json:"source"`
	// Declaration and Address name the part that could not be read; "" if Older is set.
	Declaration string `json:"declaration,omitempty"`
	Address     string `json:"address,omitempty"`
	// Older reports whether the resources are outside of every governed scope and existed at the
	// first complete read.
	Older  bool   `json:"older,omitempty"`
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Resources lists the resources sorted by key, at most MaxUnjudged of them.
	Resources []NotJudgedResource `json:"resources"`
}

// A NotJudgedResource is one resource of a NotJudged.
type NotJudgedResource struct {
	Kind  string `json:"kind"`
	ID    string `json:"resource"`
	Place string `json:"namespace"`
	// Watched is the reason why the resource is watched; "" if it is not.
	Watched string `json:"watched,omitempty"`
}

// A NotGoverned is a place into which a declaration puts objects but which it does not govern.
type NotGoverned struct {
	Source      string `json:"source"`
	Place       string `json:"namespace"`
	Declaration string `json:"declaration"`
	// Remedy describes how to govern the place.
	Remedy string `json:"remedy"`
}
