package daemon

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// fakeInventory declares for source "live" the resources of the source "inventory".
type fakeInventory struct{ err error }

func (f *fakeInventory) From() string { return "inventory" }

func (f *fakeInventory) Object(string) (model.Ref, bool) { return model.Ref{}, false }

func (f *fakeInventory) Derive(s model.Snapshot) (model.Declaration, error) {
	d := model.Declaration{Name: "intent", Governs: []string{"live"}, Inventory: true, Scopes: []model.Scope{{Kind: thing}}}
	for i := range s.Resources {
		r := &s.Resources[i]
		d.Claims = append(d.Claims, model.Claim{Declaration: "intent", Address: "entry/" + r.ID, Kind: thing, ID: r.ID, Place: r.Place, Name: r.Name, Value: r.Value})
	}
	return d, f.err
}

// inventoryBench returns a bench of ten things that git and an inventory declare.
func inventoryBench(t *testing.T, deriver *fakeInventory) (*bench, *fakeSource) {
	inventory := &fakeSource{count: 10, values: map[int]string{}, name: "inventory"}
	return newBench(t, 10, func(e *Estate) {
		e.Sources = append(e.Sources, Source{Name: "inventory", Type: "test", Every: 7 * time.Minute, Timeout: time.Minute, Collector: inventory})
		e.Declarations = append(e.Declarations, Declaration{Name: "intent", Type: "test", Governs: []string{"live"}, Every: time.Minute, Deriver: deriver})
	}), inventory
}

func TestDeclarationIsDerivedFromASource(t *testing.T) {
	t.Parallel()
	b, inventory := inventoryBench(t, &fakeInventory{})
	wantVerdicts(t, b.cycle(t), "")
	inventory.values[3] = "2"
	wantVerdicts(t, b.cycle(t), "1 disputed")
	inventory.values[3] = "1"
	b.source.values[4] = "9"
	wantVerdicts(t, b.cycle(t), "1 changed")
	delete(b.source.values, 4)
	inventory.count = 9
	r := b.cycle(t)
	wantVerdicts(t, r, "1 unmanaged")
	if f := r.Findings[0]; f.Declaration != "intent" || f.Reason != "live, and in git (x.yaml), but not in intent" {
		t.Errorf("the finding is about %q and says %q", f.Declaration, f.Reason)
	}
}

func TestInventoryThatCannotBeReadProvesNothing(t *testing.T) {
	t.Parallel()
	deriver := &fakeInventory{}
	b, inventory := inventoryBench(t, deriver)
	inventory.values[3] = "2"
	wantVerdicts(t, b.cycle(t), "1 disputed")
	for _, tc := range []struct {
		reason string
		fault  func()
	}{
		{"its source fails", func() { inventory.err = errors.New("502") }},
		{"neither can be read", func() { inventory.err, deriver.err = nil, errors.New("no cluster") }},
		{"much of it vanished", func() { deriver.err, inventory.count = nil, 2 }},
	} {
		tc.fault()
		r := b.cycle(t)
		open, err := b.store.OpenFindings()
		if err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, f := range open {
			switch f.Verdict {
			case model.Disputed:
				kept++
			case model.Unchecked:
			default:
				t.Errorf("%s: %s %s", tc.reason, f.Verdict, f.Key)
			}
		}
		if kept != 1 || r.Scan.Complete {
			t.Errorf("%s: %d disputes kept, complete %t", tc.reason, kept, r.Scan.Complete)
		}
	}
}

func TestInventoryIsReadWhenItsSourceIs(t *testing.T) {
	t.Parallel()
	b, inventory := inventoryBench(t, &fakeInventory{})
	b.cycle(t)
	inventory.values[3] = "2"
	r, err := b.engine.Cycle(t.Context(), Due{Sources: []string{"inventory"}})
	if err != nil {
		t.Fatal(err)
	}
	wantVerdicts(t, r, "1 disputed")
	inventory.values[3] = "1"
	if r, err = b.engine.Scan(t.Context(), []string{"live"}); err != nil {
		t.Fatal(err)
	}
	wantVerdicts(t, r, "")
}

// TestInventoryOfUnreadSource checks that no inventory is derived from a source that was not
// read: no thing is undeclared in an inventory that was not read.
func TestInventoryOfUnreadSource(t *testing.T) {
	t.Parallel()
	b, inventory := inventoryBench(t, &fakeInventory{})
	r, err := b.engine.Cycle(t.Context(), Due{Sources: []string{"live"}, Declarations: []string{"git", "intent"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Verdict != model.Unchecked {
			t.Errorf("%s %s", f.Verdict, f.Key)
		}
	}
	if inventory.reads != 0 || len(r.Findings) == 0 || r.Scan.Complete {
		t.Errorf("%d reads, %d findings, complete %t", inventory.reads, len(r.Findings), r.Scan.Complete)
	}
}

// TestInventoryFollowsItsSource checks that an inventory is derived again from its source's
// next snapshot.
func TestInventoryFollowsItsSource(t *testing.T) {
	t.Parallel()
	b, inventory := inventoryBench(t, &fakeInventory{})
	wantVerdicts(t, b.cycle(t), "")
	inventory.values[3] = "2"
	seen, err := inventory.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.engine.Cycle(t.Context(), Due{Watched: []model.Snapshot{seen}})
	if err != nil {
		t.Fatal(err)
	}
	wantVerdicts(t, r, "1 disputed")
}

// TestSourcesAreReadAtTheSameTime checks that a scan of several sources takes as long as the
// slowest of them.
func TestSourcesAreReadAtTheSameTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, _ := inventoryBench(t, &fakeInventory{})
		var estate Estate
		for _, name := range []string{"a", "b", "c", "inventory"} {
			pause := time.Duration(len(estate.Sources)+1) * time.Second
			estate.Sources = append(estate.Sources, Source{Name: name, Collector: slowSource{pause}})
		}
		estate.Declarations = b.engine.estate.Declarations
		engine, began := b.restart(estate), time.Now()
		if _, err := engine.Cycle(t.Context(), engine.Everything()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 4400*time.Millisecond {
			t.Errorf("the slowest of four sources takes 4 s, and the scan %s", took)
		}
	})
}

type slowSource struct{ pause time.Duration }

func (s slowSource) Collect(context.Context) (model.Snapshot, error) {
	time.Sleep(s.pause) // virtual
	return model.Snapshot{}, nil
}

// TestOutageKeepsDispute checks that no finding appears and none is resolved while one side of
// a dispute cannot be read.
func TestOutageKeepsDispute(t *testing.T) {
	t.Parallel()
	b, inventory := inventoryBench(t, &fakeInventory{})
	inventory.values[3], b.source.values[3] = "2", "3"
	first := b.cycle(t)
	wantVerdicts(t, first, "1 disputed")
	inventory.err = errors.New("502")
	for range 2 {
		during := b.cycle(t)
		for _, f := range during.Findings {
			if f.Verdict != model.Unchecked {
				t.Errorf("a new finding during the outage: %s %s", f.Verdict, f.Key)
			}
			if f.Kind == model.PartKind && f.Source != "inventory" {
				t.Errorf("%s does not share the source of the outage, and would be a message of its own", f.Key)
			}
		}
	}
	b.source.values[5] = "9"
	wantVerdicts(t, b.cycle(t), "1 changed, 1 unchecked")
	delete(b.source.values, 5)
	inventory.err = nil
	after := b.cycle(t)
	wantVerdicts(t, after, "1 disputed")
	if after.Findings[0].ID != first.Findings[0].ID || !after.Findings[0].FirstSeen.Equal(first.Findings[0].FirstSeen) {
		t.Errorf("the dispute was not kept: %v, then %v", first.Findings[0], after.Findings[0])
	}
}
