package kubernetes

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/budget"
)

// TestWatchWithinBudget checks that a cluster is lost if the watched objects exceed the memory
// budget, and watched again if they fit again.
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
			// A replaced object does not increase the memory use.
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
		if snapshots := w.after(time.Hour); len(snapshots) == 0 {
			t.Error("the cluster is not watched again")
		}
		f.put("deployments", "shop", "web", `"spec":{"replicas":9}`)
		w.after(time.Minute)
		if got := w.value(deployment, "shop/web"); got != `{"replicas":9}` {
			t.Errorf("after a later change: %s", got)
		}
	})
}

// TestWatchListsWithinBudget checks that the budget applies to lists of a watch while they are
// read.
func TestWatchListsWithinBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := newTestCluster(t, f, nil)
		if _, err := c.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := watchWithin(budget.NewTotal(1<<30).Scope(t.Context(), 8<<20), t, f, c)
		const most = 400
		pages := 0
		f.intercept(func(out http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "/deployments") || r.URL.Query().Has("watch") {
				return false
			}
			pages++
			next := fmt.Sprint(pages)
			if pages >= most {
				next = ""
			}
			_, _ = fmt.Fprintf(out, `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"1","continue":%q},
				"items":[{"metadata":{"name":"l%d","namespace":"shop"},"spec":{"text":%q}}]}`, next, pages, strings.Repeat("x", 100<<10))
			return true
		})
		f.sendLine("deployments", `{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}`)
		w.after(10 * time.Second)
		// The watch lists the pages, and so does the scan after it.
		if pages == 0 || pages > 200 {
			t.Errorf("%d pages of 100 KiB are read within 8 MiB", pages)
		}
		if len(w.losses) == 0 || !isTooLarge(w.losses[0]) {
			t.Errorf("lost: %v", w.losses)
		}
	})
}

// TestWatchEventsWithinBudget checks that the budget applies to the decoding of events.
func TestWatchEventsWithinBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		c := newTestCluster(t, f, nil)
		if _, err := c.Collect(t.Context()); err != nil {
			t.Fatal(err)
		}
		w := watchWithin(budget.NewTotal(1<<30).Scope(t.Context(), 8<<20), t, f, c)
		f.put("deployments", "shop", "large", `"spec":{"text":"`+strings.Repeat("x", 1<<20)+`"}`)
		f.put("deployments", "shop", "web", `"spec":{"replicas":9}`)
		w.after(time.Minute)
		if got := w.value(deployment, "shop/web"); got != `{"replicas":9}` || len(w.losses) > 0 {
			t.Fatalf("after an event of 1 MiB, another is %s; lost: %v", got, w.losses)
		}
		f.put("deployments", "shop", "maps", `"spec":[`+strings.Repeat("{},", 20_000)+`{}]`)
		w.after(time.Minute)
		if len(w.losses) != 1 || !isTooLarge(w.losses[0]) {
			t.Errorf("lost with an event of many maps: %v", w.losses)
		}
	})
}
