package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// monthsSource is a source of a few things, one of which differs from its declaration if
// drifted is set.
type monthsSource struct {
	name    string
	drifted bool
	now     func() time.Time
}

const monthsThings = 5

func (s *monthsSource) Collect(context.Context) (model.Snapshot, error) {
	snapshot := model.Snapshot{Source: s.name, Taken: s.now(), Version: "1", Coverage: []model.Coverage{{Source: s.name, Complete: true}},
		Kinds: map[string]*model.Kind{thing: {Name: thing}}}
	for i := range monthsThings {
		id := fmt.Sprintf("p/%02d", i)
		size := "1"
		if i == 0 && s.drifted {
			size = "2"
		}
		snapshot.Resources = append(snapshot.Resources, model.Resource{Key: model.Key{Source: s.name, Kind: thing, ID: id}, Place: "p", Name: id[2:],
			Value: model.MapOf(model.Field{Name: "size", Value: model.StringOf(size)})})
	}
	return snapshot, nil
}

type monthsDeclaration struct{ name, governs string }

func (d monthsDeclaration) Load(ctx context.Context) (model.Declaration, error) {
	loaded, err := (&fakeDeclaration{count: monthsThings}).Load(ctx)
	loaded.Name, loaded.Governs = d.name, []string{d.governs}
	for i := range loaded.Claims {
		loaded.Claims[i].Declaration = d.name
	}
	return loaded, err
}

// months is an estate of many sources, each with a declaration, and its clock.
type months struct {
	clock   monthsClock
	sources []*monthsSource
	engine  *Engine
	store   *store.Store
}

// A monthsClock advances by some milliseconds on each call, so that each read takes another
// time. It is safe for concurrent use.
type monthsClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *monthsClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(time.Duration(7+c.at.UnixNano()%97) * time.Millisecond)
	return c.at
}

func (c *monthsClock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

const monthsSources = 40

func newMonths(t *testing.T) *months {
	t.Helper()
	m := &months{}
	m.clock.set(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	var estate Estate
	for i := range monthsSources {
		s := &monthsSource{name: fmt.Sprintf("cluster-%02d", i), now: m.clock.now}
		m.sources = append(m.sources, s)
		estate.Sources = append(estate.Sources, Source{Name: s.name, Type: "test", Every: 10 * time.Minute, Timeout: time.Minute, Collector: s})
		d := monthsDeclaration{fmt.Sprintf("apps-%02d", i), s.name}
		estate.Declarations = append(estate.Declarations, Declaration{Name: d.name, Type: "test", Governs: []string{s.name}, Every: 10 * time.Minute, Timeout: time.Minute, Loader: d})
	}
	var err error
	m.store, err = store.Open(t.TempDir(), store.Options{Now: m.clock.now, Retention: store.Retention{MaxAge: 90 * 24 * time.Hour, MaxRunBytes: 64 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.store.Close(); err != nil {
			t.Error(err)
		}
	})
	m.engine = New(estate, Options{Store: m.store, Now: m.clock.now, Log: slog.New(slog.DiscardHandler)})
	return m
}

func (m *months) cycle(t *testing.T, due Due) {
	t.Helper()
	if _, err := m.engine.Cycle(t.Context(), due); err != nil {
		t.Fatal(err)
	}
}

// round reads each source in a scan of its own, as separate schedules do. Before that, each
// source in flips starts or stops to drift.
func (m *months) round(t *testing.T, begin time.Time, flips ...int) {
	t.Helper()
	for _, i := range flips {
		m.sources[i].drifted = !m.sources[i].drifted
	}
	for i, s := range m.sources {
		m.clock.set(begin.Add(time.Duration(i) * 10 * time.Second))
		m.cycle(t, Due{Sources: []string{s.name}})
	}
}

// TestMonths simulates 40 sources that are each read every ten minutes, and bounds the daily
// growth of the database: 90 days must stay far below 90 MB. By default it simulates two hours,
// or DRIFTD_TEST_MONTHS_HOURS.
func TestMonths(t *testing.T) {
	t.Parallel()
	hours := 2
	if text := os.Getenv("DRIFTD_TEST_MONTHS_HOURS"); text != "" {
		var err error
		if hours, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	cases := map[string]struct {
		// perDay is the number of findings that appear or are resolved in a day.
		perDay int
		// bound is the maximum growth of the file in a day, in bytes, in addition to the first
		// pages of each bucket.
		bound  int64
		reason string
	}{
		"nothing changes": {0, 10 << 10, "a scan with the results of the last one is stored as a count"},
		"little changes":  {20, 200 << 10, "a finding is stored once, and a run that differs as its difference"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMonths(t)
			m.cycle(t, m.engine.Everything())
			begin := m.clock.now()
			m.round(t, begin.Add(10*time.Minute), 0, 1)
			before, rounds := m.store.Size(), hours*6
			flips := 0
			for r := range rounds {
				var flip []int
				for ; flips < c.perDay*r/(6*24); flips++ {
					flip = append(flip, 2+flips%(monthsSources-2))
				}
				m.round(t, begin.Add(time.Duration(r+2)*10*time.Minute), flip...)
				if r%6 == 5 {
					if _, err := m.store.Prune(m.clock.now()); err != nil {
						t.Fatal(err)
					}
				}
				if r%(6*24) == 0 {
					t.Logf("day %d: %d kB", r/(6*24), m.store.Size()>>10)
				}
			}
			grown := m.store.Size() - before
			t.Logf("%d runs in %d hours: %d kB at first, %d kB more", rounds*monthsSources, hours, before>>10, grown>>10)
			if most := c.bound*int64(hours)/24 + 64<<10; grown > most {
				t.Errorf("grew by %d bytes, want at most %d: %s", grown, most, c.reason)
			}
			m.check(t, rounds, c.perDay > 0)
		})
	}
}

// check checks that there is a record of every run.
func (m *months) check(t *testing.T, rounds int, changes bool) {
	t.Helper()
	runs, err := m.store.Runs(0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range runs {
		n += runs[i].Runs()
	}
	if want := 1 + (rounds+1)*monthsSources; n != want && rounds < 6*24*89 {
		t.Errorf("the records stand for %d runs, want %d", n, want)
	}
	if !changes && len(runs) > 5 {
		t.Errorf("%d records of runs that found the same", len(runs))
	}
	if health, err := m.store.Verify(); err != nil || !health.Whole() {
		t.Errorf("verify: got %+v, %v", health, err)
	}
}
