package reconcile_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/reconcile/reconciletest"
)

// unmanaged makes the finding one of a resource that no declaration declares, and lets the rule delete it.
func unmanaged(s *reconcile.Situation) {
	s.Finding.Verdict, s.Finding.Declaration, s.Rule.Delete = model.Unmanaged, "", true
}

func TestGuardsOfDeletions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit        func(*reconcile.Situation)
		guard, want string
	}{
		"the rule does not delete":        {func(s *reconcile.Situation) { s.Rule.Delete = false }, "verdict", `it would be deleted: rule "shop" does not set delete`},
		"only an inventory lacks it":      {func(s *reconcile.Situation) { s.Finding.Declaration = "netbox" }, "verdict", "unmanaged findings are never put back"},
		"without a person":                {func(s *reconcile.Situation) { s.Rule.Mode = reconcile.Auto }, "verdict", "a deletion needs a person"},
		"for a person":                    {func(s *reconcile.Situation) { s.Rule.Mode, s.By = reconcile.Auto, "alice" }, "", ""},
		"with an approval":                {func(*reconcile.Situation) {}, "", ""},
		"nothing of the kind is declared": {func(s *reconcile.Situation) { s.Declared = 0 }, "coverage", "no declaration of source prod declares any resource of kind"},
		"a declaration was not read":      {func(s *reconcile.Situation) { s.Unread = "declaration git was not read yet" }, "coverage", "declaration git was not read yet"},
		"a declaration without commits":   {func(s *reconcile.Situation) { s.Uncommitted = "use git" }, "declaration", "use git"},
	} {
		s := situation()
		unmanaged(s)
		c.edit(s)
		refusal := reconcile.Check(s)
		switch {
		case c.guard == "" && refusal != nil:
			t.Errorf("%s: %v", name, refusal)
		case c.guard != "" && (refusal == nil || refusal.Guard != c.guard || !strings.Contains(refusal.Why, c.want)):
			t.Errorf("%s: %v, want %s of guard %s", name, refusal, c.want, c.guard)
		}
	}
}

// A deleter is a live system that can delete its resource.
type deleter struct{ *reconciletest.System }

// Deletes implements reconcile.Deleter.
func (deleter) Deletes(string) bool { return true }

// Plan plans to delete it.
func (d deleter) Plan(ctx context.Context, s reconcile.Subject) (reconcile.Change, error) {
	f := *s.Finding
	live, none := model.StringOf("web:evil"), model.StringOf("")
	f.Changes = []model.Change{{Path: "spec.image", Live: &live, Declared: &none}}
	s.Finding = &f
	c, err := d.System.Plan(ctx, s)
	return deletion{c}, err
}

type deletion struct{ reconcile.Change }

// Plan implements reconcile.Change.
func (d deletion) Plan() reconcile.Plan {
	p := d.Change.Plan()
	p.Deletes = true
	return p
}

func TestDeletion(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(r *reconcile.Rule) { r.Delete = true })
	b.finding.Verdict, b.finding.Declaration, b.finding.Changes = model.Unmanaged, "", nil
	_, err := b.Propose(t.Context(), b.finding, reconcile.Request{Via: "test"})
	if refusal := (*reconcile.Refusal)(nil); !errors.As(err, &refusal) || refusal.Guard != "kind" || b.live.Plans != 0 {
		t.Errorf("an actuator that deletes nothing: %v", err)
	}
	o := b.Options
	o.Actuators = map[string]reconcile.Actuator{"prod": deleter{b.live}}
	b.reads.agreement = reconcile.Moved // nothing is declared that could have moved
	b.Reconciler = reconcile.New(o)
	a := b.propose(t, "")
	if !a.Plan.Deletes || a.Declaration != "" {
		t.Errorf("the action is %+v", a)
	}
	if n, _ := a.Notice(1); !n.Deletes {
		t.Errorf("the notice is %+v", n)
	}
	after, err := b.approve(t, &a, "alice")
	if err != nil || after.State != reconcile.Converged {
		t.Fatalf("it is %s: %v", after.State, err)
	}
}
