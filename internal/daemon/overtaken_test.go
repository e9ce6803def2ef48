package daemon

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// A delayed source reads at once, and holds its first result back until deliver is closed.
type delayed struct {
	*fakeSource

	began   atomic.Bool
	reading chan struct{}
	deliver chan struct{}
}

func (d *delayed) Collect(ctx context.Context) (model.Snapshot, error) {
	s, err := d.fakeSource.Collect(ctx)
	if !d.began.Swap(true) {
		close(d.reading)
		<-d.deliver
	}
	return s, err
}

// TestOvertakenRead checks that a read does not replace the result of one that began later, as the read of an action does
// during a scan.
func TestOvertakenRead(t *testing.T) {
	t.Parallel()
	source := &delayed{reading: make(chan struct{}), deliver: make(chan struct{})}
	b := newBench(t, 3, func(e *Estate) {
		source.fakeSource, _ = e.Sources[0].Collector.(*fakeSource)
		e.Sources[0].Collector = source
	})
	source.values[1] = "2"
	var scan sync.WaitGroup
	scan.Go(func() {
		if _, err := b.engine.Cycle(t.Context(), Due{Sources: []string{"live"}, Declarations: []string{"git"}}); err != nil {
			t.Error(err)
		}
	})
	<-source.reading
	source.mu.Lock()
	source.values[1] = "3"
	source.mu.Unlock()
	// This goes through collectAndLoad, because a whole Cycle waits for the first result of each source.
	b.engine.collectAndLoad(t.Context(), Due{Sources: []string{"live"}})
	close(source.deliver)
	scan.Wait()
	open, err := b.store.OpenFindings()
	if err != nil {
		t.Fatal(err)
	}
	if len(open) != 1 || len(open[0].Changes) != 1 || open[0].Changes[0].Live.Text() != "3" {
		t.Errorf("the findings are of the read that began first: %+v", open)
	}
}
