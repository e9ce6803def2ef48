// Package hours represents parts of the day, such as quiet hours, that repeat on days of the week.
package hours

import (
	"slices"
	"time"
)

// A Window is a part of the day. The zero value is never open.
type Window struct {
	// From and To are durations since midnight. If To is before From, the window ends on the
	// next day. To is 24 hours for a day as a whole.
	From, To time.Duration
	// Days are the days on which the window begins. Empty means every day.
	Days []time.Weekday
}

// Contains reports whether the window is open at a time, in the location of that time.
func (w Window) Contains(at time.Time) bool {
	if w.From == w.To {
		return false
	}
	since := sinceMidnight(at)
	if w.From < w.To {
		return since >= w.From && since < w.To && w.on(at.Weekday())
	}
	return since >= w.From && w.on(at.Weekday()) || since < w.To && w.on((at.Weekday()+6)%7)
}

func (w Window) on(day time.Weekday) bool { return len(w.Days) == 0 || slices.Contains(w.Days, day) }

// maxDays bounds how far End looks.
const maxDays = 8

// End returns the time at which the window that is open at a time ends, or the zero time if it is not open.
// Windows that follow each other without a gap count as one, for at most eight days.
func (w Window) End(at time.Time) time.Time {
	if !w.Contains(at) {
		return time.Time{}
	}
	end := at
	for range maxDays {
		end = w.next(end)
		if !w.Contains(end) {
			break
		}
	}
	return end
}

// next returns the first time after at at which the clock shows To. A time of day that the change to summer time skips
// is moved forward by the same amount as the clocks.
func (w Window) next(at time.Time) time.Time {
	year, month, day := at.Date()
	for ahead := 0; ; ahead++ {
		if end := time.Date(year, month, day+ahead, 0, 0, int(w.To/time.Second), 0, at.Location()); end.After(at) {
			return end
		}
	}
}

// sinceMidnight returns the time of day of at.
func sinceMidnight(at time.Time) time.Duration {
	hour, minute, second := at.Clock()
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
}
