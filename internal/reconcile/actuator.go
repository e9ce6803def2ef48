package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An Actuator puts back resources of one live system, or those of one declaration. Its methods do not retry a write.
type Actuator interface {
	// Plan reads the resource of the subject and returns the change that puts it back. It writes
	// nothing. The error is a *Refusal if the resource must not be put back, or is not as in
	// the finding.
	Plan(ctx context.Context, s Subject) (Change, error)
	// Inspect reads the resource again and compares the fields of a plan that may have been carried
	// out.
	Inspect(ctx context.Context, subject model.Key, p Plan) (Inspection, error)
	// HandBack gives the fields that the actuator owns after a write to p.HandBack. It does
	// nothing if it owns none.
	HandBack(ctx context.Context, subject model.Key, p Plan) error
	// Limit bounds each method, and is how long a write that was begun may take effect.
	Limit() time.Duration
	// Rights returns what its credentials may do, and compares that with what the rules of its source need, see Of.
	Rights(ctx context.Context, rules []Rule) (Rights, error)
}

// A Deleter is an Actuator that also plans to delete resources that no declaration declares.
type Deleter interface {
	Actuator

	// Deletes reports whether it deletes resources of a kind.
	Deletes(kind string) bool
}

// A Subject is the resource of a finding with what is declared for it.
type Subject struct {
	Finding *model.Finding
	// Declared is the claim's value in the form in which the source stores it, and Written the value
	// in the form of the declaration. Secrets are sealed in both. They are null for a resource that is not declared.
	Declared, Written model.Value
	// Live is the resource as the source read it last; null if it was not there.
	Live model.Value
	// Named reports whether the rule names the kind of the finding itself, and not by a pattern.
	Named bool
	// Others are the other open findings of the same declaration or the same source.
	Others []*model.Finding
	// Lens converts the resource to the form of the declaration; nil if that is the form of the source.
	Lens model.Lens
	// Revision is the commit of the declaration; "" if it has none.
	Revision string
	// Opposed are the other declarations that declare something else than is live for a field of the finding, sorted.
	Opposed []string
	// Note names the finding, and who asked for and approved the action: for systems that keep notes of changes.
	Note string
	// Covers reports whether the rule allows to change a field, by its path.
	Covers func(path string) bool
	// Again reads the sources of the finding, and of others that a plan puts back too, again. The error is a *Refusal if one
	// is not as it was.
	Again func(ctx context.Context, also []Covered) error
	// UID returns the UID that a resource had at the last read of the source; "" if that had none.
	// It is required.
	UID func(model.Ref) string
	// Plain returns the claim's value without sealing, and the same value sealed. It reads the
	// declaration again, and is called only if a secret is to be written.
	Plain func(context.Context) (plain, sealed model.Value, err error)
}

// A Change is a change of one resource that is planned and not made. It may hold secrets, and is
// never stored.
type Change interface {
	// Plan describes it.
	Plan() Plan
	// Rehearse asks the system for the result without making the change. The error is a *Refusal
	// if the result differs from the live resource in other fields than the plan's, or they would
	// get other values.
	Rehearse(ctx context.Context) error
	// Write makes the change, unless the resource is no longer as in the plan. The error is a
	// *Refusal if no request was sent, and a *NotWrittenError if nothing was changed for sure; after any other error it
	// is unknown. The
	// receipt names what the system changed beyond the plan.
	Write(ctx context.Context) (Receipt, error)
}

// A NotWrittenError is the error of a write that changed nothing.
type NotWrittenError struct{ Err error }

// Error returns the text of Err.
func (e *NotWrittenError) Error() string { return fmt.Sprintf("nothing was changed: %v", e.Err) }

// Unwrap returns Err.
func (e *NotWrittenError) Unwrap() error { return e.Err }

// An Inspection is the result of comparing the live resource with a plan.
type Inspection string

// The results: all fields are as the plan wants them; all are set so, and a part takes effect after a restart; all are as
// they were; anything else.
const (
	AsWanted  Inspection = "as-wanted"
	AsWaiting Inspection = "as-waiting"
	AsBefore  Inspection = "as-before"
	AsOther   Inspection = "other"
)

// Inspected returns the result for a plan whose fields are all as it wants them, or all as they were.
func Inspected(wanted, before bool) Inspection {
	switch {
	case wanted:
		return AsWanted
	case before:
		return AsBefore
	}
	return AsOther
}

// isSet reports whether the system has what the plan wants, although it may use that only after a restart.
func (i Inspection) isSet() bool { return i == AsWanted || i == AsWaiting }

// Rights are what the credentials of an actuator may do.
type Rights struct {
	Endpoint string `json:"endpoint"`
	Identity string `json:"identity"`
	// May are the rights that it has, Excess those of them that it does not need, and Missing those that it needs and
	// does not have, in words.
	May     []string `json:"may"`
	Excess  []string `json:"excess,omitempty"`
	Missing []string `json:"missing,omitempty"`
}
