// Package clocktest is a clock whose wall clock can be set while time passes, as NTP or
// an administrator does it. Only tests import it.
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

// New returns a clock that shows a time.
func New(at time.Time) *Clock { return &Clock{began: time.Now(), wall: at.Round(0)} }

// Now returns the time with a monotonic reading, in UTC.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	monotonic := time.Since(c.began) + c.passed
	return withMonotonic(c.wall.Add(monotonic), monotonic)
}

// Advance lets time pass.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.passed += d
}

// Jump changes what the wall clock shows, while no time passes.
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
