package model

import (
	"slices"
	"strings"
	"time"
)

// An Extent is a set of resources that an unreadable part of a declaration may
// declare. Each empty field stands for anything.
type Extent struct {
	// Kind is a kind's name. One that ends in ".*" stands for that kind of
	// every group: "kubernetes/Ingress.*".
	Kind  string
	Place string
	// Placeless limits the extent to resources that lie in no place.
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

// MayDeclare reports whether the part could declare the resource, as far as the
// part shows what it declares.
func (p *Problem) MayDeclare(r *Resource) bool {
	return !p.Bounded || slices.ContainsFunc(p.Extents, func(e Extent) bool { return e.Holds(r) })
}

// MayDeclareAt reports whether the part could declare the resource, and names
// the place where it lies.
func (p *Problem) MayDeclareAt(r *Resource) bool {
	return p.Bounded && slices.ContainsFunc(p.Extents, func(e Extent) bool {
		return e.Holds(r) && (e.Placeless || e.Place != "")
	})
}

// An Unjudged says why a live resource that no declaration claims was not
// judged.
type Unjudged struct {
	// Declaration and Address name the unreadable part that may declare it;
	// they are empty where Older.
	Declaration, Address string
	// Reason is why that part could not be read, or why the resource would
	// have mattered.
	Reason string
	// Older reports that it lies outside of every governed scope and existed at
	// the first complete look.
	Older bool
	// Expected reports that it would have been unmanaged otherwise. Only those
	// are counted: an unreadable part may also declare what lies in no governed
	// scope.
	Expected bool
}

// A FirstLook is the first complete look at the resources of one scope of a
// source.
type FirstLook struct {
	Source string
	Scope
	// Newest is when the newest of the resources that were seen then was
	// created, by the source's own clock; zero where there was none.
	Newest time.Time
}

// MaxUnjudged bounds the resources that a NotJudged lists.
const MaxUnjudged = 200

// NotJudged counts the live resources of a source that were not judged for one
// reason.
type NotJudged struct {
	Source string `json:"source"`
	// Declaration and Address name the part that could not be read; they are
	// empty where Older.
	Declaration string `json:"declaration,omitempty"`
	Address     string `json:"address,omitempty"`
	// Older reports that the resources lie outside of every governed scope and
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
	// Watched says what makes it worth a look; "" where nothing does.
	Watched string `json:"watched,omitempty"`
}

// A NotGoverned is a place into which a declaration puts objects and which it
// does not govern.
type NotGoverned struct {
	Source      string `json:"source"`
	Place       string `json:"namespace"`
	Declaration string `json:"declaration"`
	// Remedy says how to have the place governed.
	Remedy string `json:"remedy"`
}
