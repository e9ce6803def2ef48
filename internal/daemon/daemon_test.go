package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// fakeSource is a live system of numbered things.
type fakeSource struct {
	mu sync.Mutex
	// name is the source's name; "" means "live".
	name   string
	count  int
	err    error
	hang   bool
	reads  int
	values map[int]string
	// position is the position of the source's data; 0 means none.
	position int64
	// now returns the time; nil means time.Now.
	now func() time.Time
}

func (f *fakeSource) Collect(ctx context.Context) (model.Snapshot, error) {
	f.mu.Lock()
	f.reads++
	hang, err, name := f.hang, f.err, cmp.Or(f.name, "live")
	s := model.Snapshot{Source: name, Taken: f.taken(), Kinds: map[string]*model.Kind{thing: {Name: thing, Namespaced: true}},
		Coverage: []model.Coverage{{Source: name, Complete: true}}}
	if f.position > 0 {
		s.Positions = []model.Position{{Name: "its last change", Value: f.position, Asked: s.Taken}}
	}
	for i := range f.count {
		value := "1"
		if v, ok := f.values[i]; ok {
			value = v
		}
		id := fmt.Sprintf("p/%02d", i)
		s.Resources = append(s.Resources, model.Resource{Key: model.Key{Source: name, Kind: thing, ID: id}, Place: "p", Name: id[2:],
			Value: model.MapOf(model.Field{Name: "size", Value: model.StringOf(value)})})
	}
	f.mu.Unlock()
	if hang {
		<-ctx.Done()
		return model.Snapshot{}, ctx.Err()
	}
	return s, err
}

const thing = "test/Thing"

// fakeDeclaration declares things 0 to count-1.
type fakeDeclaration struct {
	count int
	// size is the declared value; "" means "1".
	size string
	err  error
}

func (f *fakeDeclaration) Load(context.Context) (model.Declaration, error) {
	if f.err != nil {
		return model.Declaration{}, f.err
	}
	d := model.Declaration{Name: "git", Governs: []string{"live"}, Scopes: []model.Scope{{Place: "p"}}}
	for i := range f.count {
		id := fmt.Sprintf("p/%02d", i)
		d.Claims = append(d.Claims, model.Claim{Declaration: "git", Address: "x.yaml", Kind: thing, ID: id, Place: "p", Name: id[2:],
			Value: model.MapOf(model.Field{Name: "size", Value: model.StringOf(cmp.Or(f.size, "1"))})})
	}
	return d, nil
}

type bench struct {
	source      *fakeSource
	declaration *fakeDeclaration
	engine      *Engine
	store       *store.Store
}

func newBench(t *testing.T, things int, change func(*Estate)) *bench {
	t.Helper()
	b := &bench{source: &fakeSource{count: things, values: map[int]string{}}, declaration: &fakeDeclaration{count: things}}
	st, err := store.Open(t.TempDir(), store.Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	b.store = st
	estate := Estate{
		Sources:      []Source{{Name: "live", Type: "test", Every: time.Minute, Timeout: 10 * time.Second, Collector: b.source}},
		Declarations: []Declaration{{Name: "git", Type: "test", Governs: []string{"live"}, Every: time.Minute, Loader: b.declaration}},
	}
	if change != nil {
		change(&estate)
	}
	b.engine = b.restart(estate)
	return b
}

func (b *bench) restart(estate Estate) *Engine {
	return New(estate, Options{Store: b.store, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
}

func (b *bench) cycle(t *testing.T) model.Report {
	t.Helper()
	r, err := b.engine.Cycle(t.Context(), b.engine.Everything())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func verdicts(r model.Report) string {
	count := map[model.Verdict]int{}
	for _, f := range r.Findings {
		count[f.Verdict]++
	}
	var parts []string
	for _, v := range model.Verdicts() {
		if count[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[v], v))
		}
	}
	return strings.Join(parts, ", ")
}

func wantVerdicts(t *testing.T, r model.Report, want string) {
	t.Helper()
	if got := verdicts(r); got != want {
		t.Errorf("findings: %q, want %q", got, want)
	}
}

func TestSilenceWhenNothingDrifted(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10, nil)
	r := b.cycle(t)
	wantVerdicts(t, r, "")
	if d := gocmp.Diff(model.Summary{Resources: 10, InSync: 10}, r.Summary); d != "" || !r.Scan.Complete {
		t.Errorf("summary (-want +got), complete %t:\n%s", r.Scan.Complete, d)
	}
}

func TestFindingIsKeptAndResolved(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10, nil)
	b.source.values[3] = "2"
	first := b.cycle(t)
	second := b.cycle(t)
	wantVerdicts(t, second, "1 changed")
	if first.Findings[0].ID != second.Findings[0].ID || !first.Findings[0].FirstSeen.Equal(second.Findings[0].FirstSeen) {
		t.Errorf("the finding was not kept: %v, then %v", first.Findings[0], second.Findings[0])
	}
	delete(b.source.values, 3)
	wantVerdicts(t, b.cycle(t), "")
	all, err := b.store.Findings(store.Filter{Resolved: true})
	if err != nil || len(all) != 1 || all[0].Resolved.IsZero() {
		t.Errorf("the finding was not resolved: %v, %v", all, err)
	}
}

func TestFailedReadIsNeverMissing(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10, nil)
	b.source.values[3] = "2"
	b.cycle(t)
	b.source.err = errors.New("connection refused")
	r := b.cycle(t)
	wantVerdicts(t, r, "10 unchecked")
	if !strings.Contains(r.Findings[0].Reason, "connection refused") || r.Scan.Complete {
		t.Errorf("complete %t, reason %q", r.Scan.Complete, r.Findings[0].Reason)
	}
	open, err := b.store.OpenFindings()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(open, func(f model.Finding) bool { return f.Verdict == model.Changed }) {
		t.Error("a failed read resolved a finding")
	}
	b.source.err = nil
	wantVerdicts(t, b.cycle(t), "1 changed")
}

func TestFailedDeclarationKeepsFindings(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10, nil)
	b.source.values[3] = "2"
	b.cycle(t)
	b.declaration.err = errors.New("remote is gone")
	wantVerdicts(t, b.cycle(t), "1 unchecked")
	open, err := b.store.OpenFindings()
	if err != nil || len(open) != 2 {
		t.Errorf("open: %v, %v; want the changed one and the unreadable declaration", open, err)
	}
	b.declaration.err = nil
	wantVerdicts(t, b.cycle(t), "1 changed")
}

func TestMassDisappearanceIsHeldBack(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason        string
		before, after int
		want          string
	}{
		{"a few may go", 20, 15, "5 missing"},
		{"up to a fifth may go", 40, 32, "8 missing"},
		{"more is held back until the next read", 20, 10, "20 unchecked"},
		{"everything is doubted too", 20, 0, "20 unchecked"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.before, nil)
			b.cycle(t)
			b.source.count = tc.after
			wantVerdicts(t, b.cycle(t), tc.want)
			wantVerdicts(t, b.cycle(t), fmt.Sprintf("%d missing", tc.before-tc.after))
		})
	}
}

func TestHeldBackResultSurvivesARestart(t *testing.T) {
	t.Parallel()
	b := newBench(t, 20, nil)
	b.cycle(t)
	b.source.count = 10
	b.engine = b.restart(b.engine.estate)
	wantVerdicts(t, b.cycle(t), "20 unchecked")
	b.engine = b.restart(b.engine.estate)
	wantVerdicts(t, b.cycle(t), "10 missing")
}

func TestCommandLineConfirmsAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, 20, func(e *Estate) { e.ConfirmAtOnce = true })
	b.cycle(t)
	b.source.count = 10
	wantVerdicts(t, b.cycle(t), "10 missing")
	if b.source.reads != 3 {
		t.Errorf("%d reads, want one and then two", b.source.reads)
	}
}

func TestHungSourceDelaysNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hung := &fakeSource{hang: true}
		b := newBench(t, 10, func(e *Estate) {
			e.Sources = append(e.Sources, Source{Name: "hung", Type: "test", Every: time.Minute, Timeout: 10 * time.Second, Collector: hung})
		})
		b.source.values[3] = "2"
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			if err := b.engine.Run(ctx, time.Second); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(5 * time.Second) // virtual: the hung source times out in five seconds
		synctest.Wait()
		open, err := b.store.OpenFindings()
		if err != nil || len(open) != 1 || open[0].Verdict != model.Changed {
			t.Errorf("open while a source hangs: %v, %v", open, err)
		}
		if waiting := b.engine.Waiting(); len(waiting) != 1 || !strings.Contains(waiting[0], "hung") {
			t.Errorf("waiting for %v, want the hung source", waiting)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if waiting := b.engine.Waiting(); len(waiting) != 0 {
			t.Errorf("still waiting for %v after the timeout", waiting)
		}
		cancel()
		group.Wait()
	})
}

func TestScheduleRepeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1, nil)
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			if err := b.engine.Run(ctx, 0); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(5*time.Minute + 30*time.Second)
		cancel()
		group.Wait()
		if b.source.reads != 6 {
			t.Errorf("%d reads in five and a half minutes, want one at once and one a minute", b.source.reads)
		}
	})
}

func TestCancelledScanStoresNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, 10, nil)
	b.source.hang = true
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.engine.Cycle(ctx, b.engine.Everything()); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if _, err := b.store.LastRun(); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a cancelled scan left a run record: %v", err)
	}
}

func TestScanOfAnUnknownSource(t *testing.T) {
	t.Parallel()
	b := newBench(t, 1, nil)
	if _, err := b.engine.Scan(t.Context(), []string{"nope"}); !errors.Is(err, ErrUnknownSource) {
		t.Errorf("err = %v", err)
	}
}

func TestSameInputsSameReport(t *testing.T) {
	t.Parallel()
	var reports []string
	for range 3 {
		b := newBench(t, 30, nil)
		for i := range 10 {
			b.source.values[i*2] = "2"
		}
		r := b.cycle(t)
		var ids []string
		for _, f := range r.Findings {
			ids = append(ids, f.ID+" "+f.Key.String())
		}
		reports = append(reports, strings.Join(ids, "\n"))
	}
	if reports[0] != reports[1] || reports[1] != reports[2] {
		t.Error("three scans of the same estate differ")
	}
}

func TestClaimsHaveSince(t *testing.T) {
	t.Parallel()
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	c := func(id, size string, since time.Time) model.Claim {
		return model.Claim{Kind: thing, ID: id, ClaimHistory: model.ClaimHistory{Since: since}, Value: model.MapOf(model.Field{Name: "size", Value: model.StringOf(size)})}
	}
	before := []model.Claim{c("same", "1", at(1)), c("changed", "1", at(1)), c("unknown", "1", time.Time{})}
	got := withSince(before, []model.Claim{c("same", "1", time.Time{}), c("changed", "2", time.Time{}), c("unknown", "1", time.Time{}),
		c("new", "1", time.Time{}), c("dated", "1", at(3))}, at(2))
	want := []time.Time{at(1), at(2), {}, at(2), at(3)}
	for i := range got {
		if !got[i].Since.Equal(want[i]) {
			t.Errorf("%s: since %v, want %v", got[i].ID, got[i].Since, want[i])
		}
	}
	if first := withSince(nil, before, at(2)); !first[2].Since.IsZero() {
		t.Error("a claim of the first read has a time")
	}
	if folder := withSince(before, []model.Claim{c("changed", "2", time.Time{})}, time.Time{}); !folder[0].Since.IsZero() {
		t.Error("a claim of a folder has a time")
	}
}

func TestWatchedDeletionsAreAccepted(t *testing.T) {
	t.Parallel()
	b := newBench(t, 20, nil)
	b.cycle(t)
	b.source.count = 10
	seen, err := b.source.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.engine.Cycle(t.Context(), Due{Watched: []model.Snapshot{seen}})
	if err != nil {
		t.Fatal(err)
	}
	wantVerdicts(t, r, "10 missing")
}

func TestWatchDoesNotConfirmAHeldBackResult(t *testing.T) {
	t.Parallel()
	b := newBench(t, 20, nil)
	b.cycle(t)
	b.source.count = 10
	wantVerdicts(t, b.cycle(t), "20 unchecked")
	seen, err := b.source.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.engine.Cycle(t.Context(), Due{Watched: []model.Snapshot{seen}})
	if err != nil {
		t.Fatal(err)
	}
	wantVerdicts(t, r, "20 unchecked")
}

func TestUnseenSourceIsUnchecked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 3, nil)
		r, err := b.engine.Cycle(t.Context(), Due{Declarations: []string{"git"}})
		if err != nil {
			t.Fatal(err)
		}
		wantVerdicts(t, r, "3 unchecked")
		if r.Scan.Complete || !strings.Contains(r.Findings[0].Reason, "not looked at yet") {
			t.Errorf("complete %t, reason %q", r.Scan.Complete, r.Findings[0].Reason)
		}
	})
}

func TestWholeEstateResolvesRemovedSources(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3, func(e *Estate) { e.Whole = true })
	b.source.values[1] = "2"
	wantVerdicts(t, b.cycle(t), "1 changed")
	b.engine = b.restart(Estate{Whole: true})
	b.cycle(t)
	if open, err := b.store.OpenFindings(); err != nil || len(open) != 0 {
		t.Errorf("open: %v, %v; want none: the source left the estate", open, err)
	}
}

// failingStore returns an error from Save while it is full.
type failingStore struct {
	*store.Store
	full atomic.Bool
}

func (f *failingStore) Save(r store.Record) error {
	if f.full.Load() {
		return errors.New("no space left on device")
	}
	return f.Store.Save(r)
}

func TestScanIsSavedOnceTheStoreHasRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 3, nil)
		b.source.values[1] = "2"
		full := &failingStore{Store: b.store}
		full.full.Store(true)
		b.engine = New(b.engine.estate, Options{Store: full, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() {
			if err := b.engine.Run(ctx, 0); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(5 * time.Second)
		if waiting := b.engine.Waiting(); len(waiting) != 1 {
			t.Errorf("waiting for %v, want room in the store", waiting)
		}
		full.full.Store(false)
		time.Sleep(retryStore)
		synctest.Wait()
		open, err := b.store.OpenFindings()
		if err != nil || len(open) != 1 || len(b.engine.Waiting()) != 0 {
			t.Errorf("open %v, %v, waiting for %v", open, err, b.engine.Waiting())
		}
		if _, err := b.store.History(model.Key{Source: "live", Kind: thing, ID: "p/01"}); err != nil {
			t.Errorf("the resources were not stored: %v", err)
		}
		cancel()
		group.Wait()
	})
}
