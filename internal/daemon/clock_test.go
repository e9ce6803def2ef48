package daemon

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/clocktest"
)

const year = 365 * day

// jumps returns changes of the wall clock by name.
func jumps() map[string]time.Duration {
	return map[string]time.Duration{
		"an hour ahead": time.Hour, "an hour back": -time.Hour, "a day ahead": day, "a day back": -day, "a year ahead": year, "a year back": -year,
		"from 1970 to now": 56 * year, "a battery that is dead": -56 * year,
	}
}

// startOf returns the start of a test's wall clock: three hours before Europe/Berlin sets its
// clocks ahead.
func startOf() time.Time { return time.Date(2026, 3, 28, 22, 0, 0, 0, time.UTC) }

// taken returns the time of the last snapshot.
func (f *fakeSource) taken() time.Time {
	if f.now == nil {
		return time.Now()
	}
	return f.now()
}

// jumping replaces the clock of a bench, and returns the new one.
func (b *bench) jumping() *clocktest.Clock {
	clock := clocktest.New(startOf())
	b.source.now = clock.Now
	b.engine = New(b.engine.estate, Options{Store: b.store, Now: clock.Now, Log: slog.New(slog.DiscardHandler)})
	return clock
}

// TestScheduleWhenTheClockJumps checks that a source is read once in each interval after any
// change of the wall clock.
func TestScheduleWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for name, jump := range jumps() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, 1, nil)
				clock := b.jumping()
				ctx, cancel := context.WithCancel(t.Context())
				var group sync.WaitGroup
				group.Go(func() {
					if err := b.engine.Run(ctx, 0); err != nil {
						t.Error(err)
					}
				})
				time.Sleep(2*time.Minute + 30*time.Second)
				clock.Jump(jump)
				time.Sleep(3 * time.Minute)
				clock.Jump(-jump)
				time.Sleep(3 * time.Minute)
				cancel()
				group.Wait()
				if want := 3 + 3 + 3; b.source.reads != want {
					t.Errorf("%d reads in eight and a half minutes, want %d", b.source.reads, want)
				}
			})
		})
	}
}

// TestClockIsLogged checks that a clock that was set is logged, and a restart with a clock that
// is behind. Corrections by NTP are not.
func TestClockIsLogged(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		jump time.Duration
		// restart reports whether another engine starts after the jump.
		restart bool
		want    string
	}{
		"ahead":     {day, false, "the clock was set, or the machine was asleep: see that the clock is right\" by=24h0m0s"},
		"back":      {-day, false, "by=-24h0m0s"},
		"a step":    {10 * time.Second, false, ""},
		"no jump":   {0, true, ""},
		"restarted": {-year, true, "the last scan lies in the future"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				b := newBench(t, 1, nil)
				clock := b.jumping()
				run := func() {
					b.engine = New(b.engine.estate, Options{Store: b.store, Now: clock.Now, Log: slog.New(slog.NewTextHandler(&log, nil))})
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute+time.Second)
					defer cancel()
					if err := b.engine.Run(ctx, 0); err != nil {
						t.Error(err)
					}
				}
				if tc.restart {
					run()
					clock.Jump(tc.jump)
				} else {
					time.AfterFunc(90*time.Second, func() { clock.Jump(tc.jump) })
				}
				run()
				if said := strings.Contains(log.String(), "level=WARN"); said != (tc.want != "") || !strings.Contains(log.String(), tc.want) {
					t.Errorf("want %q in the log:\n%s", tc.want, log.String())
				}
			})
		})
	}
}

// A life is an estate with a clock that jumps.
type life struct {
	*notifyBench

	clock *clocktest.Clock
}

func newLife(t *testing.T) *life {
	t.Helper()
	l := &life{notifyBench: newNotifyBench(t, nil), clock: clocktest.New(startOf())}
	l.step(0)
	return l
}

// step advances the clock, scans, and collects the notifications.
func (l *life) step(by time.Duration) {
	l.clock.Advance(by)
	l.now = l.clock.Now()
}

// TestAcceptanceWhenTheClockJumps checks an acceptance of 30 days: it holds as long as the
// clock shows a time before its end, and both changes are notified.
func TestAcceptanceWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		jump time.Duration
		// wrong are the notifications after the jump, right those once the clock is right
		// again.
		wrong, right []string
	}{
		"a day ahead":  {day, nil, nil},
		"a day back":   {-day, nil, nil},
		"a year ahead": {year, []string{"new: returned p/00"}, []string{"decided: accepted p/00"}},
		"a year back":  {-year, nil, nil},
		"1970":         {-56 * year, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			l.set(0, "2")
			l.cycle(t)
			l.want(t, "new", "new: new p/00")
			l.accept(t, 30*day)
			l.want(t, "accepted", "decided: accepted p/00")
			l.clock.Jump(tc.jump)
			l.step(time.Minute)
			l.cycle(t)
			l.want(t, "at the wrong time", tc.wrong...)
			l.clock.Jump(-tc.jump)
			l.step(time.Minute)
			l.cycle(t)
			l.want(t, "at the right time", tc.right...)
			if _, err := l.store.Prune(l.now); err != nil {
				t.Error(err)
			}
			l.step(40 * day)
			l.cycle(t)
			l.want(t, "at its end", "new: returned p/00")
		})
	}
}

// TestReplacedStaysReplaced checks that an acceptance that was replaced by a shorter one does
// not hold again if the clock is set back before that.
func TestReplacedStaysReplaced(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	l.set(0, "2")
	l.cycle(t)
	l.want(t, "new", "new: new p/00")
	l.accept(t, 60*day)
	l.want(t, "accepted", "decided: accepted p/00")
	l.step(20 * day)
	l.accept(t, day)
	l.clock.Jump(-15 * day)
	l.step(17 * day)
	l.cycle(t)
	l.want(t, "the second one has ended", "new: returned p/00")
}

// TestSourceWhenTheClockJumps checks that after a jump and a restart nothing is missing or
// unchecked once the source was read, and that no time is in the future.
func TestSourceWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	for name, jump := range jumps() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLife(t)
			l.set(0, "2")
			l.source.position = 5
			l.cycle(t)
			for range 2 {
				l.clock.Jump(jump)
				l.step(time.Minute)
				l.engine = l.engineOf(l.engine.estate)
				l.source.position++
				r := l.cycle(t)
				wantVerdicts(t, r, "1 changed")
				run, err := l.store.LastRun()
				if err != nil || !run.Complete || run.Finished.After(l.now) || run.Sources[0].Taken.After(l.now) {
					t.Errorf("the run of %s, at %s, is complete: %t, %v", run.Finished, l.now, run.Complete, err)
				}
				if text := run.Sources[0].Trouble(l.now); text != "" {
					t.Errorf("the source that was just read: %s", text)
				}
				jump = -jump
			}
			// History is in the order of events, not of times.
			l.set(0, "3")
			l.step(time.Minute)
			l.cycle(t)
			open, err := l.store.OpenFindings()
			if err != nil || len(open) != 1 {
				t.Fatal(open, err)
			}
			_, versions, err := l.store.Finding(open[0].ID)
			if err != nil || len(versions) == 0 {
				t.Fatal(versions, err)
			}
			for i := range versions[1:] {
				if !versions[i+1].At.After(versions[i].At) {
					t.Errorf("version %d is of %s, the one before of %s", i+1, versions[i+1].At, versions[i].At)
				}
			}
			if live := versions[len(versions)-1].Finding.Changes[0].Live; live.Str() != "3" {
				t.Errorf("the last version shows %s", live)
			}
		})
	}
}

// TestScheduleOverSummerTime checks that intervals do not change on a day that has 23 or 25
// hours.
func TestScheduleOverSummerTime(t *testing.T) {
	t.Parallel()
	for zone, begin := range map[string]time.Time{
		"Europe/Berlin":       startOf(),
		"America/New_York":    time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC),
		"Australia/Lord_Howe": time.Date(2026, 4, 4, 12, 0, 0, 0, time.UTC),
	} {
		t.Run(zone, func(t *testing.T) {
			t.Parallel()
			place, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, 1, func(e *Estate) { e.Sources[0].Every = 30 * time.Minute })
				clock := clocktest.New(begin)
				now := func() time.Time { return clock.Now().In(place) }
				b.source.now = now
				b.engine = New(b.engine.estate, Options{Store: b.store, Now: now, Log: slog.New(slog.DiscardHandler)})
				ctx, cancel := context.WithTimeout(t.Context(), 8*time.Hour+time.Minute)
				defer cancel()
				if err := b.engine.Run(ctx, 0); err != nil {
					t.Error(err)
				}
				if want := 1 + 16; b.source.reads != want {
					t.Errorf("%d reads in eight hours, want %d", b.source.reads, want)
				}
			})
		})
	}
}
