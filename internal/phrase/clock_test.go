package phrase

import (
	"testing"
	"time"
)

func TestRelativeTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 7, 30, 0, 0, time.UTC)
	c := Clock{Now: now, Relative: true}
	for want, tc := range map[string]struct {
		reason string
		age    time.Duration
	}{
		"just now":             {"no time at all", 0},
		"1 second ago":         {"one is no plural", time.Second},
		"59 minutes ago":       {"what is not full does not count", time.Hour - time.Second},
		"23 hours ago":         {"up to a day", 24*time.Hour - time.Second},
		"400 days ago":         {"days are long enough", 400 * 24 * time.Hour},
		"2026-11-20T07:35:00Z": {"a time in the future is a stamp", -5 * time.Minute},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if got := c.Time(now.Add(-tc.age)); got != want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, want)
			}
		})
	}
	if got := (Clock{Relative: true}).Time(now); got != "2026-11-20T07:30:00Z" {
		t.Errorf("without Now: got %q, want a stamp", got)
	}
}

func TestShortTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 7, 30, 0, 0, time.UTC)
	c := Clock{Now: now, Relative: true}
	for want, tc := range map[string]struct {
		reason string
		age    time.Duration
	}{
		"just now":             {"less than a second", time.Second - 1},
		"1s ago":               {"a second", time.Second},
		"59m ago":              {"an hour that is not full", time.Hour - time.Second},
		"23h ago":              {"up to a day", 24*time.Hour - time.Second},
		"1,400d ago":           {"days are long enough", 1400 * 24 * time.Hour},
		"2026-11-20T07:35:00Z": {"a time in the future is a stamp", -5 * time.Minute},
	} {
		if got := c.Short(now.Add(-tc.age)); got != want {
			t.Errorf("%s: got %q, want %q", tc.reason, got, want)
		}
	}
	if got := (Clock{}).Short(now); got != "2026-11-20T07:30:00Z" {
		t.Errorf("without Now: got %q, want a stamp", got)
	}
}
