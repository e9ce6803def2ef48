package model

import "time"

// A Violation is a failed check of a resource, a claim or a part of a declaration: a tool's own
// state, such as a suspended Flux Kustomization, or a declaration that is not fit to be enforced.
type Violation struct {
	// Check is the stable ID of the check: "flux/suspended".
	Check string
	// Verdict is Violated or Nondeterministic; "" means Violated.
	Verdict  Verdict
	Severity Severity
	// Path is the field that fails the check, and Value its value; "" and nil if there is no
	// single one.
	Path  string
	Value *Value
	// Reason is the failure and the next step. It does not change while the failure stays the
	// same: it has no ages and no counters.
	Reason string
	// Actor is who caused the failure, and when.
	Actor Actor
	// WaitsFor are the resources of the same source for which the resource waits. If one of them fails, the
	// violation is theirs.
	WaitsFor []Ref
	// Since is when a tool began work on the resource that has not ended; zero if the resource does not show that time, and
	// nil if no tool is at work. It is no violation while the work is recent.
	Since *time.Time
}

// A PartViolation is a failed check of a part of a declaration that is no resource, such as a
// lock file.
type PartViolation struct {
	// Address is the file, with the line if it is known.
	Address string
	Violation
}
