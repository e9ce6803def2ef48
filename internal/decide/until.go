package decide

import (
	"fmt"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/timeparse"
)

// Forever is the text for a decision that never ends.
const Forever = "forever"

// ParseEnd parses the end of a decision in a file: a date in UTC (inclusive), a time such as
// 2026-12-24T18:00:00Z, or Forever, for which it returns the zero time.
func ParseEnd(text string) (time.Time, error) {
	if text == Forever {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		return t.Add(timeparse.Day - time.Nanosecond), nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.IsZero() {
		return time.Time{}, fmt.Errorf("%q: want a date such as 2026-12-24, a time such as 2026-12-24T18:00:00Z, or forever", text)
	}
	return t.UTC(), nil
}

// FormatEnd formats an end so that ParseEnd returns the same time.
func FormatEnd(end time.Time) string {
	if end.IsZero() {
		return Forever
	}
	end = end.UTC()
	if date := end.Format(time.DateOnly); end.Equal(endOf(date)) {
		return date
	}
	return end.Format(time.RFC3339Nano)
}

func endOf(date string) time.Time {
	end, _ := ParseEnd(date) // a date that was just written
	return end
}

// ParseUntil is like ParseEnd, but also accepts durations from now: "30d", "36h". If text is invalid, it
// returns a *Refusal.
func ParseUntil(text string, now time.Time) (time.Time, error) { return parseUntil(text, now, true) }

// parseUntil names Forever in its error only where that is allowed.
func parseUntil(text string, now time.Time, forever bool) (time.Time, error) {
	text = strings.TrimSpace(text)
	if end, err := ParseEnd(text); err == nil {
		return end, nil
	}
	length, err := timeparse.ParseDuration(text)
	switch {
	case err == nil && length > 0:
		return now.Add(length), nil
	case forever:
		return time.Time{}, &Refusal{fmt.Sprintf("until %q", text), "want a date such as 2026-12-24, how long as in 30d or 4h, or forever"}
	}
	return time.Time{}, &Refusal{fmt.Sprintf("until %q", text), "want a date such as 2026-12-24, or how long as in 30d or 4h"}
}
