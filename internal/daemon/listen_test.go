package daemon

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// A notifiedSource notifies of a change after some time. Before, it panics and fails.
type notifiedSource struct {
	*fakeSource

	began time.Time
	calls []string
	// notified is the number of calls of Notify.
	notified int
}

// Collect reads the source, and notes when.
func (n *notifiedSource) Collect(ctx context.Context) (model.Snapshot, error) {
	n.mu.Lock()
	n.calls = append(n.calls, "read at "+time.Since(n.began).String())
	n.mu.Unlock()
	return n.fakeSource.Collect(ctx)
}

// Notify implements collectors.Notifier.
func (n *notifiedSource) Notify(ctx context.Context, changed func()) error {
	n.mu.Lock()
	n.calls = append(n.calls, "notify at "+time.Since(n.began).String())
	n.notified++
	number := n.notified
	n.mu.Unlock()
	time.Sleep(10 * time.Second)
	switch number {
	case 1:
		panic("a bug")
	case 2:
		return errors.New("no connection")
	}
	changed()
	n.mu.Lock()
	n.calls = append(n.calls, "returned at "+time.Since(n.began).String())
	n.mu.Unlock()
	<-ctx.Done()
	return nil
}

// TestNotified scans a source, and the declaration that governs it, after a notification. Failures
// of Notify are logged, and are no failures of the source.
func TestNotified(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := &notifiedSource{began: time.Now()}
		b := newBench(t, 3, func(e *Estate) { e.Sources[0].Every, e.Declarations[0].Every = 6*time.Hour, 6*time.Hour })
		n.fakeSource = b.source
		b.engine.estate.Sources[0].Collector = n
		var log bytes.Buffer
		b.engine.log = slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			if err := b.engine.Run(ctx, 0); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Minute)
		b.source.mu.Lock()
		b.source.values[1] = "2"
		b.source.mu.Unlock()
		time.Sleep(time.Hour)
		cancel()
		group.Wait()
		n.calls[0], n.calls[1] = min(n.calls[0], n.calls[1]), max(n.calls[0], n.calls[1])
		want := []string{"notify at 0s", "read at 0s", "notify at 40s", "notify at 1m20s", "read at 1m30s", "returned at 1m30s"}
		if diff := cmp.Diff(want, n.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		open, err := b.store.OpenFindings()
		if err != nil || len(open) != 1 || open[0].Verdict != model.Changed {
			t.Errorf("open are %v, %v; want the changed one only", open, err)
		}
		for _, text := range []string{`read="source live, declaration git" findings=1`, `msg="cannot read" of="notifications of source live"`, "a bug", "stack=", "no connection"} {
			if !strings.Contains(log.String(), text) {
				t.Errorf("the log lacks %s:\n%s", text, log.String())
			}
		}
	})
}
