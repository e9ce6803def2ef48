package daemon

import (
	"errors"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestLostSourceIsUnverified checks that the state of a source that became unreachable is
// neither resolved nor in sync until there is a new snapshot.
func TestLostSourceIsUnverified(t *testing.T) {
	t.Parallel()
	b := newBench(t, 5, nil)
	b.source.values[1] = "2"
	r := b.cycle(t)
	wantVerdicts(t, r, "1 changed")
	if !r.Scan.Complete {
		t.Fatalf("scan %+v", r.Scan)
	}
	r, err := b.engine.Cycle(t.Context(), Due{Lost: []Loss{{"live", errors.New("connection refused")}}})
	if err != nil {
		t.Fatal(err)
	}
	wantVerdicts(t, r, "5 unchecked")
	if want := (model.NotChecked{Unreachable: 1, Resources: 5}); r.Scan.Complete || r.Scan.NotChecked != want {
		t.Errorf("scan %+v, want %+v", r.Scan, want)
	}
	run, err := b.store.LastRun()
	if err != nil || run.Sources[0].Err != "connection refused" || run.Sources[0].Taken.IsZero() || run.Sources[0].Resources != 5 {
		t.Errorf("run %+v, %v", run.Sources, err)
	}
	open, err := b.store.OpenFindings()
	if err != nil || len(open) != 6 {
		t.Errorf("%d findings are open, want the changed one and five unchecked: %v", len(open), err)
	}
	snapshot, err := b.source.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r, err = b.engine.Cycle(t.Context(), Due{Watched: []model.Snapshot{snapshot}}); err != nil {
		t.Fatal(err)
	}
	wantVerdicts(t, r, "1 changed")
	if !r.Scan.Complete {
		t.Errorf("scan %+v", r.Scan)
	}
}

// TestLossBeforeFirstRead checks that a source that was lost before it was read once is unread,
// with the reason.
func TestLossBeforeFirstRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2, nil)
	r, err := b.engine.Cycle(t.Context(), Due{Lost: []Loss{{"live", errors.New("connection refused")}}, Declarations: []string{"git"}})
	if err != nil {
		t.Fatal(err)
	}
	wantVerdicts(t, r, "2 unchecked")
	if r.Findings[0].Reason != "connection refused" || r.Scan.NotChecked.Unreachable != 1 {
		t.Errorf("report %+v", r)
	}
}
