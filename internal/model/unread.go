package model

import "strings"

// An Unread is a resource that exists but could not be read.
type Unread struct {
	Ref
	// Place, Name and Parent are as in Resource, as far as they are known.
	Place, Name string
	Parent      Ref
	// SystemOwned is the reason why no declaration is expected to declare the resource, at least until it is
	// read; "" otherwise.
	SystemOwned string
	// Identities lists the known identities of the resource. It may have others, by which a claim can match it.
	Identities []Identity
	// Reason is why the resource could not be read, with the next step.
	Reason string
	// All reports whether the entry stands for all resources of its kind whose IDs begin with ID, such as the entries of a list
	// that could not be read. The snapshot has no other entry for these.
	All bool
}

// Includes reports whether the entry stands for the resource.
func (u *Unread) Includes(ref Ref) bool {
	return u.Ref == ref || u.All && u.Kind == ref.Kind && strings.HasPrefix(ref.ID, u.ID)
}
