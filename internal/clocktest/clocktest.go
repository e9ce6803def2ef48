// Package clocktest provides a clock for tests, whose wall clock can be changed while time passes, as NTP
// or an administrator would do.
package clocktest

import (
	"sync"
	"time"
	"unsafe"
)

// A Clock has a wall clock and, like time.Now, a monotonic one: Advance moves both, Jump
// the wall clock alone. Time that passes by itself counts too; in a synctest bubble it is
// that of the bubble. The monotonic readings of two Clocks do not compare. A Clock is
// safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	// began is when wall was right; passed is what Advance has added since.
	began, wall time.Time
	passed      time.Duration
}

// New returns a Clock whose wall clock shows the given time.
func New(at time.Time) *Clock { return &Clock{began: time.Now(), wall: at.Round(0)} }

// Now returns the current time in UTC, with a monotonic reading.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	monotonic := time.Since(c.began) + c.passed
	return withMonotonic(c.wall.Add(monotonic), monotonic)
}

// Advance advances the wall clock and the monotonic clock by d.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed += d
}

// Jump changes the wall clock by d without advancing the monotonic clock.
func (c *Clock) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}

// A reading is laid out as a time.Time that has a monotonic reading: a flag, the seconds
// since 1885 and the nanoseconds of the wall clock; the monotonic reading; the location.
// Package time has no other way to make one of two clocks that disagree. TestClock fails
// where the layout changes.
type reading struct {
	wall      uint64
	monotonic time.Duration
	location  *time.Location
}

func withMonotonic(wall time.Time, monotonic time.Duration) time.Time {
	const flag, secondsAt = 1 << 63, 30
	first := time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	r := reading{wall: flag | uint64(wall.Unix()-first)<<secondsAt | uint64(wall.Nanosecond()), monotonic: monotonic}
	return *(*time.Time)(unsafe.Pointer(&r))
}
