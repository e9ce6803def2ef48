package store

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestOnlyTheLastRunListsExemptions verifies that earlier runs keep only the count.
func TestOnlyTheLastRunListsExemptions(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, id := range []string{"1", "2", "3"} {
		run := model.Run{ID: id, Started: start.Add(time.Duration(i) * time.Minute), Summary: model.Summary{Exempt: 1, Resources: i}, Tool: "test",
			Declarations: []model.DeclarationRun{{Name: "infra", Objects: model.ObjectSample(id)}},
			Exempt:       []model.Exemption{{Declaration: "shop", Path: "spec.replicas", Why: id}}}
		if err := s.Save(Record{Run: run}); err != nil {
			t.Fatal(err)
		}
	}
	runs, err := s.Runs(0)
	if err != nil || len(runs) != 3 {
		t.Fatalf("runs: %v %v", runs, err)
	}
	for i, want := range []int{1, 0, 0} {
		r := &runs[i]
		if len(r.Exempt) != want || r.Summary.Exempt != 1 || r.Tool != "test" {
			t.Errorf("run %s lists %d exemptions of %d, want %d", r.ID, len(r.Exempt), r.Summary.Exempt, want)
		}
		if got := len(r.Declarations[0].Objects); got != want {
			t.Errorf("run %s has %d bytes of objects, want %d", r.ID, got, want)
		}
	}
	if runs[0].ID != "3" || runs[0].Exempt[0].Why != "3" || runs[2].Started != start {
		t.Errorf("runs: %+v", runs)
	}
}
