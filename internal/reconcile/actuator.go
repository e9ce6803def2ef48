package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An Actuator changes resources of one live system or of one declaration, so that findings are resolved. It
// never retries a write.
type Actuator interface {
	// Plan reads the resource of the subject and returns the change that puts it back. It does not write.
	// It returns a *Refusal if the resource must not be put back, or differs from the finding.
	Plan(ctx context.Context, s Subject) (Change, error)
	// Inspect reads the resource again and compares it with the fields of a plan that may have been carried
	// out.
	Inspect(ctx context.Context, subject model.Key, p Plan) (Inspection, error)
	// HandBack assigns the fields that the actuator owns after a write to the field manager p.HandBack. It
	// does nothing if the actuator owns none.
	HandBack(ctx context.Context, subject model.Key, p Plan) error
	// Limit returns the maximum duration of each method, and of the time until a write takes effect.
	Limit() time.Duration
	// Rights returns the permissions of the actuator's credentials, compared with those that the rules of
	// its source need. See Of.
	Rights(ctx context.Context, rules []Rule) (Rights, error)
}

// A Deleter is an Actuator that can also delete resources that no declaration declares.
type Deleter interface {
	Actuator

	// Deletes reports whether the actuator can delete resources of a kind.
	Deletes(kind string) bool
}

// A Subject is the resource of a finding and the declared state for it.
type Subject struct {
	Finding *model.Finding
	// Declared is the value of the claim in the form in which the source stores it. Written is the value in
	// the form of the declaration. Secrets in both are sealed. Both are null for a resource that is not
	// declared.
	Declared, Written model.Value
	// Live is the resource at the last read of the source, or null if it did not exist.
	Live model.Value
	// Named reports whether the rule contains the exact kind of the finding, instead of a pattern.
	Named bool
	// Others are the other open findings of the same declaration or the same source.
	Others []*model.Finding
	// Lens converts the resource to the form of the declaration. It is nil if that is the form of the
	// source.
	Lens model.Lens
	// Revision is the commit of the declaration, or "" if it has none.
	Revision string
	// Opposed are the names of other declarations that declare a value other than the live one for a field
	// of the finding, sorted.
	Opposed []string
	// Note is a text with the finding, and with the persons who requested and approved the action, for
	// systems that store a note with each change.
	Note string
	// Covers reports whether the rule allows a change of the field with the given path.
	Covers func(path string) bool
	// Again reads the sources of the finding and of the findings in also again. It returns a *Refusal if
	// one of the findings has changed.
	Again func(ctx context.Context, also []Covered) error
	// UID returns the UID of a resource at the last read of the source, or "" if it had none. It must not
	// be nil.
	UID func(model.Ref) string
	// Plain reads the declaration again and returns the value of the claim with secrets in plain text, and
	// the same value with sealed secrets. It is called only if a secret must be written.
	Plain func(context.Context) (plain, sealed model.Value, err error)
}

// A Change is a planned change of one resource. It may contain secrets and must not be stored.
type Change interface {
	// Plan returns the description of the change.
	Plan() Plan
	// Rehearse requests the result from the system without making the change. It returns a *Refusal if the
	// result has other values than planned, or differs from the live resource in fields that are not in the
	// plan.
	Rehearse(ctx context.Context) error
	// Write makes the change, unless the resource differs from the plan. It returns a *Refusal if no
	// request was sent, and a *NotWrittenError if it is certain that nothing was changed. After any other
	// error, the result is unknown. The receipt contains all changes that the system made beyond the plan.
	Write(ctx context.Context) (Receipt, error)
}

// A NotWrittenError is returned by a write that changed nothing.
type NotWrittenError struct{ Err error }

// Error returns the message of Err.
func (e *NotWrittenError) Error() string { return fmt.Sprintf("nothing was changed: %v", e.Err) }

// Unwrap returns Err.
func (e *NotWrittenError) Unwrap() error { return e.Err }

// An Inspection is the result of comparing the live resource with a plan.
type Inspection string

// The results of an inspection: all fields have the planned values (AsWanted); all have them, but some take
// effect only after a restart (AsWaiting); all have their previous values (AsBefore); none of these
// (AsOther).
const (
	AsWanted  Inspection = "as-wanted"
	AsWaiting Inspection = "as-waiting"
	AsBefore  Inspection = "as-before"
	AsOther   Inspection = "other"
)

// Inspected returns AsWanted if all fields of a plan have the planned values, AsBefore if all have their
// previous values, and AsOther otherwise.
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

// Rights are the permissions of an actuator's credentials.
type Rights struct {
	Endpoint string `json:"endpoint"`
	Identity string `json:"identity"`
	// May are descriptions of the permissions that the credentials have. Excess are those of them that the
	// actuator does not need. Missing are those that it needs but the credentials do not have.
	May     []string `json:"may"`
	Excess  []string `json:"excess,omitempty"`
	Missing []string `json:"missing,omitempty"`
}
