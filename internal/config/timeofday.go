package config

import (
	"fmt"
	"slices"
	"time"
)

// TimeOfDay parses a time of day such as "22:00", and returns the duration since midnight.
func TimeOfDay(text string) (time.Duration, error) {
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return 0, fmt.Errorf("time of day %q: want one from 00:00 to 23:59, such as 09:00", text)
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, nil
}

// weekdays are the abbreviated names of the days, indexed by time.Weekday.
func weekdays() []string { return []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} }

// Weekdays returns the days of the week on which quiet hours begin.
func (q *QuietHours) Weekdays() []time.Weekday { return weekdaysOf(q.Days) }

func weekdaysOf(names []string) []time.Weekday {
	days := make([]time.Weekday, 0, len(names))
	for _, name := range names {
		if i := slices.Index(weekdays(), name); i >= 0 {
			days = append(days, time.Weekday(i))
		}
	}
	return days
}

// Location returns the time zone of the receiver's quiet hours and digest.
func (r *Receiver) Location() (*time.Location, error) { return locationOf(r.Timezone) }

// locationOf returns the time zone with a name, the machine's for "".
func locationOf(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("unknown timezone %q: want a name such as Europe/Berlin or UTC", name)
	}
	return location, nil
}
