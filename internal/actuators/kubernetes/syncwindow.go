package kubernetes

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/driftd/driftd/internal/model"
)

// blocks returns a sync window of Argo CD that may block a sync now or while that is followed; "" if it does not. It counts for all
// Applications of its project.
// https://argo-cd.readthedocs.io/en/stable/user-guide/sync_windows/
func blocks(window model.Value, now time.Time) (title string, err error) {
	if window.At("manualSync").Text() == "true" {
		return "", nil
	}
	kind := window.At("kind").Str()
	for _, at := range []time.Time{now, now.Add(followTime)} {
		active, err := isActive(window, at)
		if err != nil {
			return "", err
		}
		if active != (kind == "allow") {
			return fmt.Sprintf("the %s window %q for %s", kind, window.At("schedule").Str(), window.At("duration").Str()), nil
		}
	}
	return "", nil
}

// isActive reports whether a sync window is active at a time. As Argo CD does, it shifts the clock by what the time zone has at that time.
func isActive(window model.Value, at time.Time) (bool, error) {
	schedule, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(window.At("schedule").Str())
	if err != nil {
		return false, fmt.Errorf("schedule: %w", err)
	}
	duration, err := time.ParseDuration(window.At("duration").Str())
	if err != nil {
		return false, fmt.Errorf("duration: %w", err)
	}
	zone, err := time.LoadLocation(window.At("timeZone").Str())
	if err != nil {
		return false, fmt.Errorf("time zone: %w", err)
	}
	_, offset := at.In(zone).Zone()
	local := at.UTC().Add(time.Duration(offset) * time.Second)
	return schedule.Next(local.Add(-duration)).Before(local), nil
}
