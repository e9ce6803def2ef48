package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// oneRun is a run: the minute at which it starts, its duration in seconds, and the source's error.
type oneRun struct {
	at, took int
	err      string
}

// runOf returns a run in which the source was read or failed.
func runOf(r oneRun) model.Run {
	source := model.SourceRun{Name: "prod", Type: "kubernetes", Err: r.err, Duration: time.Duration(r.took) * time.Second,
		Kinds: map[string]int{"kubernetes/Service": 3}, Marks: []model.Mark{{Position: model.Position{Name: "p", Value: int64(r.at)}}}}
	if r.err == "" {
		source.Taken = minute(r.at)
	}
	return model.Run{ID: fmt.Sprintf("run-%d", r.at), Started: minute(r.at), Finished: minute(r.at).Add(time.Duration(r.took) * time.Second),
		Complete: r.err == "", Sources: []model.SourceRun{source}, Coverage: []model.Coverage{{Source: "prod", Complete: r.err == "", Reason: r.err}},
		Exempt: []model.Exemption{{Declaration: "shop", Path: fmt.Sprintf("spec.%d", r.at), Why: "controller"}}, Tool: "test"}
}

// A row is a summary of a record of runs.
type row struct {
	First, Last       int
	Runs              int
	Err               string
	Shortest, Longest time.Duration
	Pause             time.Duration
}

func rowsOf(t *testing.T, s *Store) []row {
	t.Helper()
	runs, err := s.Runs(0)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for i := range runs {
		r := &runs[i]
		got := row{First: int(r.First().Sub(start()) / time.Minute), Last: int(r.Started.Sub(start()) / time.Minute), Runs: r.Runs(), Err: r.Sources[0].Err}
		if r.Repeated != nil {
			got.Shortest, got.Longest, got.Pause = r.Repeated.Shortest, r.Repeated.Longest, r.Repeated.LongestPause
		}
		if r.ID != fmt.Sprintf("run-%d", got.Last) || r.Finished.Before(r.Started) {
			t.Errorf("record %d: %+v", i, r)
		}
		if want := i == 0; (len(r.Exempt) > 0) != want {
			t.Errorf("record %d lists %d exemptions", i, len(r.Exempt))
		}
		rows = append(rows, got)
	}
	return rows
}

// TestEqualRunsShareARecord verifies that the first and the last time of each outcome are kept, of
// failures in particular.
func TestEqualRunsShareARecord(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		runs   []oneRun
		want   []row
	}{
		"one": {"a single run is itself", []oneRun{{0, 1, ""}}, []row{{0, 0, 1, "", 0, 0, 0}}},
		"three that find the same": {"they differ in times, durations and positions alone",
			[]oneRun{{0, 5, ""}, {10, 2, ""}, {30, 9, ""}}, []row{{0, 30, 3, "", 2 * time.Second, 9 * time.Second, 20 * time.Minute}}},
		"a failure": {"a failure is never part of what succeeded", []oneRun{{0, 1, ""}, {1, 1, "refused"}, {2, 1, ""}},
			[]row{{2, 2, 1, "", 0, 0, 0}, {1, 1, 1, "refused", 0, 0, 0}, {0, 0, 1, "", 0, 0, 0}}},
		"a lasting failure": {"when it began and when it was last seen are right",
			[]oneRun{{0, 1, ""}, {1, 1, "refused"}, {2, 1, "refused"}, {3, 1, "refused"}, {4, 1, ""}},
			[]row{{4, 4, 1, "", 0, 0, 0}, {1, 3, 3, "refused", time.Second, time.Second, time.Minute}, {0, 0, 1, "", 0, 0, 0}}},
		"another failure": {"they have different reasons", []oneRun{{0, 1, "refused"}, {1, 1, "timeout"}, {2, 1, "refused"}},
			[]row{{2, 2, 1, "refused", 0, 0, 0}, {1, 1, 1, "timeout", 0, 0, 0}, {0, 0, 1, "refused", 0, 0, 0}}},
		"the clock goes back": {"a record never ends before it begins", []oneRun{{10, 1, ""}, {5, 1, ""}, {6, 1, ""}},
			[]row{{5, 6, 2, "", time.Second, time.Second, time.Minute}, {10, 10, 1, "", 0, 0, 0}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, r := range c.runs {
				// Each save is in a separate process, as with `driftd scan`.
				s := openAt(t, dir, Options{})
				save(t, s, Record{Run: runOf(r)})
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(c.want, rowsOf(t, openAt(t, dir, Options{}))); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
}

// TestRunWithAChangeHasItsOwnRecord saves a run with the same counts as the previous one.
func TestRunWithAChangeHasItsOwnRecord(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	save(t, s, Record{Run: runOf(oneRun{0, 1, ""}), Snapshots: []model.Snapshot{snapshotAt(0, resource("a", "1"))}, Findings: []model.Finding{finding("x", 0)}})
	save(t, s, Record{Run: runOf(oneRun{1, 1, ""}), Snapshots: []model.Snapshot{snapshotAt(1, resource("a", "2"))}, Findings: []model.Finding{finding("x", 1)}})
	save(t, s, Record{Run: runOf(oneRun{2, 1, ""}), Snapshots: []model.Snapshot{snapshotAt(2, resource("a", "2"))}, Findings: []model.Finding{finding("x", 2)}})
	save(t, s, Record{Run: runOf(oneRun{3, 1, ""}), Snapshots: []model.Snapshot{snapshotAt(3, resource("a", "2"))}, Findings: []model.Finding{finding("x", 1, resolvedAt(3)), finding("y", 3)}})
	var got []int
	for _, r := range rowsOf(t, s) {
		got = append(got, r.Runs)
	}
	if diff := cmp.Diff([]int{1, 2, 1}, got); diff != "" {
		t.Errorf("a resource changed in run 1, and one finding took another's place in run 3: %s", diff)
	}
}

// TestManyDifferentRuns reads a long chain of records that each need the next one.
func TestManyDifferentRuns(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	const n = 60
	var want []model.Run
	for i := range n {
		run := runOf(oneRun{i, 1, fmt.Sprintf("failure %d", i)})
		for k := range 40 {
			run.Sources = append(run.Sources, model.SourceRun{Name: fmt.Sprintf("other-%d", k), Taken: minute(i - k%7)})
		}
		save(t, s, Record{Run: run})
		if i < n-1 {
			run.Exempt = nil
		}
		want = append([]model.Run{run}, want...)
	}
	for _, limit := range []int{0, 1, 2, 3, n, n + 1} {
		got, err := s.Runs(limit)
		wanted := want
		if limit > 0 {
			wanted = want[:min(limit, n)]
		}
		if diff := cmp.Diff(wanted, got); diff != "" || err != nil {
			t.Fatalf("limit %d: %v %s", limit, err, diff)
		}
	}
	size := 0
	err := s.view("size", func(t *txn) error {
		return each(t.runs, nil, func(_, v []byte) error { size += len(v); return nil })
	})
	if most := n * 400; err != nil || size > most {
		t.Errorf("%d records that differ little take %d bytes, want at most %d; %v", n, size, most, err)
	}
}

func TestPruneRunsBySize(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), Options{Retention: Retention{MaxRunBytes: 4000}})
	for i := range 50 {
		rec := scan(i, nil, snapshotAt(i, resource("a", fmt.Sprint(i))))
		rec.Run = runOf(oneRun{i, 1, fmt.Sprintf("failure %d", i)})
		save(t, s, rec)
	}
	if _, err := s.Prune(minute(50)); err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, s)
	if len(rows) < 5 || len(rows) > 45 || rows[0].Last != 49 {
		t.Errorf("kept %d records, the newest of minute %d", len(rows), rows[0].Last)
	}
	var size int64
	err := s.view("size", func(t *txn) error {
		list, err := t.runRecords()
		for _, r := range list {
			size += r.size
		}
		return err
	})
	if err != nil || size > 4000 {
		t.Errorf("the records take %d bytes, %v", size, err)
	}
	if n := len(history(t, s, "a")); n != 50 {
		t.Errorf("what changed is kept although its run is not: %d versions", n)
	}
	if removed, err := s.Prune(minute(50)); err != nil || removed != 0 {
		t.Errorf("pruning again removed %d, %v", removed, err)
	}
}

// TestPruneAfterAWrongClock verifies that a run with a wrong time neither keeps nor removes others.
func TestPruneAfterAWrongClock(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), Options{Retention: Retention{MaxAge: time.Hour}})
	for i, at := range []int{0, 10, -500_000, 100, 110} {
		save(t, s, Record{Run: runOf(oneRun{at, 1, fmt.Sprintf("failure %d", i)})})
	}
	if _, err := s.Prune(minute(155)); err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, r := range rowsOf(t, s) {
		got = append(got, r.Last)
	}
	if diff := cmp.Diff([]int{110, 100, -500_000, 10}, got); diff != "" {
		t.Errorf("minute 0 is old, minute 10 is not: %s", diff)
	}
}

// TestLastReadOutlastsRuns reads the last scan of a source that is not in later scans of the same
// folder.
func TestLastReadOutlastsRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openAt(t, dir, Options{Retention: Retention{MaxAge: 48 * time.Hour, MaxRuns: 1}})
	rare := runOf(oneRun{0, 1, ""})
	rare.Sources[0].Name, rare.Sources[0].Held = "rare", true
	rare.Declarations = []model.DeclarationRun{{Name: "infra", States: []model.StateRead{{Address: "a", Serial: 7}}}}
	save(t, s, Record{Run: rare})
	for i := 1; i < 130; i++ {
		save(t, s, Record{Run: runOf(oneRun{i, 1, fmt.Sprint(i)})})
	}
	unread := runOf(oneRun{131, 1, ""})
	unread.Declarations = []model.DeclarationRun{{Name: "infra", Err: "unreachable"}}
	save(t, s, Record{Run: unread})
	if _, err := s.Prune(minute(132)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, dir, Options{Retention: Retention{MaxAge: 48 * time.Hour}})
	last, err := s.LastRead("rare")
	if diff := cmp.Diff(rare.Sources[0], last); diff != "" || err != nil {
		t.Errorf("the last scan of a source: %v %s", err, diff)
	}
	states, err := s.LastStates("infra")
	if diff := cmp.Diff(rare.Declarations[0].States, states); diff != "" || err != nil {
		t.Errorf("the last records of a declaration that cannot be read now: %v %s", err, diff)
	}
	if last, err := s.LastRead("prod"); err != nil || last.Err != "" || last.Marks[0].Value != 131 {
		t.Errorf("the last scan of the other source: %+v, %v", last, err)
	}
	if _, err := s.LastRead("none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a source that is not stored: %v", err)
	}
	for day := range 4 {
		save(t, s, Record{Run: runOf(oneRun{132 + (day+1)*23*60, 1, fmt.Sprint(day)})})
	}
	if _, err := s.Prune(minute(5 * 24 * 60)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LastRead("rare"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a source that no run had for longer than the retention: %v", err)
	}
}
