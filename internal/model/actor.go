package model

import (
	"cmp"
	"strings"
)

// ViaManagedFields is the Via of an actor that comes from the managedFields of a Kubernetes object.
// The Name of such an actor is a field manager, such as kubectl-edit: a program, not a person.
const ViaManagedFields = "managedFields"

// ViaClusterLog is the Via of an actor that comes from the cluster log of Proxmox VE. Evidence is then the line with the
// options and their values.
const ViaClusterLog = "cluster log"

// ViaAction is the Via of driftd itself after it put a resource back. Evidence is then the ID of
// the action.
const ViaAction = "action"

// IsPerson reports whether the actor may be a person who can be asked about the change. It returns
// false if the actor is unknown or has no name, and for programs, system accounts of Kubernetes,
// API tokens of Proxmox VE and bots of GitHub.
func (a Actor) IsPerson() bool {
	program := a.Via == ViaManagedFields || a.Via == ViaAction || strings.HasPrefix(a.Name, "system:") || strings.Contains(a.Name, "!") ||
		strings.HasSuffix(a.Name, "[bot]")
	return a.Confidence != Unknown && a.Name != "" && !program
}

// Label returns the name of the actor, or "unknown" if it has none.
func (a Actor) Label() string { return actorLabel(a.Name) }

func actorLabel(name string) string { return cmp.Or(name, UnknownActor("").Name) }

// Person returns the actor of the finding, or else the first actor of its changes, for which
// IsPerson is true. If there is none, ok is false.
func (f *Finding) Person() (a Actor, ok bool) {
	if f.Actor.IsPerson() {
		return f.Actor, true
	}
	for i := range f.Changes {
		if c := &f.Changes[i]; c.Actor != nil && c.Actor.IsPerson() {
			return *c.Actor, true
		}
	}
	return Actor{}, false
}

// Compare orders actors: known ones before unknown ones, then by time, the latest first, then by
// name. It returns a negative number if a sorts before b.
func (a Actor) Compare(b Actor) int {
	known := func(x Actor) int {
		if x.Confidence == Unknown {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(known(a), known(b)), b.At.Compare(a.At), cmp.Compare(a.Name, b.Name))
}

// LiftActor returns the actor that sorts first by Compare, and sets Actor to nil in each change
// with an equal actor. It panics if changes is empty or if a change has no actor.
func LiftActor(changes []Change) Actor {
	best := *changes[0].Actor
	for _, c := range changes[1:] {
		if c.Actor.Compare(best) < 0 {
			best = *c.Actor
		}
	}
	for i := range changes {
		if *changes[i].Actor == best {
			changes[i].Actor = nil
		}
	}
	return best
}

// These values of Via name the event at the time At if the actor is unknown.
const (
	ViaCreation   = "its creation"
	ViaLastChange = "its last change of any kind, so then or before"
)
