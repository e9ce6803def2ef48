package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/model"
)

// An objectSource is a fakeSource that can read single things, by their ids.
type objectSource struct {
	*fakeSource

	// partErr is the error of reading single things.
	partErr error
	// parts counts these reads. held is called before they return.
	parts int
	held  func()
}

// CollectObjects implements collectors.ObjectCollector.
func (o *objectSource) CollectObjects(ctx context.Context, names []model.ObjectName, last *model.Snapshot) (model.Snapshot, error) {
	o.parts++
	whole, err := o.Collect(ctx)
	if err := errors.Join(err, o.partErr); err != nil {
		return model.Snapshot{}, err
	}
	part := model.Snapshot{Source: last.Source, Taken: whole.Taken, Positions: whole.Positions}
	for _, name := range names {
		part.Reread = append(part.Reread, model.Reread{Ref: model.Ref{Kind: thing, ID: name.ID}, At: part.Taken})
	}
	for _, r := range whole.Resources {
		if slices.ContainsFunc(names, func(n model.ObjectName) bool { return n.ID == r.ID }) {
			part.Resources = append(part.Resources, r)
		}
	}
	if o.held != nil {
		o.held()
	}
	return part, nil
}

type objectBench struct {
	*bench
	source *objectSource
	log    *strings.Builder
}

// newObjectBench returns a bench with 10 things that were read once.
func newObjectBench(t *testing.T) *objectBench {
	t.Helper()
	b := &objectBench{log: &strings.Builder{}}
	b.bench = newBench(t, 10, func(e *Estate) {
		fake, _ := e.Sources[0].Collector.(*fakeSource)
		b.source = &objectSource{fakeSource: fake}
		e.Sources[0].Collector = b.source
	})
	b.engine.log = slog.New(slog.NewTextHandler(b.log, nil))
	b.cycle(t)
	return b
}

// event scans after an event that names things.
func (b *objectBench) event(t *testing.T, ids ...string) model.Report {
	t.Helper()
	o := SourceObjects{Source: "live"}
	for _, id := range ids {
		o.Names = append(o.Names, model.ObjectName{Type: thing, ID: id})
	}
	r, err := b.engine.Cycle(t.Context(), Due{Objects: []SourceObjects{o}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// open returns the open findings as text.
func (b *objectBench) open(t *testing.T) string {
	t.Helper()
	open, err := b.store.OpenFindings()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for i := range open {
		found = append(found, fmt.Sprintf("%s %s", open[i].Verdict, open[i].Key.ID))
	}
	slices.Sort(found)
	return strings.Join(found, ", ")
}

func (b *objectBench) want(t *testing.T, want string) {
	t.Helper()
	if got := b.open(t); got != want {
		t.Errorf("open findings: %q, want %q", got, want)
	}
}

func TestObjectsAreReadAlone(t *testing.T) {
	t.Parallel()
	b := newObjectBench(t)
	b.source.values[1], b.source.values[2] = "2", "2"
	b.event(t, "p/01")
	b.want(t, "changed p/01")
	b.source.count = 9
	b.event(t, "p/09")
	b.want(t, "changed p/01, missing p/09")
	b.source.count = 11
	b.event(t, "p/10", "p/09")
	b.want(t, "changed p/01, unmanaged p/10")
	b.event(t, "p/77") // a forged event
	b.want(t, "changed p/01, unmanaged p/10")
	delete(b.source.values, 1)
	b.event(t, "p/01")
	b.want(t, "unmanaged p/10")
	for _, want := range []string{`read="1 of 10 objects of source live"`, `read="1 of 9 objects of source live"`, `read="2 of 11 objects of source live"`} {
		if !strings.Contains(b.log.String(), want) {
			t.Errorf("the log has no %s:\n%s", want, b.log)
		}
	}
	b.cycle(t)
	b.want(t, "changed p/02, unmanaged p/10")
}

// TestObjectsHaveTheirOwnTime checks that a partial read changes no time of what it did not read.
func TestObjectsHaveTheirOwnTime(t *testing.T) {
	t.Parallel()
	b := newObjectBench(t)
	now := time.Now()
	b.source.now = func() time.Time { return now }
	b.source.values[1], b.source.values[2] = "2", "2"
	b.cycle(t)
	full := now
	now = now.Add(time.Hour)
	b.source.values[1] = "3"
	b.event(t, "p/01", "p/03")
	b.source.values[3] = "2"
	now = now.Add(time.Hour)
	b.event(t, "p/03")
	open, err := b.store.OpenFindings()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]time.Duration{}
	for i := range open {
		seen[open[i].Key.ID] = open[i].LastSeen.Sub(full)
	}
	if diff := gocmp.Diff(map[string]time.Duration{"p/01": time.Hour, "p/02": 0, "p/03": 2 * time.Hour}, seen); diff != "" {
		t.Errorf("last_seen of the findings, after the full read (-want +got):\n%s", diff)
	}
	run, err := b.store.LastRun()
	if err != nil {
		t.Fatal(err)
	}
	if taken := run.Sources[0].Taken; !taken.Equal(full) {
		t.Errorf("the source was read in full at %s, and the run record has %s", full, taken)
	}
	seenValues, err := b.store.Observations([]model.Key{{Source: "live", Kind: thing, ID: "p/01"}})
	if err != nil {
		t.Fatal(err)
	}
	if at := seenValues[0][0].At; !at.Equal(full.Add(time.Hour)) {
		t.Errorf("the value was read at %s, and stored as of %s", full.Add(time.Hour), at)
	}
}

// TestWholeSourceInsteadOfObjects checks the reasons for which the whole source is read.
func TestWholeSourceInsteadOfObjects(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want string
		make func(*testing.T, *objectBench)
	}{
		"an error": {"connection refused", func(_ *testing.T, b *objectBench) { b.source.partErr = errors.New("connection refused") }},
		"an old copy": {"went back from 9 to 8", func(t *testing.T, b *objectBench) {
			b.source.position = 9
			b.cycle(t)
			b.source.position = 8
		}},
		"a kind that is not read alone": {"tags concern other objects", func(_ *testing.T, b *objectBench) {
			b.source.partErr = &collectors.WholeError{Reason: "tags concern other objects"}
		}},
		"not read yet": {"was not read in full since the start", func(t *testing.T, b *objectBench) {
			log := b.engine.log
			b.engine = b.restart(b.engine.estate)
			b.engine.log = log
			b.engine.collectAndLoad(t.Context(), Due{Declarations: []string{"git"}})
		}},
		"a failed full read": {"its last full read failed", func(t *testing.T, b *objectBench) {
			b.source.err = errors.New("connection refused")
			b.cycle(t)
			b.source.err = nil
		}},
		"another type": {"sources of type test are always read in full", func(_ *testing.T, b *objectBench) {
			b.engine.estate.Sources[0].Collector = b.source.fakeSource
		}},
		"many partial reads": {"read in part 100 times", func(t *testing.T, b *objectBench) {
			for range maxRereads {
				b.event(t, "p/05")
			}
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newObjectBench(t)
			tt.make(t, b)
			b.source.values[2] = "2" // not named
			b.event(t, "p/01")
			if log := b.log.String(); !strings.Contains(log, tt.want) || !strings.Contains(log, `read="source live"`) {
				t.Errorf("the log has no %q:\n%s", tt.want, log)
			}
			if !strings.Contains(b.open(t), "changed p/02") {
				t.Errorf("the source was not read in full: %s", b.open(t))
			}
		})
	}
}

// TestVanishedObjects checks that events cannot make many things missing that a full read would
// hold back.
func TestVanishedObjects(t *testing.T) {
	t.Parallel()
	b := newObjectBench(t)
	b.source.count = 3
	names := []string{"p/03", "p/04", "p/05", "p/06", "p/07", "p/08", "p/09"}
	b.event(t, names...)
	if open := b.open(t); strings.Contains(open, "missing") {
		t.Errorf("open findings: %s", open)
	}
	b.cycle(t)
	if open := b.open(t); strings.Count(open, "missing") != len(names) {
		t.Errorf("open findings after a full read has confirmed it: %s", open)
	}
}

// TestObjectsDuringAFullRead checks that a partial read survives the end of a full read that
// began before.
func TestObjectsDuringAFullRead(t *testing.T) {
	t.Parallel()
	b := newObjectBench(t)
	slow := &delayed{fakeSource: b.source.fakeSource, reading: make(chan struct{}), deliver: make(chan struct{})}
	s := b.engine.estate.Sources[0]
	s.Collector = slow
	var full sync.WaitGroup
	full.Go(func() { b.engine.setCollected("live", b.engine.collectSource(t.Context(), s)) })
	<-slow.reading // the full read has the old values
	b.source.mu.Lock()
	b.source.values[1], b.source.count = "2", 9
	b.source.mu.Unlock()
	b.event(t, "p/01", "p/09")
	close(slow.deliver)
	full.Wait()
	if _, err := b.engine.Cycle(t.Context(), Due{}); err != nil {
		t.Fatal(err)
	}
	b.want(t, "changed p/01, missing p/09")
}

// TestObjectsAfterAFullRead checks that a partial read is dropped if a full read that began later
// is finished.
func TestObjectsAfterAFullRead(t *testing.T) {
	t.Parallel()
	b := newObjectBench(t)
	b.source.held = func() {
		b.source.held = nil
		b.source.values[1] = "2"
		b.engine.collectAndLoad(t.Context(), Due{Sources: []string{"live"}})
	}
	b.event(t, "p/01")
	b.want(t, "changed p/01")
	if log := b.log.String(); !strings.Contains(log, "that a later read includes") {
		t.Errorf("the partial read was not dropped:\n%s", log)
	}
}

// TestForgedEventsDoNotCount verifies that events about objects that do not exist do not lead to full reads.
func TestForgedEventsDoNotCount(t *testing.T) {
	t.Parallel()
	b := newObjectBench(t)
	for i := range maxRereads + 1 {
		b.event(t, fmt.Sprintf("forged/%d", i))
	}
	b.source.values[1] = "2"
	b.event(t, "p/01")
	b.want(t, "changed p/01")
	if log := b.log.String(); strings.Contains(log, "reads the whole source") || !strings.Contains(log, `read="0 of 10 objects of source live"`) {
		t.Errorf("the log:\n%s", log)
	}
}

// TestObjectFoundDuringAPartialRead verifies that an object which only a read that ended meanwhile has found is not absent
// because of a partial read, which did not check whether it may see it.
func TestObjectFoundDuringAPartialRead(t *testing.T) {
	t.Parallel()
	r := reread{part: model.Snapshot{Source: "live", Reread: []model.Reread{{Ref: model.Ref{Kind: thing, ID: "p/10"}}}}}
	with := &model.Snapshot{Source: "live", Resources: []model.Resource{{Key: model.Key{Source: "live", Kind: thing, ID: "p/10"}}}}
	none := &model.Snapshot{Source: "live"}
	for name, tc := range map[string]struct {
		reason    string
		last, now *model.Snapshot
		want      string
	}{
		"found meanwhile": {"the read did not check it", none, with, "p/10"},
		"known before":    {"the read did check it", with, with, ""},
		"gone meanwhile":  {"both reads agree", with, none, ""},
		"never there":     {"a forged event", none, none, ""},
	} {
		if got := r.unproven(tc.last, tc.now); got.ID != tc.want {
			t.Errorf("%s: %s: got %q", name, tc.reason, got.ID)
		}
	}
}
