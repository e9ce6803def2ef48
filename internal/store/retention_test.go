package store

import (
	"slices"
	"testing"
	"time"
)

const (
	oneDay  = 24 * time.Hour
	oneYear = 365 * oneDay
)

// A stretch is a period with one run each hour. Before it the clock jumped while no time passed.
type stretch struct{ jump, length time.Duration }

// wrongClock returns the runs of the stretches, newest first, and the final time of the clock.
func wrongClock(stretches ...stretch) (runs []span, now time.Time) {
	now = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, s := range stretches {
		now = now.Add(s.jump)
		for range int(s.length / time.Hour) {
			now = now.Add(time.Hour)
			runs = append(runs, span{momentOf(now), momentOf(now)})
		}
	}
	slices.Reverse(runs)
	return runs, now
}

func TestCutWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason    string
		stretches []stretch
		// want is the time from the cut to the final time of the clock.
		want time.Duration
	}{
		"ordinary":            {"nothing happened", []stretch{{0, 200 * oneDay}}, 90 * oneDay},
		"young":               {"what is before the first run counts", []stretch{{0, 10 * oneDay}}, 90 * oneDay},
		"stopped for a week":  {"driftd may run once a week", []stretch{{0, 200 * oneDay}, {7 * oneDay, oneDay}}, 90 * oneDay},
		"stopped for a month": {"a month in which nothing was seen does not count", []stretch{{0, 200 * oneDay}, {30 * oneDay, oneDay}}, (90 + 30) * oneDay},
		"a day ahead":         {"a small jump counts, and costs a day of history", []stretch{{0, 200 * oneDay}, {oneDay, oneDay}}, 90 * oneDay},
		"a day back":          {"and is made up for", []stretch{{0, 200 * oneDay}, {-oneDay, oneDay}}, 90 * oneDay},
		"a day ahead and back": {"as if it had not happened", []stretch{{0, 200 * oneDay}, {oneDay, time.Hour}, {-oneDay, oneDay}},
			90 * oneDay},
		"a year ahead":          {"a jump of a year removes nothing", []stretch{{0, 200 * oneDay}, {oneYear, time.Hour}}, 90*oneDay + oneYear},
		"a year ahead for long": {"however long the clock is wrong", []stretch{{0, 200 * oneDay}, {oneYear, 30 * oneDay}}, 90*oneDay + oneYear},
		"a year ahead and back": {"as if it had not happened", []stretch{{0, 200 * oneDay}, {oneYear, time.Hour}, {-oneYear, oneDay}}, 90 * oneDay},
		"a year back":           {"what was seen counts, whatever the clock shows now", []stretch{{0, 200 * oneDay}, {-oneYear, 10 * oneDay}}, 90*oneDay - oneYear},
		"a year back and ahead": {"as if it had not happened", []stretch{{0, 200 * oneDay}, {-oneYear, time.Hour}, {oneYear, oneDay}}, 90 * oneDay},
		"a battery that is dead": {"each boot begins in 1970", []stretch{{0, 100 * oneDay}, {-56 * oneYear, time.Hour}, {56 * oneYear, 30 * oneDay}, {-56 * oneYear, time.Hour},
			{56 * oneYear, 30 * oneDay}}, 90 * oneDay},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs, now := wrongClock(tc.stretches...)
			got := now.Sub(cutOf(momentOf(now), 90*oneDay, runs).time())
			// The hour of a jump is not a measured gap between two runs.
			if off := (got - tc.want).Abs(); off > 5*time.Hour {
				t.Errorf("kept are %s, want %s: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// TestCutOfRunsInAnyOrder verifies that overlapping scans are not counted twice: they are stored in
// the order in which they end.
func TestCutOfRunsInAnyOrder(t *testing.T) {
	t.Parallel()
	runs, now := wrongClock(stretch{0, 200 * oneDay})
	for i := 1; i+1 < len(runs); i += 2 {
		runs[i], runs[i+1] = runs[i+1], runs[i]
	}
	if got := now.Sub(cutOf(momentOf(now), 90*oneDay, runs).time()); got != 90*oneDay {
		t.Errorf("kept are %s, want 90 days", got)
	}
}

// TestPruneWhenTheClockJumps verifies that a clock that is wrong for an hour causes no permanent
// removal.
func TestPruneWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for name, jump := range map[string]time.Duration{"a day ahead": oneDay, "a day back": -oneDay, "a year ahead": oneYear, "a year back": -oneYear, "1970": -56 * oneYear} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prunable(t, Retention{MaxAge: 90 * oneDay})
			before := leftIn(t, s)
			wrong := minute(12).Add(jump)
			if removed, err := s.Prune(wrong); removed != 0 || err != nil {
				t.Errorf("removed %d, %v, before a scan", removed, err)
			}
			rec := scan(12, nil)
			rec.Run.Started = wrong
			save(t, s, rec)
			if removed, err := s.Prune(wrong.Add(time.Hour)); removed != 0 || err != nil {
				t.Errorf("removed %d, %v, after a scan", removed, err)
			}
			save(t, s, scan(13, nil))
			if _, err := s.Prune(minute(14)); err != nil {
				t.Error(err)
			}
			after := leftIn(t, s)
			if after.Runs >= before.Runs {
				after.Runs = before.Runs // the run with the wrong time may be removed
			}
			if after != before {
				t.Errorf("left is %+v, want %+v", after, before)
			}
		})
	}
}
