package model

import (
	"cmp"
	"strings"
	"time"
)

// An Owner is one entry of a live system's record of the writers of fields. The following table shows the
// fields that are set in Kubernetes:
//
//	kubectl apply --server-side    Applies, Delivers
//	kubectl apply                  Delivers, Records
//	helm                           Delivers
//	kubectl edit, patch, scale     Edits
//	before-first-apply             Inherits
//	a controller                   none of them
//
// Writers choose their own names, so fields that are set by name alone are no proof.
type Owner struct {
	// Name is the system's name of the writer (a field manager).
	Name string
	// Applies reports whether the writer applies declarations and owns the declared fields, instead of editing
	// single fields.
	Applies bool
	// Delivers reports whether the writer is a tool that applies declarations.
	Delivers bool
	// Edits reports whether the writer is a tool for manual edits, which never applies declarations.
	Edits bool
	// Records reports whether the writer wrote Resource.LastApplied.
	Records bool
	// Inherits reports whether the entry represents all writers from before the system began to record them.
	Inherits bool
	// Through is the name of the subresource through which the writer wrote, such as "scale"; "" for the
	// resource itself.
	Through string
	// At is the time of its last write; zero if unknown.
	At time.Time
	// Fields contains the fields that the writer set and that no other writer has set since.
	Fields FieldSet
	// User is the user who made the last write, according to an audit log; "" if unknown.
	User string
	// Evidence is the entry of the audit log that contains User.
	Evidence string
	// Accounts lists all authenticated users of the writer in the audit log, sorted, without the users that
	// they impersonated. It is empty if no log records them.
	Accounts []string
	// Before lists earlier users of the writer, sorted. Any of Fields may have been set by one of them.
	Before []string
	// BeforeUnknown reports whether the audit log may lack earlier users of the writer, because it begins after
	// the resource was created. Any of Fields may have been set by one of them.
	BeforeUnknown bool
}

// Actor returns the owner, of a record with the given name, as an actor. Without an owner the actor is unknown.
func (o *Owner) Actor(record string) Actor {
	if o == nil {
		return UnknownActor("the object does not say who wrote it; a finding names whom the logs name")
	}
	if who, ok := o.LoggedUser(); ok {
		return who
	}
	return Actor{Name: o.Name, At: o.At, Via: record, Confidence: Likely}
}

// AuditLog is the Actor.Via of an actor that comes from an audit log.
const AuditLog = "audit log"

// LoggedUser returns the owner's user as an actor; ok is false if the user is unknown. If several users used
// the same writer, or may have, the confidence is Likely, since no record shows which of them set a field.
func (o *Owner) LoggedUser() (who Actor, ok bool) {
	who = Actor{Name: o.User, At: o.At, Via: AuditLog, Evidence: o.Evidence, Confidence: Exact}
	switch {
	case len(o.Before) > 0:
		who.Confidence = Likely
		who.Evidence += ", used before by " + strings.Join(o.Before, " and ")
	case o.BeforeUnknown:
		who.Confidence = Likely
		who.Evidence += ", which others may have used before the log begins"
	}
	return who, o.User != ""
}

// wroteWhole reports whether the owner wrote the resource itself at or after since.
func (o *Owner) wroteWhole(since time.Time) bool { return o.Through == "" && !o.At.Before(since) }

// LastWriter returns the last writer of the resource according to its Owners.
func (r *Resource) LastWriter() Actor { return r.LastOwner(time.Time{}).Actor(r.OwnersFrom) }

// LastOwner returns the owner that wrote the resource last, or nil if there are no owners. An owner that wrote through
// a subresource is returned only if no other wrote after since: controllers note there what they saw of the
// writes of others.
func (r *Resource) LastOwner(since time.Time) *Owner {
	since = since.Truncate(time.Second) // as the times of owners
	order := func(a, b *Owner) int {
		return cmp.Or(
			CompareBool(a.wroteWhole(since), b.wroteWhole(since)),
			a.At.Compare(b.At),
			CompareBool(a.Edits, b.Edits), // Of two in the same second, the edit followed the apply.
		)
	}
	var last *Owner
	for i := range r.Owners {
		if o := &r.Owners[i]; last == nil || order(o, last) > 0 {
			last = o
		}
	}
	return last
}
