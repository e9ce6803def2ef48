package reconcile_test

import (
	"errors"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/reconcile"
)

// TestHeld checks that the overview has each finding for which driftd proposed nothing although a rule allows it, with
// the reason, and no other one.
func TestHeld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*bench)
		guard  string
	}{
		"proposed":     {func(*bench) {}, ""},
		"no rule":      {func(b *bench) { b.Rules[0].Match.Kinds = []string{"kubernetes/Secret"} }, ""},
		"mode suggest": {func(b *bench) { b.Rules[0].Mode = reconcile.Suggest }, ""},
		"too young":    {func(b *bench) { b.Rules[0].MinAge = 365 * 24 * time.Hour }, "age"},
		"no writer":    {func(b *bench) { b.Actuators = nil }, "off"},
		"in doubt":     {func(b *bench) { b.store.doubt = "an entry was edited" }, "quarantine"},
		"not read":     {func(b *bench) { b.reads.evidence.Unread = "the source is down" }, "coverage"},
		"by chance":    {func(b *bench) { b.reads.random = []string{"f1"} }, "nondeterministic"},
		"no plan":      {func(b *bench) { b.live.BeforePlan = func() error { return errors.New("a server error") } }, ""},
		"other kind": {func(b *bench) {
			b.live.BeforePlan = func() error { return &reconcile.Refusal{Guard: "kind", Why: "never"} }
		}, "kind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			c.change(b)
			for range 2 { // a second scan has no other result
				if err := b.Observe(t.Context(), b.store.findings); err != nil {
					t.Fatal(err)
				}
			}
			o, err := b.Overview()
			if err != nil {
				t.Fatal(err)
			}
			held := o.HeldFinding("f1")
			switch expected := c.guard != "" || name == "no plan"; {
			case !expected && held == nil:
			case !expected || held == nil:
				t.Errorf("held: %+v", held)
			case held.Guard != c.guard || held.Rule != "shop" || held.Why == "":
				t.Errorf("held: %+v", held)
			}
		})
	}
}
