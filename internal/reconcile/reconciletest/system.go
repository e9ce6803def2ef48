// Package reconciletest provides a fake live system and its actuator, for tests.
package reconciletest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// A System is a fake live system with a single field, and the reconcile.Actuator for it. Like every
// actuator, it writes only if the field still has the old value.
type System struct {
	mu sync.Mutex
	// Value is the value of the field, Owner is its owner, UID identifies the resource, and Writes is the
	// number of writes that had an effect.
	Value, Owner, UID string
	Writes            int
	// Before and After, if set, are called before and after a write. An error of After simulates a failed
	// response to a write that took effect.
	Before, After func() error
	// Rewrite, if set, returns the value that the system stores instead of the written one, as an admission
	// controller does.
	Rewrite func(string) string
	// Unexpected are the paths that receipts contain as changed beyond the plan.
	Unexpected []string
	// BeforePlan, if set, is called before a plan is made.
	BeforePlan func() error
	// Planned is the subject of the last plan, and Plans is the number of plans.
	Planned reconcile.Subject
	Plans   int
	// InspectErr and HandErr, if not nil, are the errors that Inspect and HandBack return.
	InspectErr, HandErr error
}

// Plan implements reconcile.Actuator. The plan sets the field to the declared value of the finding.
func (s *System) Plan(_ context.Context, subject reconcile.Subject) (reconcile.Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Planned, s.Plans = subject, s.Plans+1
	if s.BeforePlan != nil {
		if err := s.BeforePlan(); err != nil {
			return nil, err
		}
	}
	c := subject.Finding.Changes[0]
	if c.Live.Str() != s.Value {
		return nil, &reconcile.Refusal{Guard: "still-so", Why: "the live value changed since the scan"}
	}
	return &change{s, reconcile.Plan{UID: s.UID, Endpoint: "test", Identity: "writer", HandBack: "git",
		Changes: []reconcile.FieldChange{{Path: c.Path, Old: c.Live, New: c.Declared}}}}, nil
}

// Inspect implements reconcile.Actuator.
func (s *System) Inspect(_ context.Context, _ model.Key, p reconcile.Plan) (reconcile.Inspection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.InspectErr != nil:
		return "", s.InspectErr
	case s.UID != p.UID:
		return reconcile.AsOther, nil
	case s.Value == p.Changes[0].New.Str():
		return reconcile.AsWanted, nil
	case s.Value == p.Changes[0].Old.Str():
		return reconcile.AsBefore, nil
	}
	return reconcile.AsOther, nil
}

// HandBack implements reconcile.Actuator. It sets the owner.
func (s *System) HandBack(_ context.Context, _ model.Key, p reconcile.Plan) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.HandErr == nil {
		s.Owner = p.HandBack
	}
	return s.HandErr
}

// Limit implements reconcile.Actuator. It returns a limit that no test exceeds.
func (s *System) Limit() time.Duration { return 30 * time.Second }

// Rights implements reconcile.Actuator. It returns no rights.
func (s *System) Rights(context.Context, []reconcile.Rule) (reconcile.Rights, error) {
	return reconcile.Rights{}, nil
}

// Set sets the value, as a person would do.
func (s *System) Set(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Value, s.Owner = value, "hand"
}

type change struct {
	s    *System
	plan reconcile.Plan
}

// Plan implements reconcile.Change.
func (c *change) Plan() reconcile.Plan { return c.plan }

// Rehearse implements reconcile.Change. It returns nil.
func (c *change) Rehearse(context.Context) error { return nil }

// Write implements reconcile.Change. It sets the field.
func (c *change) Write(context.Context) (reconcile.Receipt, error) {
	if c.s.Before != nil {
		if err := c.s.Before(); err != nil {
			return reconcile.Receipt{}, err
		}
	}
	c.s.mu.Lock()
	fits := c.s.Value == c.plan.Changes[0].Old.Str() && c.s.UID == c.plan.UID
	if fits {
		c.s.Value, c.s.Owner = c.plan.Changes[0].New.Str(), "driftd"
		if c.s.Rewrite != nil {
			c.s.Value = c.s.Rewrite(c.s.Value)
		}
		c.s.Writes++
	}
	c.s.mu.Unlock()
	if !fits {
		return reconcile.Receipt{}, &reconcile.NotWrittenError{Err: errors.New("a tested value changed")}
	}
	if c.s.After != nil {
		if err := c.s.After(); err != nil {
			return reconcile.Receipt{}, err
		}
	}
	return reconcile.Receipt{Status: 200, Request: "r1", Unexpected: c.s.Unexpected}, nil
}
