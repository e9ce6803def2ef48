package model

import "cmp"

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
