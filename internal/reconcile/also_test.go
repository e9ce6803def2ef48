package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// An applier is a stand-in for an actuator that applies a declaration: each plan puts back all open findings of it.
type applier struct {
	reconcile.Actuator

	content string
	applied int
	// inspectErr returns the error of Inspect, if set.
	inspectErr func() error
}

func (a *applier) Plan(_ context.Context, s reconcile.Subject) (reconcile.Change, error) {
	s.Covers("size") // as an actuator asks before it plans
	p := reconcile.Plan{Addresses: []string{"a"}, Content: a.content, Endpoint: "root", Changes: []reconcile.FieldChange{{Path: "size"}}}
	for _, f := range s.Others {
		p.Also = append(p.Also, reconcile.Covered{Finding: f.ID, Basis: f.Basis, Subject: f.Key})
	}
	return &applying{a, s, p}, nil
}

type applying struct {
	*applier
	subject reconcile.Subject
	plan    reconcile.Plan
}

func (c *applying) Plan() reconcile.Plan           { return c.plan }
func (c *applying) Rehearse(context.Context) error { return nil }
func (c *applying) Write(ctx context.Context) (reconcile.Receipt, error) {
	if err := c.subject.Again(ctx, c.plan.Also); err != nil {
		return reconcile.Receipt{}, err
	}
	c.applied++
	return reconcile.Receipt{}, nil
}

func (a *applier) Inspect(context.Context, model.Key, reconcile.Plan) (reconcile.Inspection, error) {
	switch {
	case a.inspectErr != nil:
		return "", a.inspectErr()
	case a.applied > 0:
		return reconcile.AsWanted, nil
	}
	return reconcile.AsBefore, nil
}

func (a *applier) HandBack(context.Context, model.Key, reconcile.Plan) error { return nil }

func (a *applier) Limit() time.Duration { return time.Minute }

// newApplied returns a bench with two findings of a declaration that an applier puts back.
func newApplied(t *testing.T, edit ...func(*reconcile.Rule)) (*bench, *applier) {
	t.Helper()
	b, a := newBench(t, append([]func(*reconcile.Rule){func(r *reconcile.Rule) { r.Share = 1 }}, edit...)...), &applier{content: "p1"}
	b.drift("f2", "db")
	o := b.Options
	o.Appliers = map[string]reconcile.Applier{"git": {Actuator: a, Sources: []string{"prod"}}}
	b.Reconciler = reconcile.New(o)
	return b, a
}

// TestApplyCoversFindings checks that one apply puts back all findings of a declaration, with one approval, and that no
// other action of one of them is proposed meanwhile.
func TestApplyCoversFindings(t *testing.T) {
	t.Parallel()
	b, a := newApplied(t)
	action := b.propose(t, "")
	if len(action.Plan.Also) != 1 || action.Plan.Also[0].Finding != "f2" {
		t.Fatalf("it covers %v", action.Plan.Also)
	}
	if _, err := b.Propose(t.Context(), &b.store.findings[1], reconcile.Request{Via: "test"}); err == nil || !strings.Contains(err.Error(), "action "+action.ID+" of the same resource") {
		t.Errorf("a second action: %v", err)
	}
	after, err := b.approve(t, &action, "alice")
	if err != nil || after.State != reconcile.Converged || a.applied != 1 {
		t.Errorf("it is %s: %v", after.State, err)
	}
}

// TestApplyJudgesFindings checks that a finding for which an action of its own would be refused refuses the apply.
func TestApplyJudgesFindings(t *testing.T) {
	t.Parallel()
	for want, edit := range map[string]func(f *model.Finding){
		"pending findings are never":    func(f *model.Finding) { f.Verdict = model.Pending },
		"it would be created":           func(f *model.Finding) { f.Verdict = model.Missing },
		"an ignore rule hides it":       func(f *model.Finding) { f.Hidden = "noise" },
		"revoke decision d1":            func(f *model.Finding) { f.Decision = &model.Decision{ID: "d1", Kind: model.Accept} },
		"it is flapping":                func(f *model.Finding) { f.Flapping = true },
		"an apply may be running":       func(f *model.Finding) { f.FirstSeen = start().Add(-time.Second) },
		`rule "shop" does not apply`:    func(f *model.Finding) { f.Place = "other" },
		"it was first seen, or changed": func(f *model.Finding) { f.FirstSeen = start().Add(time.Hour) },
	} {
		b, a := newApplied(t, func(r *reconcile.Rule) { r.Match.Namespaces = []string{"shop"} })
		edit(&b.store.findings[1])
		_, err := b.Propose(t.Context(), &b.store.findings[0], reconcile.Request{Via: "test"})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "(finding f2)") || !strings.Contains(err.Error(), "guard scope") {
			t.Errorf("%s: %v", want, err)
		}
		if a.applied > 0 {
			t.Errorf("%s: it applied", want)
		}
	}
}

// TestApplyNeedsPerson checks that no rule applies without a person, and that the author of one of the findings does not
// approve.
func TestApplyNeedsPerson(t *testing.T) {
	t.Parallel()
	b, _ := newApplied(t, func(r *reconcile.Rule) { r.Mode = reconcile.Auto })
	if _, err := b.Propose(t.Context(), b.finding, reconcile.Request{Via: "rule"}); err == nil || !strings.Contains(err.Error(), "needs a person") {
		t.Errorf("without a person: %v", err)
	}
	b, _ = newApplied(t)
	b.store.findings[1].Actor.Name = "oscar"
	action := b.propose(t, "")
	if _, err := b.approve(t, &action, "oscar"); err == nil || !strings.Contains(err.Error(), "made the drift") {
		t.Errorf("the author of the other finding: %v", err)
	}
}

// TestApplyThatChanged checks that an approval of another apply does nothing, and that driftd proposes the new one.
func TestApplyThatChanged(t *testing.T) {
	t.Parallel()
	b, a := newApplied(t)
	action := b.propose(t, "")
	a.content = "p2"
	if _, err := b.approve(t, &action, "alice"); err == nil || !strings.Contains(err.Error(), "the apply would do something else") {
		t.Errorf("another content: %v", err)
	}
	if a.applied > 0 {
		t.Fatal("it applied")
	}
	if err := b.Observe(t.Context(), b.store.findings); err != nil {
		t.Fatal(err)
	}
	if n := len(b.store.actions); n != 2 || b.store.actions[1].State != reconcile.Proposed || b.store.actions[1].Plan.Content != "p2" {
		t.Errorf("there are %d actions", n)
	}
	b.store.findings[1].Basis = "another"
	if _, err := b.approve(t, &b.store.actions[1], "alice"); err == nil || !strings.Contains(err.Error(), "finding f2 changed since") {
		t.Errorf("another finding changed: %v", err)
	}
	for range 2 { // the first scan ends the proposal, and the next one makes another
		if err := b.Observe(t.Context(), b.store.findings); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(b.store.actions); n != 3 || b.store.actions[1].State != reconcile.Superseded || b.store.actions[2].State != reconcile.Proposed {
		t.Errorf("there are %d actions", n)
	}
}

// TestApplyReadsAgain checks that nothing is written if a source cannot be read between the plan and the apply.
func TestApplyReadsAgain(t *testing.T) {
	t.Parallel()
	b, a := newApplied(t)
	action := b.propose(t, "")
	b.reads.rereadErr = errors.New("no route")
	after, err := b.approve(t, &action, "alice")
	if err == nil || !strings.Contains(err.Error(), "source prod could not be read again: no route") || after.State != reconcile.Refused || a.applied > 0 {
		t.Errorf("it is %s: %v", after.State, err)
	}
}

// TestApplyFight checks that a fight over a resource that applies only covered is known.
func TestApplyFight(t *testing.T) {
	t.Parallel()
	b, _ := newApplied(t, func(r *reconcile.Rule) { r.Soak = 0 })
	live, declared := model.IntOf(9), model.IntOf(4)
	b.store.findings[1].Changes = []model.Change{{Path: "size", Live: &live, Declared: &declared}}
	for range 2 {
		action := b.propose(t, "")
		if after, err := b.approve(t, &action, "alice"); err != nil || after.State != reconcile.Converged {
			t.Fatalf("it is %s: %v", after.State, err)
		}
	}
	if _, err := b.Propose(t.Context(), &b.store.findings[1], reconcile.Request{Via: "test"}); err == nil || !strings.Contains(err.Error(), "it came back after 2 actions") {
		t.Errorf("got %v", err)
	}
}

// TestApplyIsLimited checks that freezes and the limits of an hour hold for the sources and kinds of covered findings.
func TestApplyIsLimited(t *testing.T) {
	t.Parallel()
	b, _ := newApplied(t)
	b.store.findings[1].Source, b.store.findings[1].Kind = "pve", "proxmox/qemu"
	b.store.controls = []reconcile.Control{{ID: "c1", Kind: reconcile.Freeze, Source: "pve", Until: start().Add(time.Hour), Reason: "sale"}}
	if _, err := b.Propose(t.Context(), b.finding, reconcile.Request{Via: "test"}); err == nil || !strings.Contains(err.Error(), "(finding f2): actions are frozen until") {
		t.Errorf("a frozen source: %v", err)
	}
	b, _ = newApplied(t, func(r *reconcile.Rule) { r.Share, r.Soak = 0.01, 0 })
	if _, err := b.Propose(t.Context(), b.finding, reconcile.Request{Via: "test"}); err == nil || !strings.Contains(err.Error(), "2 of the 100 resources of kind") {
		t.Errorf("two resources of a kind at once: %v", err)
	}
	b, _ = newApplied(t, func(r *reconcile.Rule) { r.PerHour, r.Soak = 1, 0 })
	b.store.findings[1].Source, b.store.findings[1].Kind = "pve", "proxmox/qemu"
	action := b.propose(t, "")
	if after, err := b.approve(t, &action, "alice"); err != nil || after.State != reconcile.Converged {
		t.Fatalf("it is %s: %v", after.State, err)
	}
	if _, err := b.Propose(t.Context(), &b.store.findings[1], reconcile.Request{Via: "test"}); err == nil || !strings.Contains(err.Error(), "1 actions on source pve in the last hour") {
		t.Errorf("the source of a covered finding: %v", err)
	}
}

// TestStopBeforeWrite checks that an approved action is not carried out while driftd stops, and goes on after the next
// start.
func TestStopBeforeWrite(t *testing.T) {
	t.Parallel()
	b, a := newApplied(t)
	action := b.propose(t, "")
	stopping := make(chan struct{})
	o := b.Options
	o.Stopping = stopping
	b.Reconciler = reconcile.New(o)
	close(stopping)
	if _, err := b.approve(t, &action, "alice"); err == nil || !strings.Contains(err.Error(), "driftd stops") {
		t.Errorf("while driftd stops: %v", err)
	}
	if state := b.store.actions[0].State; state != reconcile.Approved || a.applied > 0 {
		t.Fatalf("it is %s, applied %d times", state, a.applied)
	}
	o.Stopping = nil
	b.Reconciler = reconcile.New(o)
	if err := b.Recover(t.Context()); err != nil || b.store.actions[0].State != reconcile.Converged {
		t.Errorf("after the next start it is %s: %v", b.store.actions[0].State, err)
	}
}

// TestStopBeforeRead checks that a stop while the resource is read again leaves that to the next start, and stops no rule.
func TestStopBeforeRead(t *testing.T) {
	t.Parallel()
	b, a := newApplied(t)
	action := b.propose(t, "")
	stopping := make(chan struct{})
	o := b.Options
	o.Stopping = stopping
	b.Reconciler = reconcile.New(o)
	a.inspectErr = func() error { close(stopping); return context.Canceled }
	if after, err := b.approve(t, &action, "alice"); !errors.Is(err, context.Canceled) || after.State != reconcile.Written {
		t.Errorf("it is %s: %v", after.State, err)
	}
	o.Stopping, a.inspectErr = nil, nil
	b.Reconciler = reconcile.New(o)
	if err := b.Recover(t.Context()); err != nil || b.store.actions[0].State != reconcile.Converged {
		t.Errorf("after the next start it is %s: %v", b.store.actions[0].State, err)
	}
}
