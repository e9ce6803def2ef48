package clocktest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/clocktest"
)

func TestClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := time.Date(2026, 3, 28, 22, 30, 0, 5, time.UTC)
		for _, jump := range []time.Duration{0, 24 * time.Hour, -24 * time.Hour, 365 * 24 * time.Hour, -56 * 365 * 24 * time.Hour} {
			c := clocktest.New(at)
			before := c.Now()
			c.Advance(time.Minute)
			time.Sleep(time.Second)
			c.Jump(jump)
			after := c.Now()
			if got, want := after.Sub(before), time.Minute+time.Second; got != want {
				t.Errorf("jump %s: %s have passed, want %s", jump, got, want)
			}
			if got, want := after.Round(0), at.Add(time.Minute+time.Second+jump); !got.Equal(want) {
				t.Errorf("jump %s: the wall clock shows %s, want %s", jump, got, want)
			}
			if got := after.Round(0).Sub(before.Round(0)); got != time.Minute+time.Second+jump {
				t.Errorf("jump %s: without the monotonic reading %s have passed", jump, got)
			}
		}
	})
}
