package reconcile_test

import (
	"errors"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
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

// TestObserveOrder checks that the only action of a scan is for the finding which the page lists first.
func TestObserveOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(older, other *model.Finding)
		want   string
	}{
		"age":               {func(_, _ *model.Finding) {}, "f1"},
		"exposed":           {func(_, other *model.Finding) { other.Exposure = model.ExposesCode }, "f2"},
		"severity":          {func(_, other *model.Finding) { other.Severity = model.Critical }, "f2"},
		"severity, exposed": {func(older, other *model.Finding) { older.Severity, other.Exposure = model.Critical, model.ExposesCode }, "f1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(r *reconcile.Rule) { r.Mode, r.PerScan = reconcile.Auto, 1 })
			other := b.drift("f2", "web")
			b.store.findings[0].FirstSeen = other.FirstSeen.Add(-time.Hour)
			c.change(&b.store.findings[0], other)
			if err := b.Observe(t.Context(), b.store.findings); err != nil || len(b.store.actions) != 1 {
				t.Fatalf("%d actions, %v", len(b.store.actions), err)
			}
			if got := b.store.actions[0].Finding; got != c.want {
				t.Errorf("the action is for %s, want %s", got, c.want)
			}
		})
	}
}

// TestObserveSuperseded checks that an action that was superseded is proposed again while the finding is as it was.
func TestObserveSuperseded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if err := b.Observe(t.Context(), b.store.findings); err != nil || len(b.store.actions) != 1 {
		t.Fatalf("%d actions, %v", len(b.store.actions), err)
	}
	b.live.Set("web:other")
	if _, err := b.approve(t, &b.store.actions[0], "alice"); err == nil || b.store.actions[0].State != reconcile.Superseded {
		t.Fatalf("it is %s: %v", b.store.actions[0].State, err)
	}
	b.live.Set("web:evil")
	if err := b.Observe(t.Context(), b.store.findings); err != nil || len(b.store.actions) != 2 || b.store.actions[1].State != reconcile.Proposed {
		t.Fatalf("%d actions, %v", len(b.store.actions), err)
	}
	// A person who declined it is not asked again because a later one was superseded.
	if _, err := b.Answer(t.Context(), b.store.actions[1].ID, reconcile.DeclineAnswer, reconcile.Request{By: "alice", Reason: "not now"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Propose(t.Context(), &b.store.findings[0], reconcile.Request{By: "bob", Reason: "after all"}); err != nil {
		t.Fatal(err)
	}
	b.live.Set("web:other")
	if _, err := b.approve(t, &b.store.actions[2], "alice"); err == nil || b.store.actions[2].State != reconcile.Superseded {
		t.Fatalf("it is %s: %v", b.store.actions[2].State, err)
	}
	b.live.Set("web:evil")
	if err := b.Observe(t.Context(), b.store.findings); err != nil || len(b.store.actions) != 3 {
		t.Errorf("%d actions, %v", len(b.store.actions), err)
	}
}

// TestObserveFight verifies that a fight is stored once, as a refused action that a person has to look at, and that
// driftd goes on after the rule was resumed.
func TestObserveFight(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(r *reconcile.Rule) { r.Mode, r.Soak = reconcile.Auto, 0 })
	observe := func() reconcile.Action {
		t.Helper()
		b.live.Set("web:evil")
		b.now = b.now.Add(10 * time.Minute)
		if err := b.Observe(t.Context(), b.store.findings); err != nil {
			t.Fatal(err)
		}
		return b.store.actions[len(b.store.actions)-1]
	}
	for range 2 {
		if a := observe(); a.State != reconcile.Converged {
			t.Fatalf("it is %s", a.State)
		}
	}
	for range 3 {
		a := observe()
		n, ok := a.Notice(0)
		if len(b.store.actions) != 3 || a.State != reconcile.Refused || a.Guard != "fight" || !ok || !n.Alarm || n.Author != "mallory" {
			t.Fatalf("%d actions, the last is %s by guard %s, with the notice %+v", len(b.store.actions), a.State, a.Guard, n)
		}
	}
	if o, err := b.Overview(); err != nil || o.Rules[0].Fights != 1 || o.Refusals["fight"] != 1 {
		t.Errorf("overview: %+v, %v", o, err)
	}
	if _, err := b.AddControl(reconcile.Control{Kind: reconcile.Resume, Rule: "shop", By: "alice"}); err != nil {
		t.Fatal(err)
	}
	if o, err := b.Overview(); err != nil || o.Rules[0].Fights != 0 {
		t.Errorf("after the resumption: %+v, %v", o, err)
	}
	if a := observe(); a.State != reconcile.Converged {
		t.Errorf("after the resumption it is %s", a.State)
	}
}

// TestChangedWhilePlanned checks that no action is proposed for a finding that a scan changed while its action was
// planned: the plan may be about other values than the finding that the action names.
func TestChangedWhilePlanned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before, changed := *b.finding, *b.finding
	changed.Basis = "basis-2"
	for name, now := range map[string][]model.Finding{"another value": {changed}, "resolved": nil} {
		b.live.BeforePlan = func() error {
			b.store.findings = now
			return nil
		}
		stale := before
		_, err := b.Propose(t.Context(), &stale, reconcile.Request{Via: "rule"})
		if refusal := (*reconcile.Refusal)(nil); !errors.As(err, &refusal) || refusal.Guard != "still-so" || len(b.store.actions) != 0 {
			t.Errorf("%s: %v, %d actions", name, err, len(b.store.actions))
		}
		b.store.findings = []model.Finding{before}
	}
}
