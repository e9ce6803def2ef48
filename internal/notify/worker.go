package notify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode"
)

const (
	// minPause and maxPause bound the pause after an error, which doubles with each
	// further error.
	minPause = time.Second
	maxPause = 5 * time.Minute
	// forever is until the next wake-up.
	forever = time.Duration(math.MaxInt64)
	// maxError bounds the text of an error in characters.
	maxError = 500
)

// MaxLater bounds the pause that a receiver asks for.
const MaxLater = time.Hour

// A turn does the next piece of work for one receiver. done reports whether the work
// is finished, also with an error that a retry does not fix. With neither, there was
// no work.
type turn func(context.Context) (done bool, err error)

// A worker runs one turn after the other, with pauses after errors. It waits by timers,
// so that changes of the system clock have no effect.
type worker struct {
	o       *Options
	name    string
	watcher Watcher
	turn    turn
	// listens is set for the worker of a Listener.
	listens bool
	// every is the pause after a turn that did work.
	every time.Duration
	// persists is set to retry permanent errors too: each turn of a mirror shows
	// everything.
	persists bool
	// longest bounds the pause after an error.
	longest time.Duration
	wake    chan struct{}
	// running is full while a turn runs.
	running chan struct{}

	mu        sync.Mutex
	delivered time.Time
	// err is the error of the last turn; failures counts the errors since the last
	// turn that was done.
	err      error
	failures int
	stopped  bool
}

func newWorker(o *Options, name string, watcher Watcher) *worker {
	return &worker{o: o, name: name, watcher: watcher, longest: maxPause, wake: make(chan struct{}, 1), running: make(chan struct{}, 1)}
}

// wakeUp ends a wait for work, but not a pause after an error.
func (w *worker) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run runs turns until ctx ends.
func (w *worker) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-w.wake: // the turn sees what is new
		default:
		}
		done, err := w.runTurn(ctx)
		switch {
		case done:
			wait(ctx, w.every, w.wake)
		case err == nil:
			wait(ctx, forever, w.wake)
		default:
			wait(ctx, w.pause(err), nil)
		}
	}
}

// wait waits for the time to pass, for wake, or for the end of ctx.
func wait(ctx context.Context, span time.Duration, wake <-chan struct{}) {
	var over <-chan time.Time
	if span < forever {
		over = time.After(span)
	}
	select {
	case <-ctx.Done():
	case <-wake:
	case <-over:
	}
}

// flush runs turns until one fails or there is no more work.
func (w *worker) flush(ctx context.Context) error {
	var errs []error
	for ctx.Err() == nil {
		done, err := w.runTurn(ctx)
		if err != nil {
			errs = append(errs, err)
		}
		if !done || w.every > 0 {
			return errors.Join(errs...)
		}
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// runTurn runs one turn and records its result. An error after the end of ctx does not
// count.
func (w *worker) runTurn(ctx context.Context) (bool, error) {
	select {
	case w.running <- struct{}{}:
		defer func() { <-w.running }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	if err := w.halted(); err != nil {
		return false, err
	}
	done, err := w.guarded(ctx)
	switch {
	case err != nil && (done || ctx.Err() == nil):
		w.fail(done, err)
	case err == nil && done:
		w.succeed()
	}
	return done, err
}

// guarded runs a turn and returns a panic as an error.
func (w *worker) guarded(ctx context.Context) (done bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			w.o.Log.Error("receiver panicked", "receiver", w.name, "stack", string(debug.Stack()))
			done, err = false, fmt.Errorf("panic: %v: this is a bug in driftd, please report it with the stack in the log", cause)
		}
	}()
	return w.turn(ctx)
}

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

func (w *worker) fail(done bool, err error) {
	w.mu.Lock()
	w.err = err
	if errors.Is(err, ErrPartial) {
		w.delivered = w.o.Now()
	}
	w.stopped = errors.Is(err, ErrPermanent) && !w.persists
	if w.failures++; done {
		w.failures = 0
	}
	stopped := w.stopped
	w.mu.Unlock()
	switch {
	case stopped && w.listens:
		w.o.Log.Error("listener stopped until driftd is reloaded or restarted", "receiver", w.name, "err", brief(err))
	case stopped:
		w.o.Log.Error("receiver stopped until driftd is reloaded or restarted", "receiver", w.name, "err", brief(err))
	case done:
		w.o.Log.Error("receiver refused a message", "receiver", w.name, "err", brief(err))
	default:
		w.o.Log.Warn("receiver failed", "receiver", w.name, "err", brief(err), "again_in", w.pause(err))
	}
	w.watcher.Delivered(w.name, err)
}

// halted returns the error that stopped the worker; nil if it is not stopped.
func (w *worker) halted() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return w.err
	}
	return nil
}

// pause returns how long to wait after an error.
func (w *worker) pause(err error) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	later := (*Later)(nil)
	switch {
	case w.stopped:
		return forever
	case errors.As(err, &later) && later.After > 0:
		return min(later.After, MaxLater)
	}
	pause := minPause
	for i := 1; i < w.failures && pause < w.longest; i++ {
		pause *= 2
	}
	return min(pause, w.longest)
}

// state returns what Status shows of the worker, which may be nil.
func (w *worker) state() (delivered time.Time, problem string, stopped bool) {
	if w == nil {
		return time.Time{}, "", false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.delivered, brief(w.err), w.stopped
}

// brief returns an error as one printable, bounded line; "" for nil.
func brief(err error) string {
	if err == nil {
		return ""
	}
	text := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, err.Error())
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxError {
		text = string(runes[:maxError-1]) + "…"
	}
	return text
}
