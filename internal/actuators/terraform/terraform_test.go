package terraform_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/actuators/terraform"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// A root is a stand-in for a root: its plans are effect, and an apply has the result failure.
type root struct {
	effect  plan.Effect
	commit  string
	failure error
	// err is the error of a plan.
	err     error
	applied int
}

func (r *root) Root() string { return "infra" }

func (r *root) Timeout() time.Duration { return time.Minute }

func (r *root) Look(context.Context) (plan.Effect, string, error) { return r.effect, r.commit, r.err }

func (r *root) Apply(ctx context.Context, commit string, permit func(context.Context, plan.Effect) error) error {
	if r.err != nil {
		return r.err
	}
	if commit != r.commit {
		return errors.New("the branch has another commit")
	}
	if err := permit(ctx, r.effect); err != nil {
		return err
	}
	r.applied++
	return r.failure
}

func sized(size int64) *model.Value {
	v := model.MapOf(model.Field{Name: "name", Value: model.StringOf("x")}, model.Field{Name: "size", Value: model.IntOf(size)})
	return &v
}

// updated is an instance whose size an apply changes from 9 to 4.
func updated(address string) plan.Instance {
	return plan.Instance{Address: address, ID: "id-" + address, Action: "update", Declared: sized(4), Live: sized(9)}
}

// drifted is the finding of an address.
func drifted(id, address string) *model.Finding {
	return &model.Finding{ID: id, Basis: "basis-" + id, Verdict: model.Changed, Key: model.Key{Source: "plan:infra", Kind: "terraform/lab_server", ID: address},
		Address: address, Declaration: "infra"}
}

// newRoot returns a root of which two resources may change, and the actuator of it.
func newRoot(instances ...plan.Instance) (*root, *terraform.Actuator) {
	r := &root{commit: "c1", effect: plan.Effect{Content: "p1", Lineage: "l", Tool: "Terraform 1.11.4", Result: plan.Result{Complete: true, Instances: instances}}}
	return r, terraform.New("infra", r, func(text string) string { return "digest of " + text }, seal)
}

// seal seals the field password of kind lab_server.
func seal(kind string, v model.Value) model.Value {
	if _, ok := v.Get("password"); !ok || kind != "terraform/lab_server" {
		return v
	}
	return v.With("password", model.StringOf("(sealed "+v.At("password").Str()[:1]+")"))
}

// TestPlanSeals checks that the plan of an action has no secret that the provider does not mark, and that a secret that is
// known after the apply only is refused like any other value.
func TestPlanSeals(t *testing.T) {
	t.Parallel()
	i := updated("a")
	i.Type = "lab_server"
	i.Declared, i.Live = ref(i.Declared.With("password", model.StringOf("new secret"))), ref(i.Live.With("password", model.StringOf("old secret")))
	_, a := newRoot(i)
	change, err := a.Plan(t.Context(), subject(drifted("1", "a")))
	if err != nil {
		t.Fatal(err)
	}
	want := []reconcile.FieldChange{{Path: "password", Old: ref(model.StringOf("(sealed o)")), New: ref(model.StringOf("(sealed n)"))},
		{Path: "size", Old: ref(model.IntOf(9)), New: ref(model.IntOf(4))}}
	if d := cmp.Diff(want, change.Plan().Changes); d != "" {
		t.Error(d)
	}
	i.Declared = ref(i.Declared.With("password", model.StringOf(plan.KnownAfterApply)))
	_, a = newRoot(i)
	if _, err := a.Plan(t.Context(), subject(drifted("1", "a"))); err == nil || !strings.Contains(err.Error(), "password of a is not known before the apply") {
		t.Errorf("Plan: %v", err)
	}
}

func subject(f *model.Finding, others ...*model.Finding) reconcile.Subject {
	return reconcile.Subject{Finding: f, Others: others, Covers: func(string) bool { return true },
		Again: func(context.Context, []reconcile.Covered) error { return nil }}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	_, a := newRoot(updated("a"), updated("b"), plan.Instance{Address: "c", Action: "no-op"})
	change, err := a.Plan(t.Context(), subject(drifted("1", "a"), drifted("3", "b"), drifted("2", "b"), drifted("4", "gone")))
	if err != nil {
		t.Fatal(err)
	}
	four, nine := model.IntOf(4), model.IntOf(9)
	key := func(id string) model.Key {
		return model.Key{Source: "plan:infra", Kind: "terraform/lab_server", ID: id}
	}
	want := reconcile.Plan{UID: "id-a", System: "l", Endpoint: "declaration infra, root infra", Identity: "Terraform 1.11.4", Addresses: []string{"a", "b"},
		Content: "digest of driftd/apply/v1\nc1\np1",
		Changes: []reconcile.FieldChange{{Path: "size", Old: &nine, New: &four}, {Address: "b", Path: "size", Old: &nine, New: &four}},
		Also:    []reconcile.Covered{{Finding: "2", Basis: "basis-2", Subject: key("b")}, {Finding: "3", Basis: "basis-3", Subject: key("b")}}}
	if d := cmp.Diff(want, change.Plan()); d != "" {
		t.Error(d)
	}
}

// TestPlanIsExact checks that the plan of an action has every change that the apply makes, with the schema of the instance:
// also from an empty value to none, and in the elements of lists.
func TestPlanIsExact(t *testing.T) {
	t.Parallel()
	i := updated("a")
	disk := func(fields ...model.Field) model.Value { return model.ListOf(model.MapOf(fields...)) }
	slot := model.Field{Name: "slot", Value: model.StringOf("a")}
	i.Declared = ref(i.Declared.With("disk", disk(slot)))
	i.Live = ref(i.Live.With("disk", disk(slot, model.Field{Name: "ssd", Value: model.BoolOf(true)})).With("public", model.BoolOf(false)))
	exact := &model.Schema{Content: true}
	exact.Each, i.Schema = exact, exact
	_, a := newRoot(i)
	change, err := a.Plan(t.Context(), subject(drifted("1", "a")))
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, c := range change.Plan().Changes {
		paths = append(paths, c.Path)
	}
	if d := cmp.Diff([]string{"disk[0].ssd", "public", "size"}, paths); d != "" {
		t.Error(d)
	}
}

func TestPlanRefuses(t *testing.T) {
	t.Parallel()
	missing := drifted("1", "a")
	missing.Verdict = model.Missing
	unknown := updated("a")
	unknown.Declared = ref(unknown.Declared.With("size", model.StringOf(plan.KnownAfterApply)))
	unnamed := updated("a")
	unnamed.Declared = unnamed.Live
	created := updated("b")
	created.Action, created.Live = "create", nil
	for name, tc := range map[string]struct {
		instances []plan.Instance
		edit      func(*root, *reconcile.Subject)
		guard     string
		want      string
	}{
		"another declaration": {edit: func(_ *root, s *reconcile.Subject) { s.Finding.Declaration = "other" }, guard: "declarer", want: "does not declare it"},
		"no address":          {edit: func(_ *root, s *reconcile.Subject) { s.Finding.Address = "" }, guard: "kind", want: "no address"},
		"a hindrance":         {edit: func(r *root, _ *reconcile.Subject) { r.effect.Hindrance = "the apply would import x" }, guard: "scope", want: "would import x: let the pipeline"},
		"incomplete":          {edit: func(r *root, _ *reconcile.Subject) { r.effect.Complete, r.effect.Reason = false, "boom" }, guard: "scope", want: "not complete: boom"},
		"more than findings":  {instances: []plan.Instance{updated("a"), updated("b")}, guard: "scope", want: "also change b (update), of which driftd has no finding"},
		"nothing":             {instances: []plan.Instance{{Address: "a", Action: "no-op"}}, guard: "still-so", want: "changes nothing of a"},
		"not planned":         {instances: []plan.Instance{{Address: "a", Action: "update", Unchecked: "no provider"}}, guard: "scope", want: "was not planned: no provider"},
		"another action":      {edit: func(_ *root, s *reconcile.Subject) { s.Finding = missing }, guard: "still-so", want: "would update a, and finding 1 is missing"},
		"creates another": {instances: []plan.Instance{updated("a"), created}, edit: func(_ *root, s *reconcile.Subject) { s.Others = []*model.Finding{drifted("2", "b")} },
			guard: "still-so", want: "would create b, and finding 2 is changed"},
		"an unknown value": {instances: []plan.Instance{unknown}, guard: "kind", want: "size of a is not known before"},
		"no attribute":     {instances: []plan.Instance{unnamed}, guard: "kind", want: "does not show which"},
		"a path": {edit: func(_ *root, s *reconcile.Subject) { s.Covers = func(path string) bool { return path != "size" } },
			guard: "scope", want: "size of a, and the rule does not allow"},
	} {
		instances := tc.instances
		if instances == nil {
			instances = []plan.Instance{updated("a")}
		}
		r, a := newRoot(instances...)
		s := subject(drifted("1", "a"))
		if tc.edit != nil {
			tc.edit(r, &s)
		}
		_, err := a.Plan(t.Context(), s)
		refusal, ok := errors.AsType[*reconcile.Refusal](err)
		if !ok || refusal.Guard != tc.guard || !strings.Contains(refusal.Why, tc.want) {
			t.Errorf("%s: got %v, want guard %s: %s", name, err, tc.guard, tc.want)
		}
		if r.applied > 0 {
			t.Errorf("%s: it applied", name)
		}
	}
}

func ref(v model.Value) *model.Value { return &v }

// TestWrite checks what is applied, and what an error of it means.
func TestWrite(t *testing.T) {
	t.Parallel()
	stale := &plan.ApplyError{Err: errors.New("Saved plan is stale"), Unchanged: true}
	for name, tc := range map[string]struct {
		edit    func(*root, *reconcile.Subject)
		want    string
		applied bool
	}{
		"approved":            {applied: true},
		"another commit":      {edit: func(r *root, _ *reconcile.Subject) { r.commit = "c2" }, want: "not written: nothing was changed: the branch has another commit"},
		"another content":     {edit: func(r *root, _ *reconcile.Subject) { r.effect.Content = "p2" }, want: "refused: the plan is another one"},
		"more drift":          {edit: func(r *root, _ *reconcile.Subject) { r.effect.Instances = append(r.effect.Instances, updated("b")) }, want: "refused: the apply would also change b"},
		"live moved":          {edit: func(_ *root, s *reconcile.Subject) { *s = moved() }, want: "refused: the live system changed"},
		"no plan":             {edit: func(r *root, _ *reconcile.Subject) { r.err = errors.New("locked by bob") }, want: "not written: nothing was changed: locked by bob"},
		"stale":               {edit: func(r *root, _ *reconcile.Subject) { r.failure = stale }, want: "not written: nothing was changed: Saved plan is stale", applied: true},
		"failed half-way":     {edit: func(r *root, _ *reconcile.Subject) { r.failure = &plan.ApplyError{Err: errors.New("boom")} }, want: "unknown: boom", applied: true},
		"an error afterwards": {edit: func(r *root, _ *reconcile.Subject) { r.failure = errors.New("state") }, want: "unknown: state", applied: true},
	} {
		r, a := newRoot(updated("a"))
		s := subject(drifted("1", "a"))
		later := s
		s.Again = func(ctx context.Context, also []reconcile.Covered) error { return later.Again(ctx, also) }
		c, err := a.Plan(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if tc.edit != nil {
			tc.edit(r, &later)
		}
		_, err = c.Write(t.Context())
		if got := kindOf(err); got != tc.want && !(tc.want != "" && strings.HasPrefix(got, tc.want)) || tc.applied != (r.applied > 0) {
			t.Errorf("%s: got %q, applied %d, want %q", name, got, r.applied, tc.want)
		}
	}
}

func moved() reconcile.Subject {
	s := subject(drifted("1", "a"))
	s.Again = func(context.Context, []reconcile.Covered) error {
		return &reconcile.Refusal{Guard: "still-so", Why: "the live system changed"}
	}
	return s
}

// kindOf returns the error of a write with its meaning.
func kindOf(err error) string {
	_, refused := errors.AsType[*reconcile.Refusal](err)
	_, not := errors.AsType[*reconcile.NotWrittenError](err)
	switch {
	case err == nil:
		return ""
	case not:
		return "not written: " + err.Error()
	case refused:
		return "refused: " + err.Error()
	}
	return "unknown: " + err.Error()
}

func TestInspect(t *testing.T) {
	t.Parallel()
	r, a := newRoot(updated("a"), updated("b"))
	c, err := a.Plan(t.Context(), subject(drifted("1", "a"), drifted("2", "b")))
	if err != nil {
		t.Fatal(err)
	}
	p := c.Plan()
	noOp := func(address, id string) plan.Instance {
		return plan.Instance{Address: address, ID: id, Action: "no-op"}
	}
	for _, tc := range []struct {
		reason    string
		content   string
		lineage   string
		instances []plan.Instance
		want      string
	}{
		{"nothing happened", "p1", "l", []plan.Instance{updated("a"), updated("b")}, "as-before"},
		{"all is as declared", "p2", "l", []plan.Instance{noOp("a", "id-a"), noOp("b", "id-b"), updated("c")}, "as-wanted"},
		{"one is not", "p2", "l", []plan.Instance{noOp("a", "id-a"), updated("b")}, "other"},
		{"another object", "p2", "l", []plan.Instance{noOp("a", "id-z"), noOp("b", "id-b")}, "other"},
		{"one is not there", "p2", "l", []plan.Instance{noOp("a", "id-a")}, "it has no result for b"},
		{"another state", "p2", "m", nil, "another state now"},
	} {
		r.effect.Content, r.effect.Lineage, r.effect.Instances = tc.content, tc.lineage, tc.instances
		got, err := a.Inspect(t.Context(), model.Key{}, p)
		if err != nil && !strings.Contains(err.Error(), tc.want) || err == nil && string(got) != tc.want {
			t.Errorf("%s: got %q, %v, want %s", tc.reason, got, err, tc.want)
		}
	}
	if r.applied > 0 {
		t.Error("it applied")
	}
}
