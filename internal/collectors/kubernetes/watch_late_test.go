package kubernetes

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestWatchWithSlowCallback checks that a change is reported that arrives while changed runs
// longer than the stream lasts.
func TestWatchWithSlowCallback(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := newTestCluster(t, f, nil)
		if _, err := c.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		w := &watched{t: t, fake: f, c: c, stop: stop, done: make(chan struct{})}
		go func() {
			defer close(w.done)
			_ = c.Watch(ctx, func(s model.Snapshot) {
				time.Sleep(time.Hour)
				w.addSnapshot(s)
			}, w.addLoss)
		}()
		t.Cleanup(w.end)
		synctest.Wait()
		f.put("deployments", "shop", "web", `"spec":{"replicas":8}`)
		time.Sleep(time.Minute)
		f.put("deployments", "shop", "web", `"spec":{"replicas":9}`)
		w.after(3 * time.Hour)
		if got := w.value(deployment, "shop/web"); got != `{"replicas":9}` {
			t.Errorf("the last snapshot has %s", got)
		}
	})
}
