package reconcile_test

import (
	"testing"

	"github.com/driftd/driftd/internal/reconcile"
)

// TestPreviewWithoutRule checks that the live system is asked for a dry run only if a rule allows actions.
func TestPreviewWithoutRule(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit  func(*reconcile.Rule)
		plans int
	}{
		"approve":  {edit: func(*reconcile.Rule) {}, plans: 1},
		"auto":     {edit: func(r *reconcile.Rule) { r.Mode = reconcile.Auto }, plans: 1},
		"suggest":  {edit: func(r *reconcile.Rule) { r.Mode = reconcile.Suggest }},
		"off":      {edit: func(r *reconcile.Rule) { r.Mode = reconcile.Off }},
		"no match": {edit: func(r *reconcile.Rule) { r.Match.Kinds = []string{"ConfigMap"} }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tt.edit)
			p, err := b.Preview(t.Context(), b.finding, "alice")
			if err != nil || b.live.Plans != tt.plans || p.Allowed() != (tt.plans > 0) {
				t.Errorf("Preview() = %+v, %v with %d plans", p, err, b.live.Plans)
			}
		})
	}
}

// TestNamedKind checks that Subject.Named reports whether the rule names the kind itself.
func TestNamedKind(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]bool{
		"kubernetes/Deployment.apps": true, "Deployment.apps": true, "kubernetes/*": false, "Deployment*": false, "*": false, "": false,
	} {
		b := newBench(t, func(r *reconcile.Rule) {
			if kind != "" {
				r.Match.Kinds = []string{kind}
			}
		})
		if _, err := b.Preview(t.Context(), b.finding, "alice"); err != nil || b.live.Plans != 1 || b.live.Planned.Named != want {
			t.Errorf("%q: Named is %t in %d plans, %v", kind, b.live.Planned.Named, b.live.Plans, err)
		}
	}
}

// TestSystemIsApproved checks that an approval is for one system.
func TestSystemIsApproved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, other := reconcile.Plan{Creates: true, System: "1"}, reconcile.Plan{Creates: true, System: "2"}
	digest := func(text string) string { return text }
	if one.Equal(&other) || one.Digest(digest, b.finding) == other.Digest(digest, b.finding) {
		t.Error("plans for two systems are equal")
	}
}
