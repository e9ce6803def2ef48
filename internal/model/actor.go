package model

import (
	"cmp"
	"strings"
)

// ViaManagedFields is the Via of an actor that Kubernetes' managedFields name. Its name is a
// field manager, such as kubectl-edit, which is a program.
const ViaManagedFields = "managedFields"

// ViaAction is the Via of driftd itself, which put a resource back. Evidence is the ID of the action.
const ViaAction = "action"

// IsPerson reports whether the actor may be a person who can be asked: it is known, and its
// name is that of a user or an author, and not that of a program, of a system account of
// Kubernetes, of an API token of Proxmox VE or of a bot of GitHub.
func (a Actor) IsPerson() bool {
	program := a.Via == ViaManagedFields || a.Via == ViaAction || strings.HasPrefix(a.Name, "system:") || strings.Contains(a.Name, "!") ||
		strings.HasSuffix(a.Name, "[bot]")
	return a.Confidence != Unknown && a.Name != "" && !program
}

// Label returns the name of the actor, or that of UnknownActor if it has none.
func (a Actor) Label() string { return actorLabel(a.Name) }

func actorLabel(name string) string { return cmp.Or(name, UnknownActor("").Name) }

// Person returns the person who made a change of the finding, if the evidence names one.
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

// Compare orders actors: known ones before unknown ones, then the latest first.
func (a Actor) Compare(b Actor) int {
	known := func(x Actor) int {
		if x.Confidence == Unknown {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(known(a), known(b)), b.At.Compare(a.At), cmp.Compare(a.Name, b.Name))
}

// LiftActor returns the first actor of the changes by Compare, and removes it from the
// changes that have it. There is at least one change, and each has an actor.
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

// Values of Via of an unknown actor: the event whose time At is.
const (
	ViaCreation   = "its creation"
	ViaLastChange = "its last change of any kind, so then or before"
)
