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

// TestWriteUnseen checks that an action, and a dry run, show that driftd never saw the declared values live.
func TestWriteUnseen(t *testing.T) {
	t.Parallel()
	for _, unseen := range []bool{false, true} {
		var b strings.Builder
		plan := reconcile.Plan{Unseen: unseen}
		if err := WriteAction(&b, "table", &reconcile.Action{Plan: plan}, Options{Now: now}); err != nil {
			t.Fatal(err)
		}
		if err := WriteProposal(&b, "table", &reconcile.Proposal{Plan: &plan}, Options{Now: now}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "  driftd has never seen the declared values live\n"); n != 2 && unseen || n != 0 && !unseen {
			t.Errorf("it is there %d times in\n%s", n, b.String())
		}
	}
}

// TestWriteRequests checks that an action shows its requests in order, and that it changes the declaration.
func TestWriteRequests(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	plan := reconcile.Plan{Endpoint: "https://nb", Identity: "driftd", Records: true, Requests: []string{"add, disabled: in DROP", "move it to position 1"}}
	if err := WriteAction(&b, "table", &reconcile.Action{Plan: plan}, Options{Now: now}); err != nil {
		t.Fatal(err)
	}
	want := "  changes the declaration, and not the resource\n  request 1  add, disabled: in DROP\n  request 2  move it to position 1\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("got\n%swant in it\n%s", b.String(), want)
	}
}

// TestWriteHeld checks that findings without an action are one line for each rule and guard.
func TestWriteHeld(t *testing.T) {
	t.Parallel()
	o := reconcile.Overview{Held: []reconcile.Held{{Finding: "f1", Rule: "shop", Guard: "age", Why: "it changed 20s ago"},
		{Finding: "f2", Rule: "shop", Why: "the API server is down"}, {Finding: "f3", Rule: "shop", Guard: "age", Why: "it changed 30s ago"}}}
	var b strings.Builder
	if err := WriteActions(&b, "table", &o, Options{Now: now}); err != nil {
		t.Fatal(err)
	}
	want := "No action: 2 findings, the first f1: rule \"shop\": it changed 20s ago (guard age)\n" +
		"No action: f2: rule \"shop\": the API server is down\nNo actions.\n"
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
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
