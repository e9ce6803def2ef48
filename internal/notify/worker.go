package notify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/printable"
)

const (
	// minPause and maxPause bound the pause after an error, which doubles with each
	// further error.
	minPause = time.Second
	maxPause = 5 * time.Minute
	// untilWoken is a pause that only wakeUp ends.
	untilWoken = time.Duration(math.MaxInt64)
	// maxError is the maximum length of an error's text, in characters.
	maxError = 500
)

// MaxLater is the maximum pause that an error of type Later can request.
const MaxLater = time.Hour

// A task does the next piece of work for one receiver. done reports whether the work is
// finished. It may be true with an error that a retry does not fix. If done is false and
// err is nil, there was no work.
type task func(context.Context) (done bool, err error)

// A worker runs a task repeatedly, with pauses after errors. It uses timers, so that
// changes of the system clock have no effect.
type worker struct {
	o       *Options
	name    string
	watcher Watcher
	task    task
	// listens is set for the worker of a Listener.
	listens bool
	// interval is the pause after a run of the task that did work.
	interval time.Duration
	// retryPermanent is set for a mirror: permanent errors are retried too.
	retryPermanent bool
	// pauseLimit is the maximum pause after an error.
	pauseLimit time.Duration
	wake       chan struct{}
	// running holds an element while the task runs.
	running chan struct{}

	mu        sync.Mutex
	delivered time.Time
	// err is the error of the last run. failures is the number of errors since the last
	// run that was done.
	err      error
	failures int
	// stopped is set after a permanent error.
	stopped bool
}

func newWorker(o *Options, name string, watcher Watcher) *worker {
	return &worker{o: o, name: name, watcher: watcher, pauseLimit: maxPause, wake: make(chan struct{}, 1), running: make(chan struct{}, 1)}
}

// wakeUp ends a wait for work, but not a pause after an error.
func (w *worker) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run runs the task until ctx ends.
func (w *worker) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-w.wake: // the task processes everything new
		default:
		}
		done, err := w.runTask(ctx)
		switch {
		case done:
			wait(ctx, w.interval, w.wake)
		case err == nil:
			wait(ctx, untilWoken, w.wake)
		default:
			wait(ctx, w.pause(err), nil)
		}
	}
}

// wait blocks until span has passed, wake receives, or ctx ends.
func wait(ctx context.Context, span time.Duration, wake <-chan struct{}) {
	var over <-chan time.Time
	if span < untilWoken {
		over = time.After(span)
	}
	select {
	case <-ctx.Done():
	case <-wake:
	case <-over:
	}
}

// flush runs the task until it fails or there is no more work. A mirror's task runs once.
func (w *worker) flush(ctx context.Context) error {
	var errs []error
	for ctx.Err() == nil {
		done, err := w.runTask(ctx)
		if err != nil {
			errs = append(errs, err)
		}
		if !done || w.interval > 0 {
			return errors.Join(errs...)
		}
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// runTask runs the task once and records its result. An error after the end of ctx is not
// recorded.
func (w *worker) runTask(ctx context.Context) (bool, error) {
	select {
	case w.running <- struct{}{}:
		defer func() { <-w.running }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if err := w.stopError(); err != nil {
		return false, err
	}
	done, err := w.callTask(ctx)
	switch {
	case err != nil && (done || ctx.Err() == nil):
		w.fail(done, err)
	case err == nil && done:
		w.succeed()
	}
	return done, err
}

// callTask calls the task and returns a panic as an error.
func (w *worker) callTask(ctx context.Context) (done bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			w.o.Log.Error("receiver panicked", "receiver", w.name, "stack", string(debug.Stack()))
			done, err = false, fmt.Errorf("panic: %v: this is a bug in driftd, please report it with the stack in the log", cause)
		}
	}()
	return w.task(ctx)
}

// succeed records a success.
func (w *worker) succeed() {
	w.mu.Lock()
	failed := w.failures > 0
	w.delivered, w.err, w.failures = w.o.Now(), nil, 0
	w.mu.Unlock()
	if failed {
		w.o.Log.Info("receiver recovered", "receiver", w.name)
	}
	w.watcher.Delivered(w.name, nil)
}

// fail records and logs an error of the task. done is the task's result.
func (w *worker) fail(done bool, err error) {
	w.mu.Lock()
	w.err = err
	if errors.Is(err, ErrPartial) {
		w.delivered = w.o.Now()
	}
	w.stopped = errors.Is(err, ErrPermanent) && !w.retryPermanent
	if w.failures++; done {
		w.failures = 0
	}
	stopped := w.stopped
	w.mu.Unlock()
	switch {
	case stopped && w.listens:
		w.o.Log.Error("listener stopped until driftd is reloaded or restarted", "receiver", w.name, "err", shortError(err))
	case stopped:
		w.o.Log.Error("receiver stopped until driftd is reloaded or restarted", "receiver", w.name, "err", shortError(err))
	case done:
		w.o.Log.Error("receiver refused a message", "receiver", w.name, "err", shortError(err))
	default:
		w.o.Log.Warn("receiver failed", "receiver", w.name, "err", shortError(err), "again_in", w.pause(err))
	}
	w.watcher.Delivered(w.name, err)
}

// stopError returns the error that stopped the worker. It returns nil if the worker is not
// stopped.
func (w *worker) stopError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return w.err
	}
	return nil
}

// pause returns the pause after err.
func (w *worker) pause(err error) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	later := (*Later)(nil)
	switch {
	case w.stopped:
		return untilWoken
	case errors.As(err, &later) && later.After > 0:
		return min(later.After, MaxLater)
	}
	pause := minPause
	for i := 1; i < w.failures && pause < w.pauseLimit; i++ {
		pause *= 2
	}
	return min(pause, w.pauseLimit)
}

// state returns the time of the last success, the last error as text, and whether the
// worker is stopped. w may be nil.
func (w *worker) state() (delivered time.Time, problem string, stopped bool) {
	if w == nil {
		return time.Time{}, "", false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.delivered, shortError(w.err), w.stopped
}

// shortError returns the text of err as one printable line of at most maxError characters.
// It returns "" for nil.
func shortError(err error) string {
	if err == nil {
		return ""
	}
	return printable.Line(err.Error(), maxError)
}
