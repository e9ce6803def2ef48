package web

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// many returns findings with long fields.
func many(n int, long bool) []model.Finding {
	all := make([]model.Finding, n)
	for i := range all {
		f := finding(fmt.Sprintf("%08x", i+1<<20), model.Changed, model.Severities()[i%5], fmt.Sprintf("Deployment.apps/shop-%d/web-%d", i%97, i))
		f.Owner = fmt.Sprintf("team-%d", i%60)
		f.Changes = []model.Change{
			{Path: image, Declared: text(fmt.Sprintf("registry.example.org/shop/web:1.4.%d", i)), Live: text(fmt.Sprintf("registry.example.org/shop/web:1.5.%d-hotfix", i))},
			{Path: "spec.replicas", Declared: number(3), Live: number(int64(i))},
		}
		if long {
			f.Name, f.Owner, f.Reason = strings.Repeat(`<'"&`, 200), strings.Repeat(`"'<`, 200), strings.Repeat("&", 5000)
			f.Actor.Name, f.Actor.Message = strings.Repeat(`<">`, 300), strings.Repeat(`<">`, 300)
			f.Changes[0].Declared, f.Changes[0].Live = text(strings.Repeat(`'<&`, 1000)), text(strings.Repeat(`">&`, 1000))
		}
		all[i] = f
	}
	return all
}

// mostBytes is the maximum size of a page before compression.
const mostBytes = 300_000

func TestPageOfManyFindings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		n      int
		long   bool
	}{
		"10,000": {"the page of a large estate opens on a phone", 10000, false},
		"long":   {"nothing that stands in a row is unbounded", 150, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := emptyStore(t)
			save(t, s, store.Record{Run: run(), Findings: many(tc.n, tc.long)})
			h := newHouse(t, s, nil)
			for _, target := range []string{"/", "/?page=2", "/timeline"} {
				if body := h.page(t, target); len(body) >= mostBytes {
					t.Errorf("%s weighs %d bytes: %s", target, len(body), tc.reason)
				} else {
					t.Logf("%s weighs %d bytes", target, len(body))
				}
			}
			if n := strings.Count(h.page(t, "/"), `<tr id="f-`); n != pageSize {
				t.Errorf("%d rows, want %d", n, pageSize)
			}
		})
	}
}

// countingStore counts how often the open findings are read.
type countingStore struct {
	*store.Store
	mu   sync.Mutex
	read int
}

func (c *countingStore) Findings(f store.Filter) ([]model.Finding, error) {
	c.mu.Lock()
	c.read++
	c.mu.Unlock()
	return c.Store.Findings(f)
}

func TestManyViewersShareOneIndex(t *testing.T) {
	t.Parallel()
	counting := &countingStore{Store: filled(t)}
	h := newHouse(t, counting.Store, func(o *Options) { o.API.Store = counting })
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			answer := h.ask(t, access.Viewer, http.MethodGet, "/", nil)
			if answer.StatusCode != http.StatusOK {
				t.Error(answer.Status)
			}
		})
	}
	group.Wait()
	if counting.read != 1 {
		t.Errorf("what is open was read %d times, want once", counting.read)
	}
}

func BenchmarkPage(b *testing.B) {
	s := emptyStore(b)
	save(b, s, store.Record{Run: run(), Findings: many(10000, false)})
	h := newHouse(b, s, nil)
	h.page(b, "/")
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			h.page(b, "/")
		}
	})
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			h.page(b, "/?q=hotfix+web-99")
		}
	})
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			if _, err := h.buildIndex(1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("timeline", func(b *testing.B) {
		for b.Loop() {
			if _, err := h.buildTimeline(earlier(7 * 24 * 3600e9)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
