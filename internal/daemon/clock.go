package daemon

import (
	"time"

	"github.com/jonboulle/clockwork"
)

// A steadyClock is the scheduler's: it shows when it was made, and how much time has
// passed since, whatever the wall clock is set to. gocron compares times without their
// monotonic readings, and would wait until a clock that was set back is where it was.
type steadyClock struct {
	clockwork.Clock

	began time.Time
	now   func() time.Time
}

func newSteadyClock(now func() time.Time) steadyClock {
	return steadyClock{clockwork.NewRealClock(), now(), now}
}

// Now implements clockwork.Clock.
func (c steadyClock) Now() time.Time { return c.began.Add(c.now().Sub(c.began)) }

// maxStep is by how much the wall clock may be changed without a word: NTP corrects it
// by less.
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
