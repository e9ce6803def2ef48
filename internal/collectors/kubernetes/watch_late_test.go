package kubernetes

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestWatchKeepsWhatWasRead holds that a change is reported that arrives while the one
// before is worked on, for longer than the stream lasts.
func TestWatchKeepsWhatWasRead(t *testing.T) {
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
				w.tell(s)
			}, w.lose)
		}()
		t.Cleanup(w.end)
		synctest.Wait()
		f.put("deployments", "shop", "web", `"spec":{"replicas":8}`)
		time.Sleep(time.Minute)
		f.put("deployments", "shop", "web", `"spec":{"replicas":9}`)
		w.after(3 * time.Hour)
		if got := w.value(deployment, "shop/web"); got != `{"replicas":9}` {
			t.Errorf("the last that is told is %s", got)
		}
	})
}
