// Package terraform puts the resources of a Terraform root back to their declared state, with an apply of
// the root.
//
// An apply is never limited with -target. A plan is applied only if it equals the approved one: the same
// commit, the same state, and the same values of all resources. The plan covers all drift of the root, and
// each resource that it changes must have a finding for which an action of its own would be allowed.
// Therefore the action is refused if the root has changes that no pipeline has applied, and for
// replacements, deletions, imports and moves.
//
// Between the plan and the apply, the source of the finding is read again with its own collector. The CLI
// holds the lock of the state during the plan that is applied and during the apply. The lock is never
// broken.
package terraform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// A Root plans and applies a root.
type Root interface {
	// Root returns the location of the root. Timeout returns the maximum duration of one call of Apply.
	Root() string
	Timeout() time.Duration
	// Look returns the effect that an apply of the root would have, as plan.Look does, and the commit that
	// was planned.
	Look(ctx context.Context) (e plan.Effect, commit string, err error)
	// Apply plans the root at a commit, which must be the head of its branch, and applies the plan if
	// permit returns nil, as plan.Apply does.
	Apply(ctx context.Context, commit string, permit func(context.Context, plan.Effect) error) error
}

// An Actuator implements reconcile.Actuator for the resources of one root. It is safe for concurrent use.
type Actuator struct {
	declaration string
	root        Root
	// digest returns a keyed digest of a text.
	digest func(text string) string
	// seal replaces the secrets in a value of a kind: a provider does not mark all of them.
	seal func(kind string, v model.Value) model.Value
}

var _ reconcile.Actuator = (*Actuator)(nil)

// New returns an Actuator for the root of a declaration. digest returns a keyed digest of a text. seal
// replaces the secrets in a value of a kind.
func New(declaration string, root Root, digest func(text string) string, seal func(kind string, v model.Value) model.Value) *Actuator {
	return &Actuator{declaration, root, digest, seal}
}

// Limit implements reconcile.Actuator. The limit includes the steps before and after the run of the CLI.
func (a *Actuator) Limit() time.Duration { return a.root.Timeout() + time.Minute }

// endpoint returns what is applied.
func (a *Actuator) endpoint() string {
	return fmt.Sprintf("declaration %s, root %s", a.declaration, a.root.Root())
}

// The guards of this package.
const (
	guardKind     = "kind"
	guardStillSo  = "still-so"
	guardScope    = "scope"
	guardDeclarer = "declarer"
)

func refuse(guard, format string, args ...any) error {
	return &reconcile.Refusal{Guard: guard, Why: fmt.Sprintf(format, args...)}
}

// look plans the root.
func (a *Actuator) look(ctx context.Context) (e plan.Effect, commit string, err error) {
	if e, commit, err = a.root.Look(ctx); err != nil {
		err = fmt.Errorf("plan the root of declaration %s: %w", a.declaration, err)
	}
	return e, commit, err
}

// Plan implements reconcile.Actuator. The guards are evaluated in this order: declarer, kind, scope, still-so.
func (a *Actuator) Plan(ctx context.Context, s reconcile.Subject) (reconcile.Change, error) {
	f := s.Finding
	switch {
	case f.Declaration != a.declaration:
		return nil, refuse(guardDeclarer, "declaration %s does not declare it", a.declaration)
	case f.Address == "":
		return nil, refuse(guardKind, "no address of declaration %s declares it: an apply would not change it", a.declaration)
	}
	s.Others = slices.DeleteFunc(slices.Clone(s.Others), func(o *model.Finding) bool { return o.Declaration != a.declaration })
	e, commit, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	c := &change{actuator: a, subject: s, commit: commit}
	c.plan, err = a.planned(&s, &e, commit)
	return c, err
}

// planned returns the plan of an action for an effect. It covers all drift of the root: an apply cannot leave some of it
// out. The findings of other resources are those of plan.Also.
func (a *Actuator) planned(s *reconcile.Subject, e *plan.Effect, commit string) (reconcile.Plan, error) {
	p := reconcile.Plan{System: e.Lineage, Content: a.content(e, commit), Endpoint: a.endpoint(), Identity: e.Tool}
	changed, err := a.changed(s, e)
	if err != nil {
		return p, err
	}
	for _, i := range changed {
		own := i.Address == s.Finding.Address
		if own {
			p.UID, p.Creates = i.ID, i.Action == "create"
		}
		p.Addresses = append(p.Addresses, i.Address)
		if err := check(s, i, changes(i)); err != nil {
			return p, err
		}
		for _, c := range changes(a.sealed(i)) {
			if !own {
				c.Address = i.Address
			}
			p.Changes = append(p.Changes, c)
		}
		for _, f := range s.Others {
			if f.Address == i.Address {
				p.Also = append(p.Also, reconcile.Covered{Finding: f.ID, Basis: f.Basis, Subject: f.Key})
			}
		}
	}
	slices.SortFunc(p.Also, func(a, b reconcile.Covered) int { return strings.Compare(a.Finding, b.Finding) })
	return p, nil
}

// sealed returns an instance without secrets, as people see it. Its values are compared by Effect.Content.
func (a *Actuator) sealed(i *plan.Instance) *plan.Instance {
	without := *i
	for _, v := range []**model.Value{&without.Declared, &without.Live} {
		if *v != nil {
			value := a.seal(plan.KindOf(i.Type), **v)
			*v = &value
		}
	}
	return &without
}

// content returns the keyed digest of all that an effect does at a commit.
func (a *Actuator) content(e *plan.Effect, commit string) string {
	return a.digest("driftd/apply/v1\n" + commit + "\n" + e.Content)
}

// changed returns the instances that an apply changes, that of the finding first. Each one must have a finding.
func (a *Actuator) changed(s *reconcile.Subject, e *plan.Effect) ([]*plan.Instance, error) {
	if e.Hindrance != "" {
		return nil, refuse(guardScope, "%s: let the pipeline of declaration %s do that first", e.Hindrance, a.declaration)
	}
	if !e.Complete {
		return nil, refuse(guardScope, "the plan is not complete: %s", e.Reason)
	}
	var own, others []*plan.Instance
	var unknown []string
	for k := range e.Instances {
		switch i := &e.Instances[k]; {
		case i.Type == plan.CheckType || i.Action == "no-op":
		case i.Unchecked != "":
			return nil, refuse(guardScope, "%s was not planned: %s", i.Address, i.Unchecked)
		case i.Address == s.Finding.Address:
			own = append(own, i)
		case slices.ContainsFunc(s.Others, func(f *model.Finding) bool { return f.Address == i.Address }):
			others = append(others, i)
		default:
			unknown = append(unknown, fmt.Sprintf("%s (%s)", i.Address, cmp.Or(i.Action, "not planned")))
		}
	}
	switch {
	case len(unknown) > 0:
		return nil, refuse(guardScope, "the apply would also change %s, of which driftd has no finding: apply it with the pipeline", some(unknown))
	case len(own) == 0:
		return nil, refuse(guardStillSo, "a plan changes nothing of %s: it is as declared for Terraform, look again", s.Finding.Address)
	}
	return append(own, others...), nil
}

// check returns why the changes of one instance must not be made.
func check(s *reconcile.Subject, i *plan.Instance, list []reconcile.FieldChange) error {
	creates := i.Action == "create"
	for _, f := range append([]*model.Finding{s.Finding}, s.Others...) {
		if f.Address == i.Address && creates != (f.Verdict == model.Missing) {
			return refuse(guardStillSo, "the apply would %s %s, and finding %s is %s: look again", i.Action, i.Address, f.ID, f.VerdictText())
		}
	}
	if len(list) == 0 {
		return refuse(guardKind, "the apply would %s %s, and the plan does not show which attributes", i.Action, i.Address)
	}
	if creates {
		return nil
	}
	for _, c := range list {
		if c.New != nil && c.New.Equal(model.StringOf(plan.KnownAfterApply)) {
			return refuse(guardKind, "the value of %s of %s is not known before the apply", c.Path, i.Address)
		}
		if !s.Covers(c.Path) {
			return refuse(guardScope, "the apply would also change %s of %s, and the rule does not allow that path", c.Path, i.Address)
		}
	}
	return nil
}

// maxNamed bounds the addresses in a reason.
const maxNamed = 5

func some(list []string) string {
	slices.Sort(list)
	if more := len(list) - maxNamed; more > 0 {
		list = append(list[:maxNamed:maxNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// changes returns the attributes that an apply changes of an instance, sorted by path.
func changes(i *plan.Instance) []reconcile.FieldChange {
	declared, live := model.MapOf(), model.MapOf()
	if i.Declared != nil {
		declared = *i.Declared
	}
	if i.Live != nil {
		live = *i.Live
	}
	s := &model.Subject{Kind: &model.Kind{Schema: i.Schema}, Live: &model.Resource{Value: live}, Claims: []*model.Claim{{Address: i.Address, Value: declared, Complete: true}}}
	var list []reconcile.FieldChange
	for _, o := range diff.Compare(s, diff.Options{}) {
		for _, c := range o.Changes {
			list = append(list, reconcile.FieldChange{Path: c.Path, Old: c.Live, New: c.Declared})
		}
	}
	slices.SortFunc(list, func(a, b reconcile.FieldChange) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// A change is a change of one resource that is planned and not made.
type change struct {
	actuator *Actuator
	subject  reconcile.Subject
	commit   string
	plan     reconcile.Plan
}

// Plan implements reconcile.Change.
func (c *change) Plan() reconcile.Plan { return c.plan }

// Rehearse implements reconcile.Change. It does nothing, because the plan was the rehearsal.
func (c *change) Rehearse(context.Context) error { return nil }

// Write implements reconcile.Change. It plans the root again, and applies the plan only if it equals the
// approved one.
func (c *change) Write(ctx context.Context) (reconcile.Receipt, error) {
	a := c.actuator
	permitted := false
	err := a.root.Apply(ctx, c.commit, func(ctx context.Context, e plan.Effect) error {
		now, err := a.planned(&c.subject, &e, c.commit)
		if err != nil {
			return err
		}
		if !now.Equal(&c.plan) {
			return refuse(guardStillSo, "the plan is another one since it was approved: the state or a live resource changed, look again")
		}
		if err := c.subject.Again(ctx, c.plan.Also); err != nil {
			return err
		}
		permitted = true
		return nil
	})
	refusal, applied := (*reconcile.Refusal)(nil), (*plan.ApplyError)(nil)
	switch {
	case errors.As(err, &refusal):
		return reconcile.Receipt{}, refusal
	case err != nil && !permitted, errors.As(err, &applied) && applied.Unchanged:
		return reconcile.Receipt{}, &reconcile.NotWrittenError{Err: err}
	}
	return reconcile.Receipt{}, err
}

// Inspect implements reconcile.Actuator. It plans the root again: a resource has its declared values
// if the plan does not change it.
func (a *Actuator) Inspect(ctx context.Context, _ model.Key, p reconcile.Plan) (reconcile.Inspection, error) {
	e, commit, err := a.look(ctx)
	switch {
	case err != nil:
		return "", err
	case e.Lineage != p.System:
		return "", fmt.Errorf("the root of declaration %s has another state now", a.declaration)
	case a.content(&e, commit) == p.Content:
		return reconcile.AsBefore, nil
	}
	wanted := true
	for k, address := range p.Addresses {
		at := slices.IndexFunc(e.Instances, func(i plan.Instance) bool { return i.Address == address && i.Deposed == "" })
		if at < 0 || e.Instances[at].Unchecked != "" {
			return "", fmt.Errorf("plan the root of declaration %s: it has no result for %s", a.declaration, address)
		}
		i := &e.Instances[at]
		wanted = wanted && i.Action == "no-op" && (k > 0 || p.Creates || i.ID == p.UID)
	}
	if wanted {
		return reconcile.AsWanted, nil
	}
	return reconcile.AsOther, nil
}

// HandBack implements reconcile.Actuator. It does nothing, because an apply leaves no fields to hand back.
func (a *Actuator) HandBack(context.Context, model.Key, reconcile.Plan) error { return nil }

// Rights implements reconcile.Actuator. Providers cannot list the permissions of their credentials, so that
// the result only identifies the account.
func (a *Actuator) Rights(context.Context, []reconcile.Rule) (reconcile.Rights, error) {
	return reconcile.Rights{Endpoint: a.endpoint(), Identity: "the account in env and env_files of the writer",
		May: []string{"do what its providers and their systems allow: Terraform cannot list that"}}, nil
}
