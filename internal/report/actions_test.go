package report

import (
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestWriteAction checks that an action shows its commit, and who made which of its states.
func TestWriteAction(t *testing.T) {
	t.Parallel()
	a := reconcile.Action{ID: "ac7100", Finding: "f1", Verdict: model.Changed, Subject: model.Key{Source: "prod", Kind: "kubernetes/ConfigMap", ID: "shop/web"},
		Rule: "shop", Revision: "c0ffee", Drift: model.Actor{Name: "mallory"}}
	a.Enter(reconcile.Unknown, now, "the answer was lost")
	a.EnterBy(reconcile.Failed, now, "mara", "the cluster is gone")
	var b strings.Builder
	if err := WriteAction(&b, "table", &a, Options{Now: now}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  commit    c0ffee\n", "  unknown: the answer was lost\n", "  failed by mara: the cluster is gone\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// TestWriteFreezes checks that a freeze has the person who set it, or its place in the configuration.
func TestWriteFreezes(t *testing.T) {
	t.Parallel()
	until := now.Add(time.Hour)
	o := reconcile.Overview{Freezes: []reconcile.Control{{ID: "c1", Kind: reconcile.Freeze, By: "mara", Until: until, Reason: "sale"},
		{ID: "reconcile.freezes[0]", Kind: reconcile.Freeze, Source: "prod", Until: until, Reason: "weekend"}}}
	var b strings.Builder
	if err := WriteActions(&b, "table", &o, Options{Now: now}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" by mara: sale\n", "source prod until ", " by reconcile.freezes[0]: weekend\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
