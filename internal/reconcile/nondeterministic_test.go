package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/reconcile"
)

// TestNondeterministic checks that nothing is done for a declaration that differs between equal inputs:
// not for a person, not by a rule, not if that was found after the proposal, and not by an action for a
// finding of another declaration.
func TestNondeterministic(t *testing.T) {
	t.Parallel()
	auto := func(r *reconcile.Rule) { r.Mode = reconcile.Auto }
	for name, c := range map[string]struct {
		mode  func(*reconcile.Rule)
		do    func(*testing.T, *bench) error
		guard string
	}{
		"a person asks": {func(*reconcile.Rule) {}, func(t *testing.T, b *bench) error {
			t.Helper()
			b.reads.random = []string{"f1"}
			_, err := b.Propose(t.Context(), b.finding, reconcile.Request{By: "alice", Via: "test"})
			return err
		}, "nondeterministic"},
		"a rule acts": {auto, func(t *testing.T, b *bench) error {
			t.Helper()
			b.reads.random = []string{"f1"}
			_, err := b.Propose(t.Context(), b.finding, reconcile.Request{Via: "rule"})
			return err
		}, "nondeterministic"},
		"found after the proposal": {func(*reconcile.Rule) {}, func(t *testing.T, b *bench) error {
			t.Helper()
			a := b.propose(t, "")
			b.reads.refresh = func() { b.reads.random = []string{"f1"} }
			_, err := b.approve(t, &a, "alice")
			if got := b.store.actions[0]; got.State != reconcile.Refused || got.Guard != "nondeterministic" {
				t.Errorf("the action is %s by guard %q", got.State, got.Guard)
			}
			return err
		}, "nondeterministic"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, c.mode)
			err := c.do(t, b)
			if refusal := (*reconcile.Refusal)(nil); !errors.As(err, &refusal) || refusal.Guard != c.guard || !strings.Contains(refusal.Why, "the chart calls now") {
				t.Errorf("got %v, want guard %s", err, c.guard)
			}
			if b.live.Writes != 0 {
				t.Error("it wrote")
			}
		})
	}
	b, a := newApplied(t)
	b.reads.random = []string{"f2"}
	_, err := b.Propose(t.Context(), &b.store.findings[0], reconcile.Request{Via: "test"})
	if err == nil || !strings.Contains(err.Error(), "(finding f2): the chart calls now (guard scope)") || a.applied > 0 {
		t.Errorf("an apply that also puts back a finding of such a declaration: %v", err)
	}
}
