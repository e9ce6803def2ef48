package daemon

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestTrack checks one part of a source over several snapshots.
func TestTrack(t *testing.T) {
	t.Parallel()
	type step struct {
		after time.Duration
		value int64
		stale bool
	}
	const minute = time.Minute
	for name, tc := range map[string]struct {
		reason string
		steps  []step
		// object is the object whose last change the position is; gone reports that it is
		// missing from the second snapshot on. lineage is that of the second snapshot and later
		// ones.
		object, lineage string
		gone, unread    bool
		late            time.Duration
	}{
		"it advances":               {reason: "ordinary operation", steps: []step{{0, 5, false}, {minute, 7, false}, {minute, 7, false}, {minute, 9, false}}},
		"a replica lags":            {reason: "an old copy", steps: []step{{0, 100, false}, {minute, 40, true}, {minute, 60, true}, {minute, 100, false}, {minute, 99, true}}},
		"a replica lags for long":   {reason: "it catches up before it is accepted", steps: []step{{0, 100, false}, {minute, 40, true}, {59 * minute, 60, true}, {minute, 101, false}}},
		"a replica stands still":    {reason: "a copy that does not advance is none", steps: []step{{0, 100, false}, {minute, 40, true}, {24 * time.Hour, 40, true}, {24 * time.Hour, 40, true}}},
		"a restore":                 {reason: "the older state is the present one after an hour", steps: []step{{0, 100, false}, {minute, 40, true}, {30 * minute, 50, true}, {29 * minute, 60, true}, {minute, 61, false}, {minute, 62, false}, {minute, 61, true}}},
		"a restore that is quiet":   {reason: "accepted when it changes", steps: []step{{0, 100, false}, {minute, 40, true}, {2 * time.Hour, 40, true}, {time.Hour, 41, false}}},
		"a primary and its replica": {reason: "the replica is never accepted", steps: []step{{0, 100, false}, {time.Hour, 40, true}, {time.Hour, 101, false}, {time.Hour, 41, true}, {time.Hour, 102, false}, {time.Hour, 42, true}}},
		"two replicas":              {reason: "an older copy goes back itself: the hour begins anew", steps: []step{{0, 100, false}, {minute, 40, true}, {40 * minute, 30, true}, {40 * minute, 41, true}, {30 * minute, 42, false}}},
		"a position that jumps":     {reason: "a forged position makes the source stale for an hour at most", steps: []step{{0, 100, false}, {minute, 1 << 62, false}, {minute, 101, true}, {30 * minute, 102, true}, {30 * minute, 103, false}}},
		"an object's change undone": {reason: "its last change went back", object: "1", steps: []step{{0, 10_000, false}, {minute, 8_000, true}}},
		"clocks that differ":        {reason: "one server's clock is ahead", object: "1", steps: []step{{0, 10_000, false}, {minute, 9_940, false}, {minute, 9_939, true}}},
		"the object was deleted":    {reason: "the last change of the others counts", object: "2", gone: true, steps: []step{{0, 10_000, false}, {minute, 8_000, false}, {minute, 7_000, false}}},
		"the object was not read":   {reason: "it may be as it was, so the position of the others proves nothing and lowers nothing", object: "2", gone: true, unread: true, steps: []step{{0, 10_000, false}, {minute, 8_000, false}}},
		"another cluster":           {reason: "the address leads to another one now", lineage: "b", steps: []step{{0, 100, false}, {minute, 40, false}, {minute, 39, true}}},
		"the clock was set back":    {reason: "a mark from the future counts as any other", steps: []step{{0, 100, false}, {-24 * time.Hour, 40, true}}},
		"it was, after a restore":   {reason: "the hour begins anew, and does not last until the clock is where it was", steps: []step{{0, 100, false}, {minute, 40, true}, {-24 * time.Hour, 41, true}, {time.Hour, 42, false}}},
		"two reads at once":         {reason: "the older one was asked for first", late: 2 * minute, steps: []step{{0, 100, false}, {minute, 99, false}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
			var marks []model.Mark
			for i, step := range tc.steps {
				now = now.Add(step.after)
				s := model.Snapshot{Source: "live", Coverage: []model.Coverage{{Kind: thing, Complete: true}}}
				p := model.Position{Scope: model.Scope{Kind: thing}, Name: "its last change", Value: step.value, Object: tc.object, Asked: now.Add(-time.Second)}
				if p.Lineage = "a"; i > 0 {
					p.Asked = p.Asked.Add(-tc.late)
				}
				if i > 0 && tc.lineage != "" {
					p.Lineage = tc.lineage
				}
				if i > 0 && tc.unread {
					s.Unread = []model.Unread{{Ref: model.Ref{Kind: thing, ID: tc.object}, Reason: "timed out"}}
				}
				if i == 0 || !tc.gone {
					s.Resources = []model.Resource{{Key: model.Key{Source: "live", Kind: thing, ID: tc.object}}}
				}
				s.Positions = []model.Position{p}
				marks = track(marks, &s, now)
				whole, _ := s.Covers(thing, "")
				if stale := s.StaleIn(thing, "") != ""; stale != step.stale || whole == step.stale {
					t.Errorf("read %d at position %d: stale %v, covered %v, want stale %v: %s", i+1, step.value, stale, whole, step.stale, tc.reason)
				}
			}
			if tc.unread && marks[0].Value != tc.steps[0].value {
				t.Errorf("the mark is %d, want %d: %s", marks[0].Value, tc.steps[0].value, tc.reason)
			}
		})
	}
}

// TestStalePartLeavesTheOthersAlone checks that a wrong position of one kind does not make
// other kinds stale.
func TestStalePartLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	read := func(a, b int64) model.Snapshot {
		s := model.Snapshot{Source: "live", Coverage: []model.Coverage{{Kind: "test/A", Complete: true}, {Kind: "test/B", Complete: true}},
			Resources: []model.Resource{{Key: model.Key{Source: "live", Kind: "test/A", ID: "1"}}, {Key: model.Key{Source: "live", Kind: "test/B", ID: "1"}}}}
		for kind, value := range map[string]int64{"test/A": a, "test/B": b} {
			s.Positions = append(s.Positions, model.Position{Scope: model.Scope{Kind: kind}, Name: "resourceVersion", Value: value, Asked: now})
		}
		return s
	}
	first := read(10, 10)
	marks := track(nil, &first, now)
	now = now.Add(time.Minute)
	second := read(9, 11)
	track(marks, &second, now)
	if a, _ := second.Covers("test/A", ""); a {
		t.Error("an old list counts as read")
	}
	if b, reason := second.Covers("test/B", ""); !b {
		t.Errorf("the other list does not count as read: %s", reason)
	}
	if current := second.Current(); len(current.Resources) != 1 || current.Resources[0].Kind != "test/B" {
		t.Errorf("what may be old is to be remembered: %v", current.Resources)
	}
}

// TestOldCopyProvesNothing has a source that returns an old copy, a restart of driftd, and a
// restore from a backup.
func TestOldCopyProvesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 10, nil)
		read := func(position int64, things, open int, want string) model.Report {
			t.Helper()
			b.source.position, b.source.count = position, things
			time.Sleep(time.Minute)
			r := b.cycle(t)
			wantVerdicts(t, r, want)
			if all, err := b.store.OpenFindings(); err != nil || len(all) != open {
				t.Errorf("at position %d: %d findings are open, want %d: %v", position, len(all), open, err)
			}
			return r
		}
		b.source.values[3] = "2"
		read(100, 10, 1, "1 changed")
		delete(b.source.values, 3)
		r := read(90, 9, 2, "1 unchecked")
		for _, f := range r.Findings {
			if f.Verdict == model.Unchecked && !strings.Contains(f.Reason, "its last change went back from 100 to 90") {
				t.Errorf("reason %q", f.Reason)
			}
		}
		b.source.values[4] = "2"
		for _, f := range read(91, 9, 3, "1 changed, 1 unchecked").Findings {
			if f.Key.ID == "p/04" && !strings.Contains(f.Reason, "possibly stale: its last change went back") {
				t.Errorf("reason %q", f.Reason)
			}
		}
		b.engine = b.restart(b.engine.estate)
		read(92, 9, 3, "1 changed, 1 unchecked")
		read(101, 9, 2, "1 missing, 1 changed")
		read(40, 10, 2, "1 changed")
		time.Sleep(acceptAfter)
		read(41, 10, 1, "1 changed")
	})
}

// TestDeclarationOfAnOldCopyIsNotRead checks that nothing is missing because an old copy of an
// inventory still declares it.
func TestDeclarationOfAnOldCopyIsNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, inventory := inventoryBench(t, &fakeInventory{})
		inventory.position = 100
		wantVerdicts(t, b.cycle(t), "")
		time.Sleep(time.Minute)
		inventory.position, inventory.count = 50, 12
		r := b.cycle(t)
		for _, f := range r.Findings {
			if f.Verdict == model.Missing {
				t.Errorf("%s is missing because an old copy declares it", f.Key)
			}
		}
		if r.Scan.Complete {
			t.Error("the scan is complete without the inventory")
		}
	})
}

// TestMarksOutlastAScanWithoutTheSource restarts driftd twice: the first scan after the first
// restart does not read the source, and the run record of it is the newest.
func TestMarksOutlastAScanWithoutTheSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 10, nil)
		b.source.position = 100
		wantVerdicts(t, b.cycle(t), "")
		time.Sleep(time.Minute)
		b.engine = b.restart(b.engine.estate)
		if _, err := b.engine.Cycle(t.Context(), Due{Declarations: []string{"git"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		b.engine = b.restart(b.engine.estate)
		b.source.position, b.source.count = 90, 9
		wantVerdicts(t, b.cycle(t), "1 unchecked")
	})
}
