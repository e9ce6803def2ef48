package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/putback"
	"github.com/driftd/driftd/internal/reconcile"
)

// A change is a change of one object that is planned and not made.
type change struct {
	actuator *Actuator
	key      model.Key
	plan     reconcile.Plan
	// requests returns the requests for the object as it was read right before.
	requests func(*object) []request
	again    func(context.Context, []reconcile.Covered) error
}

// Plan implements reconcile.Actuator.
func (a *Actuator) Plan(ctx context.Context, s reconcile.Subject) (reconcile.Change, error) {
	f := s.Finding
	if f.Verdict == model.Missing {
		return nil, refuse(guardKind, "driftd creates nothing in OpenStack: `driftd suggest %s` shows what to do", f.ID)
	}
	c := &change{actuator: a, key: f.Key, again: s.Again}
	c.plan.UID = f.Key.ID
	err := a.with(ctx, a.options.Reading, 0, func(session *openstackapi.Session) error {
		o, err := read(ctx, session, f.Key)
		switch {
		case errors.Is(err, errGone):
			return refuse(guardStillSo, "%v: look again", errGone)
		case err != nil:
			return explainRead(session, err)
		case o.Busy != "":
			return refuse(guardStillSo, "%s", o.Busy)
		}
		c.plan.System = session.Grant.Project.ID
		if f.Verdict == model.Unmanaged {
			return c.deletes(&s, o)
		}
		return c.sets(ctx, session, &s, o)
	})
	if err != nil {
		return nil, err
	}
	return c, a.checkWriter(ctx, &c.plan, f.Place)
}

// sets plans to give the fields of a finding their declared values.
func (c *change) sets(ctx context.Context, session *openstackapi.Session, s *reconcile.Subject, o *object) error {
	targets, err := c.actuator.targetsOf(ctx, session, s, o)
	if err != nil {
		return err
	}
	for i := range targets {
		t := &targets[i]
		c.plan.Changes = append(c.plan.Changes, reconcile.FieldChange{Path: t.Path, Old: t.Old, New: t.Wanted})
		if t.field == security || t.field == groups {
			c.plan.Person = "what filters the packets of a port"
		}
	}
	slices.SortFunc(c.plan.Changes, func(a, b reconcile.FieldChange) int { return strings.Compare(a.Path, b.Path) })
	c.requests = func(now *object) []request { return requestsFor(now, targets) }
	requests := c.requests(o)
	if len(requests) == 0 {
		return refuse(guardStillSo, "it has the declared values: look again")
	}
	for i := range requests {
		if len(requests) > 1 { // the fields show what a single one does
			c.plan.Requests = append(c.plan.Requests, requests[i].words)
		}
	}
	return nil
}

// deletes plans to delete the object. The plan has all its fields.
func (c *change) deletes(s *reconcile.Subject, o *object) error {
	if !o.kind.Own(s.Live).Equal(o.Value) {
		return refuse(guardStillSo, "it changed since the scan: look again")
	}
	c.plan.Deletes = true
	for _, f := range o.Value.Fields() {
		c.plan.Changes = append(c.plan.Changes, reconcile.FieldChange{Path: f.Name, Old: &f.Value})
	}
	slices.SortFunc(c.plan.Changes, func(a, b reconcile.FieldChange) int { return strings.Compare(a.Path, b.Path) })
	c.requests = func(now *object) []request {
		return []request{{openstackapi.Request{Method: http.MethodDelete, Service: now.kind.Service, Path: now.pathOf(now.ID), Header: now.revision()}, "delete it"}}
	}
	return nil
}

// checkWriter enters who writes where, and refuses an account that cannot change the object.
func (a *Actuator) checkWriter(ctx context.Context, p *reconcile.Plan, project string) error {
	return a.with(ctx, a.writing(), 0, func(s *openstackapi.Session) error {
		p.Endpoint, p.Identity = s.Server(), identity(s)
		if why := lacking(s); why != "" {
			return refuse(guardRights, "%s", why)
		}
		if own := s.Grant.Project; project != "" && own.ID != project && !slices.Contains(roles(s), "admin") {
			return refuse(guardRights, "%s belongs to project %s (%s), and the object to project %s: use an entry of clouds_file for that project", identity(s), own.Name, own.ID, project)
		}
		return nil
	})
}

// Inspect implements reconcile.Actuator.
func (a *Actuator) Inspect(ctx context.Context, key model.Key, p reconcile.Plan) (inspection reconcile.Inspection, err error) {
	err = a.with(ctx, a.options.Reading, 0, func(session *openstackapi.Session) error {
		if project := session.Grant.Project; project.ID != p.System {
			return fmt.Errorf("the account of the source belongs to project %s (%s) now, and not to %s any more", project.Name, project.ID, p.System)
		}
		o, err := read(ctx, session, key)
		switch {
		case errors.Is(err, errGone) && p.Deletes:
			inspection = reconcile.AsWanted
		case errors.Is(err, errGone):
			inspection = reconcile.AsOther
		case err != nil:
			return explainRead(session, err)
		default:
			inspection = putback.Inspect(a.kinds[key.Kind].Schema, o.Value, &p)
		}
		return nil
	})
	return inspection, err
}

// explainRead adds the next step to the error of a read.
func explainRead(s *openstackapi.Session, err error) error {
	return &httpclient.Error{Server: s.Server(), Err: err, Hint: "see the log of the service"}
}
