package reconcile_test

import (
	"testing"

	"github.com/driftd/driftd/internal/reconcile"
)

// TestObserveOldRead checks that a finding of an old read does not end the proposals for it.
func TestObserveOldRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for want, value := range []string{"web:2", "web:evil"} {
		b.live.Set(value)
		if err := b.Observe(t.Context(), b.store.findings); err != nil || len(b.store.actions) != want {
			t.Errorf("live %s: %d actions, %v", value, len(b.store.actions), err)
		}
	}
}

// TestObserveSameResource checks that a second finding of a resource gets its turn after the first one.
func TestObserveSameResource(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(r *reconcile.Rule) { r.Soak = 0 })
	b.drift("f2", "api")
	if err := b.Observe(t.Context(), b.store.findings); err != nil || len(b.store.actions) != 1 {
		t.Fatalf("%d actions, %v", len(b.store.actions), err)
	}
	if _, err := b.approve(t, &b.store.actions[0], "alice"); err != nil {
		t.Fatal(err)
	}
	b.live.Set("web:evil")
	b.store.findings = b.store.findings[1:]
	if err := b.Observe(t.Context(), b.store.findings); err != nil || len(b.store.actions) != 2 {
		t.Errorf("after the first: %d actions, %v", len(b.store.actions), err)
	}
}
