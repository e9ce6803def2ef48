package model

// An AuditEvent is one entry in a log of changes.
type AuditEvent struct {
	// Ref is the changed resource. If it is zero, the entry may concern any resource, such as the renaming of a
	// tag. If only the ID is empty, it may concern any resource of the kind.
	Ref
	Action Action
	// Fields lists the paths in Resource.Value that the entry contains. If it is empty, any field may have
	// changed.
	Fields []string
	// Excluded lists paths for which the entry is no evidence, including everything below them, because the
	// resource now has a value there that the entry did not set.
	Excluded []string
	// LastValue is the value of a deleted resource in the form of Resource.Value; null if the log does not
	// contain it.
	LastValue Value
	// Texts lists the texts that were added to or removed from the fields, or a text and its replacement. If it
	// is empty, any text may have changed.
	Texts []string
	// Writer is the name in Resource.Owners of the tool that was used; "" if the log does not contain it.
	Writer string
	// Account is the authenticated user behind Actor, which can be an impersonated one; "" if the log does not
	// contain it.
	Account string
	// Actor is the actor of the change, with the time and the evidence.
	Actor Actor
	// Quotes lists the values that Actor.Evidence contains, until they are sealed.
	Quotes []Quote
}

// An Action is the type of change that an AuditEvent records.
type Action uint8

// The actions.
const (
	Edited Action = iota
	Created
	Deleted
)
