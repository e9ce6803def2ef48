package phrase

import (
	"time"
)

// A Clock formats times. The zero Clock formats all times like Stamp.
type Clock struct {
	// Now is the time to which relative times refer.
	Now time.Time
	// Relative formats past times as "2 hours ago". It requires Now.
	Relative bool
}

// Time returns t as "2 hours ago", or like Stamp if the clock is not relative.
func (c Clock) Time(t time.Time) string {
	if age, ok := c.ago(t); ok {
		return age
	}
	return Stamp(t)
}

func (c Clock) ago(t time.Time) (string, bool) {
	age := c.Now.Sub(t)
	if !c.Relative || c.Now.IsZero() || age <= -time.Minute {
		return "", false
	}
	return Ago(age), true
}

// Short returns t as "2h ago", or like Stamp if the clock is not relative.
func (c Clock) Short(t time.Time) string {
	if _, ok := c.ago(t); !ok {
		return Stamp(t)
	}
	return shortAgo(c.Now.Sub(t))
}

// shortAgo returns an age as "2h ago".
func shortAgo(age time.Duration) string {
	const day = 24 * time.Hour
	for _, unit := range []struct {
		length time.Duration
		letter string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if age >= unit.length {
			return Number(int(age/unit.length)) + unit.letter + " ago"
		}
	}
	return "just now"
}

// Exact returns t with a precision of seconds, followed by its age if the clock is relative.
func (c Clock) Exact(t time.Time) string {
	if age, ok := c.ago(t); ok {
		return Stamp(t) + " (" + age + ")"
	}
	return Stamp(t)
}

// ExactPhrase returns the result of Exact as a Phrase.
func (c Clock) ExactPhrase(t time.Time) Phrase { return Phrase{{Text: c.Exact(t), At: UTC(t)}} }

// Time appends t in the format of the clock.
func (p Phrase) Time(c Clock, t time.Time) Phrase {
	return append(p, Span{Text: c.Time(t), At: UTC(t)})
}

// Until appends the time at which a decision ends, in the format of Stamp. A zero end means never.
func (p Phrase) Until(end time.Time) Phrase {
	if end.IsZero() {
		return p.Words("forever")
	}
	return p.Words("until ").Time(Clock{}, end)
}

// Stamp returns t in the format of RFC 3339, in UTC and with a precision of seconds.
func Stamp(t time.Time) string { return UTC(t).Truncate(time.Second).Format(time.RFC3339) }

// UTC returns t in UTC, or the zero time if RFC 3339 cannot represent its year.
func UTC(t time.Time) time.Time {
	const first, end = -62135596800, 253402300800 // the seconds of the years 1 and 10000, which are compared faster than years
	if s := t.Unix(); s < first || s >= end {
		return time.Time{}
	}
	return t.UTC()
}

// Ago returns an age in words: "2 hours ago".
func Ago(age time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case age < time.Second:
		return "just now"
	case age < time.Minute:
		return Count(int(age/time.Second), "second") + " ago"
	case age < time.Hour:
		return Count(int(age/time.Minute), "minute") + " ago"
	case age < day:
		return Count(int(age/time.Hour), "hour") + " ago"
	}
	return Count(int(age/day), "day") + " ago"
}
