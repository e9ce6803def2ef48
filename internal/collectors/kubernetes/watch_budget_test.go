package kubernetes

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/budget"
)

// TestWatchWithinBudget holds that a cluster is lost when what is followed outgrows the
// memory that it may have, and followed again when it fits again.
func TestWatchWithinBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := newTestCluster(t, f, nil)
		if _, err := c.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := watchWithin(budget.NewTotal(1<<30).Scope(t.Context(), 8<<20), t, f, c)
		large := `"spec":{"text":"` + strings.Repeat("x", 100<<10) + `"}`
		for range 3 {
			// The same object anew takes no more than once.
			for range 100 {
				f.put("deployments", "shop", "large", large)
			}
			w.after(time.Minute)
		}
		if len(w.losses) > 0 {
			t.Fatalf("lost with one object of 100 KiB: %v", w.losses)
		}
		for i := range 100 {
			f.put("deployments", "shop", fmt.Sprintf("large-%d", i), large)
		}
		w.after(time.Minute)
		if len(w.losses) != 1 || !isTooLarge(w.losses[0]) {
			t.Fatalf("lost with 100 objects of 100 KiB: %v", w.losses)
		}
		for i := range 100 {
			f.remove("deployments", fmt.Sprintf("shop/large-%d", i))
		}
		if told := w.after(time.Hour); len(told) == 0 {
			t.Error("it is not followed again")
		}
		f.put("deployments", "shop", "web", `"spec":{"replicas":9}`)
		w.after(time.Minute)
		if got := w.value(deployment, "shop/web"); got != `{"replicas":9}` {
			t.Errorf("after that, a change is %s", got)
		}
	})
}
