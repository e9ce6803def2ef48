package model

import "time"

// A Violation is a failed check of a resource, a claim or a part of a declaration. It can concern
// the state of a tool, such as a suspended Flux Kustomization, or a declaration that is not fit to
// be enforced.
type Violation struct {
	// Check is the stable ID of the check, such as "flux/suspended".
	Check string
	// Verdict is Violated or Nondeterministic; "" means Violated.
	Verdict  Verdict
	Severity Severity
	// Path is the field that fails the check, and Value the value of that field; "" and nil if
	// there is no single field.
	Path  string
	Value *Value
	// Reason describes the failure and the next step. It contains no ages or counters, so that it
	// does not change while the failure stays the same.
	Reason string
	// Actor is the actor that caused the failure, with the time.
	Actor Actor
	// Deletion reports whether the check is that the resource is being deleted. It counts only for a declared
	// resource, and the source's logs name the actor; Actor has only the time.
	Deletion bool
	// WaitsFor lists the resources of the same source for which the resource waits. If one of them
	// has a violation, only that one is reported.
	WaitsFor []Ref
	// Since is the time at which a tool began work on the resource that has not ended. It is nil if
	// no tool is at work, and zero if the time is unknown. While the work is recent, there is no
	// violation.
	Since *time.Time
}

// A PartViolation is a failed check of a part of a declaration that is not a resource, such as a
// lock file.
type PartViolation struct {
	// Address is the file, with the line if it is known.
	Address string
	Violation
}
