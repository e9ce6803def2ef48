// Package reconciletest is a stand-in for a live system and its actuator. Only tests import it.
package reconciletest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// A System is a live system that consists of one field, and the reconcile.Actuator of it. It writes only
// if the field still has the old value, as every actuator must.
type System struct {
	mu sync.Mutex
	// Value is the value of the field, Owner its owner, UID identifies the resource, and Writes
	// counts the writes that had an effect.
	Value, Owner, UID string
	Writes            int
	// Before and After are called around a write, if set. An error of After is one of the answer.
	Before, After func() error
	// Rewrite returns what admission makes of a value, if set.
	Rewrite func(string) string
	// Unexpected are the paths that receipts name as changed beyond the plan.
	Unexpected []string
	// BeforePlan is called before a plan, if set.
	BeforePlan func() error
	// Planned is the subject of the last plan, and Plans counts the plans.
	Planned reconcile.Subject
	Plans   int
	// InspectErr and HandErr are errors of the methods.
	InspectErr, HandErr error
}

// Plan plans to set the field to the declared value of the finding.
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

// Inspect compares the field with a plan.
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

// HandBack sets the owner.
func (s *System) HandBack(_ context.Context, _ model.Key, p reconcile.Plan) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.HandErr == nil {
		s.Owner = p.HandBack
	}
	return s.HandErr
}

// Limit returns a limit that no test reaches.
func (s *System) Limit() time.Duration { return 30 * time.Second }

// Rights returns none.
func (s *System) Rights(context.Context, []reconcile.Rule) (reconcile.Rights, error) {
	return reconcile.Rights{}, nil
}

// Set sets the value, as a person does.
func (s *System) Set(value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Value, s.Owner = value, "hand"
}

type change struct {
	s    *System
	plan reconcile.Plan
}

// Plan returns the plan.
func (c *change) Plan() reconcile.Plan { return c.plan }

// Rehearse returns nil.
func (c *change) Rehearse(context.Context) error { return nil }

// Write sets the field.
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
