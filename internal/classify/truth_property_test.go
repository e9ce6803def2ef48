package classify

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

// A history is a world that changes, and the findings of scans that each see a part of it.
type history struct {
	world, before *world
	open, recent  []model.Finding
	now           time.Time
}

// step lets time pass: edits happen, and sources or declarations may leave the estate.
func (h *history) step(t *rapid.T, edit func()) {
	w := *h.world
	w.live, w.declared, w.recorded = maps.Clone(w.live), map[string]map[model.Key]model.Value{}, map[string]map[model.Key]model.Value{}
	for name, declared := range h.world.declared {
		w.declared[name], w.recorded[name] = maps.Clone(declared), maps.Clone(h.world.recorded[name])
	}
	h.before, h.now = &w, h.now.Add(10*time.Minute)
	edit()
	if rapid.IntRange(0, 15).Draw(t, "source leaves") == 0 {
		h.world.sources = []string{"s"}
	}
	if n := len(h.world.declarations); n > 0 && rapid.IntRange(0, 15).Draw(t, "declaration leaves") == 0 {
		i := rapid.IntRange(0, n-1).Draw(t, "which")
		delete(h.world.declared, h.world.declarations[i])
		h.world.declarations = slices.Delete(slices.Clone(h.world.declarations), i, i+1)
	}
}

// scan scans the world as it is. Input.Whole is not set in some scans, as in one of a
// single source: these prove less.
func (h *history) scan(t *rapid.T) (scan, Input, Result) {
	sc := drawScan(t, h.world, h.before, h.now)
	in := sc.input(h.world)
	in.Earlier, in.Recent, in.Now = h.open, h.recent, h.now
	if rapid.IntRange(0, 3).Draw(t, "partial") == 0 {
		in.Whole, in.Sources = false, nil
	}
	return sc, in, Findings(in)
}

func (h *history) keep(r Result) { h.open, h.recent = r.Open(), r.Resolved }

func newHistory(t *rapid.T) *history {
	w := drawWorld(t)
	return &history{world: w, before: w, now: now}
}

func (h *history) edits(t *rapid.T) func() {
	return func() {
		for _, k := range theKeys {
			h.world.edit(t, k)
		}
	}
}

// TestFindingsAreTrue holds that each finding of a scan is true in the world, however
// little of the world the scan could read, and that nothing is missing in stale sources.
func TestFindingsAreTrue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		for range rapid.IntRange(1, 4).Draw(t, "scans") {
			h.step(t, h.edits(t))
			sc, _, r := h.scan(t)
			for i := range r.Current {
				checkTrue(t, h.world, &sc, &r.Current[i])
			}
			h.keep(r)
		}
	})
}

func checkTrue(t *rapid.T, w *world, sc *scan, f *model.Finding) {
	if !f.Verdict.IsDrift() {
		return
	}
	snapshot := sc.of(f.Source)
	if snapshot == nil {
		t.Fatalf("%s %s, and its source was not read", f.Key, f.Verdict)
	}
	if len(snapshot.Stale) > 0 {
		if f.Verdict == model.Missing {
			t.Fatalf("%s is missing in a stale source", f.Key)
		}
		return
	}
	if !sc.reads[f.Key] {
		t.Fatalf("%s %s, and it was not read", f.Key, f.Verdict)
	}
	v, exists := w.live[f.Key]
	drifts := w.drifts(f.Key, w.declarations)
	switch f.Verdict {
	case model.Missing:
		if !slices.Contains(drifts, "missing") {
			t.Fatalf("%s is called missing", f.Key)
		}
	case model.Unmanaged:
		if _, claimed := w.declared[f.Declaration][f.Key]; !exists || claimed || f.Declaration == "" && !slices.Contains(drifts, "unmanaged") && everyGroupClaims(w, f.Key) {
			t.Fatalf("%s is called unmanaged by %q", f.Key, f.Declaration)
		}
	default:
		for _, c := range f.Changes {
			if !slices.Contains(drifts, c.Path) && f.Verdict != model.Codified || c.Live == nil || !c.Live.Equal(v.At(c.Path)) {
				t.Fatalf("%s %s is called %s: %v", f.Key, c.Path, f.Verdict, c.Live)
			}
			checkSides(t, w, f, c.Path)
		}
	}
}

// checkSides checks the verdict on a field against its three sides.
func checkSides(t *rapid.T, w *world, f *model.Finding, path string) {
	record, recorded := w.recorded[f.Declaration][f.Key]
	if !recorded || f.Verdict == model.Disputed {
		return
	}
	declared, live := w.declared[f.Declaration][f.Key].At(path), w.live[f.Key].At(path)
	type sides struct{ declaredIsRecorded, declaredIsLive, recordedIsLive bool }
	want := map[sides]model.Verdict{
		{true, false, false}:  model.Changed,
		{false, false, true}:  model.Pending,
		{false, true, false}:  model.Codified,
		{false, false, false}: model.Conflict,
	}[sides{declared.Equal(record.At(path)), declared.Equal(live), record.At(path).Equal(live)}]
	if f.Verdict != want {
		t.Fatalf("%s %s is called %s, want %q: declared %s, recorded %s, live %s", f.Key, path, f.Verdict, want, declared, record.At(path), live)
	}
}

// everyGroupClaims reports whether both a tool and the inventory claim a resource.
func everyGroupClaims(w *world, k model.Key) bool {
	claims := func(name string) bool { _, ok := w.declared[name][k]; return ok }
	return (claims("d") || claims("e")) && claims("i")
}

// TestResolvedIsProved holds that a finding is resolved only if it is over in the world
// and the scan read all that the finding is about, or if its source or declaration left
// the estate. Nothing else ends a finding, and none is lost.
func TestResolvedIsProved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		for range rapid.IntRange(2, 6).Draw(t, "scans") {
			h.step(t, h.edits(t))
			sc, in, r := h.scan(t)
			for i := range r.Resolved {
				if f := &r.Resolved[i]; f.MergedInto == "" {
					checkProved(t, h.world, &sc, in.Whole, f, r.Open())
				}
			}
			checkKept(t, h.open, r)
			h.keep(r)
		}
	})
}

func checkProved(t *rapid.T, w *world, sc *scan, whole bool, f *model.Finding, open []model.Finding) {
	left := !slices.Contains(w.sources, f.Source) || f.Declaration != "" && !slices.Contains(w.declarations, f.Declaration)
	if left {
		if !whole {
			t.Fatalf("%s left, and the scan was not of the whole estate", f.Key)
		}
		return
	}
	if f.Kind == PartKind {
		if d := sc.declares(f.Declaration); d == nil || len(d.Problems) > 0 {
			t.Fatalf("%s is resolved, and was not read", f.Name)
		}
		return
	}
	snapshot := sc.of(f.Source)
	if snapshot == nil || len(snapshot.Stale) > 0 || !sc.reads[f.Key] {
		t.Fatalf("%s %s is resolved, and was not read", f.Key, f.Verdict)
	}
	parties := w.declarations
	if f.Declaration != "" {
		parties = newProof(&Input{}).parties(f)
	}
	for _, still := range w.drifts(f.Key, parties) {
		if still == string(f.Verdict) && f.Declaration == "" || still == "missing" && f.Verdict == model.Missing || slices.Contains(pathsOf(f), still) && !shows(open, f.Key, still) {
			t.Fatalf("%s %s %s is resolved, and still so", f.Key, f.Verdict, still)
		}
	}
}

// shows reports whether one of the findings is on a field of a resource.
func shows(findings []model.Finding, k model.Key, field string) bool {
	return slices.ContainsFunc(findings, func(f model.Finding) bool { return f.Key == k && slices.Contains(pathsOf(&f), field) })
}

// checkKept checks that each finding that was open is open or resolved, once.
func checkKept(t *rapid.T, open []model.Finding, r Result) {
	count := map[string]int{}
	for _, f := range r.All() {
		count[f.ID]++
	}
	for _, f := range open {
		if count[f.ID] != 1 {
			t.Fatalf("%s %s was open, and is listed %d times", f.Key, f.Verdict, count[f.ID])
		}
	}
	for id, n := range count {
		if n > 1 {
			t.Fatalf("%s is listed %d times", id, n)
		}
	}
}

// TestSyncedIsSilent holds that a world in which everything is as declared has no drift, also
// if parts could not be read, and that a scan that reads all of it resolves every finding.
func TestSyncedIsSilent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		for range rapid.IntRange(0, 3).Draw(t, "scans") {
			h.step(t, h.edits(t))
			_, _, r := h.scan(t)
			h.keep(r)
		}
		h.step(t, h.world.sync)
		h.before = h.world
		for range 2 {
			_, _, r := h.scan(t)
			for _, f := range r.Current {
				if f.Verdict.IsDrift() {
					t.Fatalf("%s is %s (%s)", f.Key, f.Verdict, f.Reason)
				}
			}
			h.keep(r)
		}
		sc := full(h.world, h.now)
		in := sc.input(h.world)
		in.Earlier, in.Now = h.open, h.now
		if r := Findings(in); len(r.Open()) > 0 {
			t.Fatalf("all was read and is in sync, and %+v is open", r.Open())
		}
	})
}

// full is a scan that reads everything.
func full(w *world, taken time.Time) scan {
	sc := scan{reads: map[model.Key]bool{}}
	for _, source := range w.sources {
		s := model.Snapshot{Source: source, Taken: taken, Coverage: []model.Coverage{{Source: source, Complete: true}}}
		for _, k := range theKeys {
			if v, exists := w.live[k]; exists && k.Source == source {
				s.Resources = append(s.Resources, model.Resource{Key: k, Place: placeOf(k), Name: k.ID, Value: v})
			}
		}
		sc.snapshots = append(sc.snapshots, s)
	}
	for _, d := range w.part() {
		for _, k := range theKeys {
			if v, ok := w.declared[d.Name][k]; ok {
				d.Claims = append(d.Claims, model.Claim{Declaration: d.Name, Address: k.ID, Source: k.Source, Kind: k.Kind, ID: k.ID, Place: placeOf(k), Value: v})
			}
		}
		sc.declarations = append(sc.declarations, d)
	}
	return sc
}

// TestOrderOfInput holds that the order in which snapshots, declarations, sources,
// judged resources and earlier findings are listed never changes the result.
func TestOrderOfInput(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := newHistory(t)
		for range rapid.IntRange(1, 4).Draw(t, "scans") {
			h.step(t, h.edits(t))
			sc, in, r := h.scan(t)
			turn := rapid.IntRange(1, 9).Draw(t, "turn")
			for i := range sc.declarations {
				sc.declarations[i].Claims = turned(sc.declarations[i].Claims, turn)
			}
			sc.declarations, sc.snapshots = turned(sc.declarations, turn), turned(sc.snapshots, turn)
			other := sc.input(h.world)
			other.Now, other.Whole, other.Sources = in.Now, in.Whole, turned(in.Sources, turn)
			other.Earlier, other.Recent, other.Judged = turned(in.Earlier, turn), turned(in.Recent, turn), turned(other.Judged, turn)
			if diff := cmp.Diff(r, Findings(other)); diff != "" {
				t.Fatalf("another order, another result (-want +got):\n%s", diff)
			}
			h.keep(r)
		}
	})
}
