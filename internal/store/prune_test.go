package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// prunable returns a store after twelve scans, one a minute: resource a changes each time, b never,
// c was removed at minute 2, d at minute 8.
func prunable(t *testing.T, keep Retention) *Store {
	t.Helper()
	s := openAt(t, t.TempDir(), Options{Retention: keep})
	for i := range 12 {
		resources := []model.Resource{resource("a", minute(i).String()), resource("b", "same")}
		if i < 2 {
			resources = append(resources, resource("c", "c"))
		}
		if i < 8 {
			resources = append(resources, resource("d", "d"))
		}
		findings := []model.Finding{finding("open", i, reason(minute(i).String())), finding("quiet", i)}
		switch i {
		case 0, 1:
			findings = append(findings, finding("early", i))
		case 2:
			findings = append(findings, finding("early", 1, resolvedAt(2)))
		case 8:
			findings = append(findings, finding("late", 8, resolvedAt(8)))
		}
		save(t, s, scan(i, findings, snapshotAt(i, resources...)))
	}
	return s
}

// left is the data that a store still has after pruning.
type left struct {
	A, D, Runs, Versions int
	C, Early, Late       bool
}

func leftIn(t *testing.T, s *Store) left {
	t.Helper()
	runs, err := s.Runs(0)
	if err != nil {
		t.Fatal(err)
	}
	known := func(_ any, err error) bool {
		if err != nil && !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		return err == nil
	}
	l := left{A: len(history(t, s, "a")), D: len(history(t, s, "d")), Runs: len(runs)}
	l.C = known(s.History(key("c")))
	_, _, err = s.Finding("early")
	l.Early = known(nil, err)
	_, _, err = s.Finding("late")
	l.Late = known(nil, err)
	_, versions, err := s.Finding("open")
	if err != nil {
		t.Fatal(err)
	}
	l.Versions = len(versions)
	return l
}

func TestPrune(t *testing.T) {
	t.Parallel()
	all := left{A: 12, D: 2, Runs: 12, Versions: 12, C: true, Early: true, Late: true}
	cases := map[string]struct {
		keep    Retention
		now     time.Time
		want    left
		removed int
		reason  string
	}{
		"keep all":    {Retention{}, minute(1000), all, 0, "zero keeps all"},
		"young":       {Retention{MaxAge: time.Hour}, minute(11), all, 0, "nothing is that old"},
		"by age":      {Retention{MaxAge: 5 * time.Minute}, minute(11), left{A: 6, D: 2, Runs: 6, Versions: 6, Late: true}, 6 + 2 + 6 + 6 + 2, "what was in force at minute 6 stays"},
		"by count":    {Retention{MaxRuns: 6}, minute(1000), left{A: 6, D: 2, Runs: 6, Versions: 6, Late: true}, 22, "as far back as the oldest run that stays"},
		"the shorter": {Retention{MaxRuns: 6, MaxAge: time.Hour}, minute(11), left{A: 6, D: 2, Runs: 6, Versions: 6, Late: true}, 22, "both bounds hold"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prunable(t, c.keep)
			removed, err := s.Prune(c.now)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, leftIn(t, s)); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
			if removed != c.removed {
				t.Errorf("removed %d, want %d", removed, c.removed)
			}
			if again, err := s.Prune(c.now); err != nil || again != 0 {
				t.Errorf("pruning again removed %d, %v", again, err)
			}
		})
	}
}

func TestPruneKeepsCurrentValues(t *testing.T) {
	t.Parallel()
	s := prunable(t, Retention{MaxAge: time.Nanosecond})
	if _, err := s.Prune(minute(24 * 60)); err != nil {
		t.Fatal(err)
	}
	if got := history(t, s, "b"); len(got) != 1 {
		t.Errorf("b exists and never changed: got %q", got)
	}
	if _, err := s.History(key("d")); !errors.Is(err, ErrNotFound) {
		t.Errorf("d is long gone: got %v", err)
	}
	open, err := s.OpenFindings()
	if err != nil || len(open) != 2 {
		t.Errorf("got %d open findings, %v; want 2", len(open), err)
	}
	if run, err := s.LastRun(); err != nil || run.ID != "run-11" {
		t.Errorf("the newest run: got %q, %v", run.ID, err)
	}
	if n := contents(t, s); n != 2 {
		t.Errorf("got %d contents, want those of a and b", n)
	}
	save(t, s, scan(12, nil, snapshotAt(12, resource("b", "new"), resource("d", "d"))))
	if diff := cmp.Diff([]string{"12m0s d"}, history(t, s, "d")); diff != "" {
		t.Errorf("a pruned resource begins anew: %s", diff)
	}
}

func TestPruneOfEmptyStore(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), Options{Retention: Retention{MaxAge: time.Hour, MaxRuns: 3}})
	if n, err := s.Prune(minute(0)); n != 0 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}
