package daemon

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/clocktest"
)

const year = 365 * day

// jumps are what happens to wall clocks.
func jumps() map[string]time.Duration {
	return map[string]time.Duration{
		"an hour ahead": time.Hour, "an hour back": -time.Hour, "a day ahead": day, "a day back": -day, "a year ahead": year, "a year back": -year,
		"from 1970 to now": 56 * year, "a battery that is dead": -56 * year,
	}
}

// startOf is when a test's wall clock begins: three hours before Europe/Berlin sets its
// clocks ahead.
func startOf() time.Time { return time.Date(2026, 3, 28, 22, 0, 0, 0, time.UTC) }

// jumping lets a bench live by a clock.
func (b *bench) jumping() *clocktest.Clock {
	clock := clocktest.New(startOf())
	b.source.now = clock.Now
	b.engine = New(b.engine.estate, Options{Store: b.store, Now: clock.Now, Log: slog.New(slog.DiscardHandler)})
	return clock
}

// TestScheduleWhenTheClockJumps holds that a source is read once in each interval,
// whatever the wall clock is set to.
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
				if want := 3 + 3 + 3; b.source.looks != want {
					t.Errorf("%d looks in eight and a half minutes, want %d", b.source.looks, want)
				}
			})
		})
	}
}
