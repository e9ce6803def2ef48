package daemon

import (
	"time"

	"github.com/jonboulle/clockwork"
)

// A steadyClock is the clock of the scheduler: its start plus the time that has passed
// since. It does not depend on changes of the wall clock. gocron compares times without
// their monotonic readings, so after a clock is set back it would wait for the difference.
type steadyClock struct {
	clockwork.Clock

	began time.Time
	now   func() time.Time
}

func newSteadyClock(now func() time.Time) steadyClock {
	return steadyClock{clockwork.NewRealClock(), now(), now}
}

// Now implements clockwork.Clock. It returns a time that the wall clock does not affect.
func (c steadyClock) Now() time.Time { return c.began.Add(c.now().Sub(c.began)) }

// maxStep is the smallest change of the wall clock that is logged: NTP corrects by less.
const maxStep = time.Minute

// checkClock logs that the last scan lies in the future.
func (e *Engine) checkClock() {
	runs, err := e.store.Runs(1)
	if err != nil {
		e.log.Warn("read run records", "err", err)
		return
	}
	if now := e.now(); len(runs) > 0 && runs[0].Finished.Sub(now) > maxStep {
		e.log.Warn("the last scan lies in the future: see that the clock is right", "finished", runs[0].Finished, "now", now)
	}
}

// noteClock logs that the wall clock was set since a time, and returns the present one.
func (e *Engine) noteClock(before time.Time) time.Time {
	now := e.now()
	if by := now.Round(0).Sub(before.Round(0)) - now.Sub(before); by.Abs() > maxStep {
		e.log.Warn("the clock was set, or the machine was asleep: see that the clock is right", "by", by.Round(time.Second), "now", now)
	}
	return now
}
