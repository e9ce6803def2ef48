// Package timeparse parses times and durations in the forms that people write: "90d",
// "1d12h", "2h ago", "now", RFC 3339. It reads no clock.
package timeparse

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Day is 24 hours. Schedules and retention ignore daylight saving time.
const Day = 24 * time.Hour

// Longest is the longest duration that ParseDuration accepts.
const Longest = 100 * 365 * Day

// ParseDuration parses a Go duration that may begin with weeks and days: "90d", "1w2d",
// "1d12h30m". A minus sign before it makes it negative.
func ParseDuration(text string) (time.Duration, error) {
	length, negative := strings.CutPrefix(text, "-")
	days, rest, ok := leadingDays(length)
	if !ok {
		return 0, wrongDuration(text)
	}
	total := days
	if rest != "" || length == "" {
		below, err := time.ParseDuration(rest)
		if err != nil || below < 0 || rest[0] == '+' || below > Longest-days {
			return 0, wrongDuration(text)
		}
		total += below
	}
	if negative {
		return -total, nil
	}
	return total, nil
}

// leadingDays parses the weeks and days at the beginning of text, and returns the rest of
// text.
func leadingDays(text string) (total time.Duration, rest string, ok bool) {
	weeks, rest, ok := leading(text, "w", 7*Day)
	if !ok {
		return 0, "", false
	}
	days, rest, ok := leading(rest, "d", Day)
	if !ok || days > Longest-weeks {
		return 0, "", false
	}
	return weeks + days, rest, true
}

func leading(text, letter string, unit time.Duration) (total time.Duration, rest string, ok bool) {
	digits, rest, found := strings.Cut(text, letter)
	if !found {
		return 0, text, true
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || n > uint64(Longest/unit) {
		return 0, "", false
	}
	return time.Duration(n) * unit, rest, true
}

func wrongDuration(text string) error {
	return fmt.Errorf("duration %q: want one such as 90s, 10m, 36h or 90d", text)
}

// Parse parses a time: RFC 3339, a date (its beginning, UTC), "now", or a duration before
// now: "2h", "2h ago", "7d".
func Parse(text string, now time.Time) (time.Time, error) {
	if text == "now" {
		return now, nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	back, err := ParseDuration(strings.TrimSpace(strings.TrimSuffix(text, "ago")))
	if err != nil || back < 0 {
		return time.Time{}, fmt.Errorf("time %q: want now, how long ago (2h, 7d) or a time such as 2026-01-31T14:00:00Z", text)
	}
	return now.Add(-back), nil
}
