package daemon

import (
	"errors"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestFailedReadHasLastSuccess checks that a run has the time of the last successful read of a
// source that could not be read, also after a restart.
func TestFailedReadHasLastSuccess(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10, nil)
	source := func() model.SourceRun {
		b.cycle(t)
		runs, err := b.store.Runs(1)
		if err != nil {
			t.Fatal(err)
		}
		return runs[0].Sources[0]
	}
	read := source()
	b.source.err = errors.New("connection refused")
	for i := range 3 {
		if got := source(); got.Err == "" || !got.Taken.Equal(read.Taken) || got.Taken.IsZero() || got.Resources != 10 {
			t.Errorf("failed read %d: taken %v, of %d resources, error %q; want %v and 10", i, got.Taken, got.Resources, got.Err, read.Taken)
		}
		b.engine = b.restart(b.engine.estate)
	}
}
