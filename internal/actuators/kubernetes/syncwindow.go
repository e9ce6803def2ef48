package kubernetes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/driftd/driftd/internal/model"
)

// blocking describes a sync window that may block a sync of an Application now or while that is followed; it returns "" if none does. Of a
// window with a pattern, it is not known here which Applications it is for: it blocks if it denies, and does not permit if it allows.
// https://argo-cd.readthedocs.io/en/stable/user-guide/sync_windows/
func blocking(windows []model.Value, app model.Value, now time.Time) (title string, err error) {
	for _, at := range []time.Time{now, now.Add(followTime)} {
		inactive, permitted := "", false
		for _, w := range windows {
			active, err := isActive(w, at)
			if err != nil {
				return "", err
			}
			possible, sure := concerns(w, app)
			switch allows := w.At("kind").Str() == "allow"; {
			case !possible:
			case allows && active:
				permitted = permitted || sure
			case w.At("manualSync").Text() == "true":
			case allows:
				inactive = titleOf(w)
			case active:
				return titleOf(w), nil
			}
		}
		if inactive != "" && !permitted {
			return inactive, nil
		}
	}
	return "", nil
}

func titleOf(w model.Value) string {
	return fmt.Sprintf("the %s window %q for %s", w.At("kind").Str(), w.At("schedule").Str(), w.At("duration").Str())
}

// concerns reports whether a sync window may be for an Application, and whether it is for sure.
func concerns(w, app model.Value) (possible, sure bool) {
	destination := app.At("spec", "destination")
	for list, names := range map[string][]string{
		"applications": {app.At("metadata", "name").Str()},
		"namespaces":   {destination.At("namespace").Str()},
		"clusters":     {destination.At("name").Str(), destination.At("server").Str()},
	} {
		for _, item := range w.At(list).Items() {
			named := item.Str() == "*" || item.Str() != "" && slices.Contains(names, item.Str())
			possible = possible || named || strings.ContainsAny(item.Str(), `*?[{\`)
			sure = sure || named
		}
	}
	return possible, sure && w.At("andOperator").Text() != "true"
}

// isActive reports whether a sync window is active at a time. As Argo CD does, it shifts the clock by what the time zone has at that time.
func isActive(window model.Value, at time.Time) (bool, error) {
	if strings.Contains(window.At("schedule").Str(), "TZ=") { // the parser panics on some
		return false, errors.New("schedule: the time zone belongs to timeZone")
	}
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
