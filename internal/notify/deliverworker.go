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
	// minPause and maxPause bound how long a receiver is left alone after an
	// error; the pause doubles from one to the next.
	minPause = time.Second
	maxPause = 5 * time.Minute
	// forever is until there is something new.
	forever = time.Duration(math.MaxInt64)
	// maxError bounds the text of an error that is shown, in characters.
	maxError = 500
)

// MaxLater bounds how long a receiver is left alone that asks for that.
const MaxLater = time.Hour

// A turn does the next thing for one receiver and tells whether it is done
// with that: with an error too, when trying again would not help. Neither means
// that there is nothing to do.
type turn func(context.Context) (done bool, err error)

// A worker takes one turn after the other, with the pauses that errors ask for.
// It waits by timers, so that a clock that is set changes nothing.
type worker struct {
	o       *Options
	name    string
	watcher Watcher
	turn    turn
	// listens tells that it hears answers, and delivers nothing.
	listens bool
	// every is how long after something was done the next turn comes.
	every time.Duration
	// persists tells that a permanent error is tried again all the same: each
	// turn of a mirror shows everything.
	persists bool
	// longest bounds the pause after an error.
	longest time.Duration
	wake    chan struct{}
	// one is full while a turn runs.
	one chan struct{}

	mu        sync.Mutex
	delivered time.Time
	// err is what the last turn ended with; failures counts those since one
	// was done.
	err      error
	failures int
	stopped  bool
}

func newWorker(o *Options, name string, watcher Watcher) *worker {
	return &worker{o: o, name: name, watcher: watcher, longest: maxPause, wake: make(chan struct{}, 1), one: make(chan struct{}, 1)}
}

// rouse ends a rest, though not a pause after an error.
func (w *worker) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// run works until ctx ends.
func (w *worker) run(ctx context.Context) {
	for ctx.Err() == nil {
		select {
		case <-w.wake: // the turn sees what is new
		default:
		}
		done, err := w.take(ctx)
		switch {
		case done:
			rest(ctx, w.every, w.wake)
		case err == nil:
			rest(ctx, forever, w.wake)
		default:
			rest(ctx, w.pause(err), nil)
		}
	}
}

// rest waits for the time to pass, for wake, or for the end of ctx.
func rest(ctx context.Context, span time.Duration, wake <-chan struct{}) {
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

// flush takes turns until one fails or there is nothing more to do now.
func (w *worker) flush(ctx context.Context) error {
	var errs []error
	for ctx.Err() == nil {
		done, err := w.take(ctx)
		if err != nil {
			errs = append(errs, err)
		}
		if !done || w.every > 0 {
			return errors.Join(errs...)
		}
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// take takes one turn and notes how it ended. What fails when ctx has ended is
// nobody's fault.
func (w *worker) take(ctx context.Context) (bool, error) {
	select {
	case w.one <- struct{}{}:
		defer func() { <-w.one }()
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

// guarded takes a turn in which a panic is an error.
func (w *worker) guarded(ctx context.Context) (done bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			w.o.Log.Error("receiver panicked", "receiver", w.name, "stack", string(debug.Stack()))
			done, err = false, fmt.Errorf("panic: %v: this is a mistake in driftd, please report it with the stack in the log", cause)
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
		w.o.Log.Info("receiver works again", "receiver", w.name)
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
		w.o.Log.Error("answers are not heard until driftd is reloaded or restarted", "receiver", w.name, "err", brief(err))
	case stopped:
		w.o.Log.Error("receiver stopped until driftd is reloaded or restarted", "receiver", w.name, "err", brief(err))
	case done:
		w.o.Log.Error("receiver refused what it was told", "receiver", w.name, "err", brief(err))
	default:
		w.o.Log.Warn("receiver failed", "receiver", w.name, "err", brief(err), "again_in", w.pause(err))
	}
	w.watcher.Delivered(w.name, err)
}

// halted returns the error that stopped the worker; nil while it works.
func (w *worker) halted() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return w.err
	}
	return nil
}

// pause is how long to wait after an error.
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

// state is what people are shown of the worker; nil is never in trouble.
func (w *worker) state() (delivered time.Time, problem string, stopped bool) {
	if w == nil {
		return time.Time{}, "", false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.delivered, brief(w.err), w.stopped
}

// brief is an error as one line, printable and bounded; "" for nil.
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
