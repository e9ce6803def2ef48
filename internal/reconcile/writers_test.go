package reconcile_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/hours"
	"github.com/driftd/driftd/internal/reconcile"
)

// records makes the bench one whose rule writes into the declaration, which is read from the source netbox.
func (b *bench) records() {
	o := b.Options
	o.Writers = reconcile.Writers{Recorders: map[string]reconcile.Recorder{"git": {Actuator: b.live, Source: "netbox", Governs: []string{"prod"}}}}
	o.Log = slog.New(slog.DiscardHandler)
	b.Reconciler = reconcile.New(o)
}

func intoDeclaration(r *reconcile.Rule) { r.Changes = reconcile.Declared }

// TestFreezeOfWrittenSource verifies that a freeze of the source from which a declaration is read stops writes into the
// declaration.
func TestFreezeOfWrittenSource(t *testing.T) {
	t.Parallel()
	freezes := map[string]func(*testing.T, *bench){
		"freeze": func(t *testing.T, b *bench) {
			t.Helper()
			if _, err := b.AddControl(reconcile.Control{Kind: reconcile.Freeze, Source: "netbox", Until: b.now.Add(time.Hour), By: "carol", Reason: "migration"}); err != nil {
				t.Fatal(err)
			}
		},
		"window": func(_ *testing.T, b *bench) {
			b.Windows = []reconcile.Window{{Name: "w", Sources: []string{"netbox"}, Window: hours.Window{To: 24 * time.Hour}, Location: time.UTC, Reason: "migration"}}
		},
	}
	for name, freeze := range freezes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, intoDeclaration)
			b.records()
			a := b.propose(t, "bob")
			freeze(t, b)
			if _, err := b.approve(t, &a, "alice"); !refusedBy(err, "frozen", "migration") || b.live.Writes > 0 {
				t.Errorf("approved: %v after %d writes", err, b.live.Writes)
			}
			b.store.actions = nil
			if _, err := b.Propose(t.Context(), b.finding, reconcile.Request{By: "bob", Via: "test"}); !refusedBy(err, "frozen", "migration") {
				t.Errorf("proposed: %v", err)
			}
		})
	}
}

// TestFreezeOfUnwrittenSource verifies that such a freeze does not stop what puts the live resource back.
func TestFreezeOfUnwrittenSource(t *testing.T) {
	t.Parallel()
	s := situation()
	s.Writers.Recorders = map[string]reconcile.Recorder{"git": {Source: "netbox"}}
	s.Controls = []reconcile.Control{{Kind: reconcile.Freeze, Source: "netbox", Until: start().Add(time.Hour)}}
	if refusal := reconcile.Check(s); refusal != nil {
		t.Error(refusal)
	}
}

// TestPerHourOfWrittenSource verifies that per_hour also limits the writes into one declaration for several sources.
func TestPerHourOfWrittenSource(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*reconcile.Situation, *reconcile.Action)
		want string
	}{
		"written":        {func(*reconcile.Situation, *reconcile.Action) {}, "1 actions on source netbox in the last hour"},
		"put back":       {func(_ *reconcile.Situation, a *reconcile.Action) { a.Plan.Records = false }, ""},
		"to be put back": {func(s *reconcile.Situation, _ *reconcile.Action) { s.Rule.Changes = "" }, ""},
		"on netbox":      {func(_ *reconcile.Situation, a *reconcile.Action) { a.Plan.Records, a.Subject.Source = false, "netbox" }, "1 actions on source netbox"},
		"on prod":        {func(_ *reconcile.Situation, a *reconcile.Action) { a.Plan.Records, a.Subject.Source = false, "prod" }, "1 actions on source prod"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := situation()
			s.Rule.PerHour, s.Rule.Changes = 1, reconcile.Declared
			s.Writers.Recorders = map[string]reconcile.Recorder{"git": {Source: "netbox"}, "other": {Source: "netbox"}}
			a := past("a1", "shop/web", reconcile.Converged, 50*time.Minute)
			a.Subject.Source, a.Declaration, a.Rule, a.Plan.Records = "lab", "other", "lab", true
			c.edit(s, &a)
			s.History = []reconcile.Action{a}
			refusal := reconcile.Check(s)
			if refusal == nil {
				refusal = &reconcile.Refusal{}
			}
			if got := refusal.Why; !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	w := reconcile.Writers{
		Actuators: map[string]reconcile.Actuator{"pve": nil},
		Appliers:  map[string]reconcile.Applier{"infra": {Sources: []string{"pve", "cloud"}}},
		Recorders: map[string]reconcile.Recorder{"intent": {Source: "netbox", Governs: []string{"lab"}}},
	}
	if got := w.Sources(); !slices.Equal(got, []string{"cloud", "lab", "netbox", "pve"}) {
		t.Errorf("got %q", got)
	}
}
