package kubernetes

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

const (
	// quiet is how long nothing must have happened before a change is told, and
	// longest how long it is held back when something always happens.
	quiet   = 200 * time.Millisecond
	longest = time.Second
	// settling is how long a server may take to serve a kind that was defined,
	// and spacing the least time between two looks for new kinds.
	settling = 2 * time.Second
	spacing  = 10 * time.Second
	// firstRetry and lastRetry bound the pause before a broken stream is opened
	// again.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 30 * time.Second
	// retryTooLarge is the pause before a cluster is read again that needs more memory
	// than it may have.
	retryTooLarge = 10 * time.Minute
)

// Watch follows the API server from the last look on. When none comes within
// one timeout, when kinds come or go, and after the API server was lost, it
// takes one of its own and reports it.
func (c *cluster) Watch(ctx context.Context, changed func(model.Snapshot), lost func(error)) error {
	ctx, stop := context.WithCancelCause(ctx)
	w := &watch{cluster: c, pulse: &pulse{log: c.env.Log, now: c.now, server: c.address}, beat: newHeartbeat(c), changed: changed, lost: lost}
	defer w.pulse.stop()
	var beats conc.WaitGroup
	defer beats.Wait()
	defer stop(nil)
	c.mu.Lock()
	c.heartbeat = w.beat
	c.mu.Unlock()
	beats.Go(guarded(stop, func() { w.beat.run(ctx) }))
	return w.run(ctx)
}

// guarded returns a function that calls f and ends the context of stop if f panics.
func guarded(stop context.CancelCauseFunc, f func()) func() {
	return func() {
		if panicked := panics.Try(f); panicked != nil {
			stop(panicked.AsError())
		}
	}
}

// A watch is one call of Watch.
type watch struct {
	*cluster
	pulse   *pulse
	beat    *heartbeat
	changed func(model.Snapshot)
	lost    func(error)
}

func (w *watch) run(ctx context.Context) error {
	current := w.awaitLook(ctx)
	for failures := 0; ctx.Err() == nil; failures++ {
		if !current && w.lookAnew(ctx) {
			seen := w.seen()
			w.changed(w.signed(ctx, seen.snapshot(), seen.catalog))
		}
		select {
		case <-w.fresh:
		default:
		}
		var err error
		if current, err = w.follow(ctx, w.seen()); err == nil {
			failures = 0
			continue
		}
		if isTooLarge(err) {
			w.lost(err)
		}
		w.pulse.fails(err)
		_ = httpclient.Wait(ctx, w.retryAfter(failures))
	}
	return context.Cause(ctx)
}

// seen returns the last look, or nil when there was none.
func (c *cluster) seen() *look {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// awaitLook waits for the first look: a daemon collects at once, too.
func (w *watch) awaitLook(ctx context.Context) bool {
	late := time.NewTimer(w.config.Timeout)
	defer late.Stop()
	for w.seen() == nil {
		select {
		case <-w.fresh:
		case err := <-w.beat.lost:
			w.lost(err)
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// lookAnew looks until it succeeds; false when ctx ended before.
func (w *watch) lookAnew(ctx context.Context) bool {
	for failures := 0; ctx.Err() == nil; failures++ {
		found, err := w.lookOnce(ctx)
		if err == nil {
			if last := w.seen(); last != nil && last.awaits {
				found.tries = last.tries + 1
			}
			w.remember(found)
			return true
		}
		w.pulse.fails(err)
		pause := w.retryAfter(failures)
		if isTooLarge(err) {
			pause = retryTooLarge
		}
		w.rest(ctx, pause)
	}
	return false
}

// isTooLarge reports whether a source needs more memory than it may have.
func isTooLarge(err error) bool {
	_, ok := errors.AsType[*budget.Exceeded](err)
	return ok
}

// lookOnce looks, and reports meanwhile that the API server is lost.
func (w *watch) lookOnce(ctx context.Context) (found *look, err error) {
	done := make(chan struct{})
	var caught panics.Catcher
	go func() {
		defer close(done)
		caught.Try(func() { found, err = budget.Run(ctx, w.look) })
	}()
	for {
		select {
		case <-done:
			caught.Repanic()
			return found, err
		case err := <-w.beat.lost:
			w.lost(err)
		}
	}
}

// rest waits, and reports meanwhile that the API server is lost.
func (w *watch) rest(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case err := <-w.beat.lost:
			w.lost(err)
		}
	}
}

// retryAfter returns the pause after a number of failures in a row.
func (c *cluster) retryAfter(failures int) time.Duration {
	pause := min(lastRetry, firstRetry<<min(failures, 16))
	return time.Duration(float64(pause) * (1 + c.jitter()) / 2)
}

// An update changes the inventory; it tells whether anything that counts is
// different.
type update func(*inventory) bool

// follow keeps an inventory up to date, one stream a target, until ctx ends, a
// newer look was taken, or one is needed: then current is false. All streams
// have ended when it returns. An error says that it cannot go on.
func (w *watch) follow(ctx context.Context, base *look) (current bool, err error) {
	if base == nil {
		return false, nil
	}
	r, err := w.reader()
	if err != nil {
		return true, err
	}
	parent := ctx
	ctx, stop := context.WithCancelCause(ctx)
	updates, back, slots := make(chan update), newBell(), newSlots(w.config.Concurrency, base.catalog.apis)
	turns := make(chan struct{}, 1)
	var streams conc.WaitGroup
	defer streams.Wait()
	defer stop(nil)
	for _, l := range base.listings {
		if !canFollow(l) {
			continue
		}
		f := &follower{
			reader: r, target: l.target, cluster: w.cluster, updates: updates, back: back, pulse: w.pulse, heartbeat: w.beat, slots: slots, alive: w.now(),
			turns: turns, stop: stop,
		}
		if l.err == nil {
			f.version = l.version
		}
		streams.Go(guarded(stop, func() { f.run(ctx) }))
	}
	current, err = w.keep(ctx, newInventory(base), updates)
	if err == nil && parent.Err() == nil && ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return current, err
}

// keep owns the inventory: it carries out the updates, and reports what came of
// them once they pause. It returns false when kinds came or went, and when the
// API server is lost. An error says that the inventory became too large.
func (w *watch) keep(ctx context.Context, inv *inventory, updates <-chan update) (current bool, err error) {
	var due <-chan time.Time
	var since time.Time
	kinds := inv.base.again()
	for {
		select {
		case <-ctx.Done():
			return true, nil
		case <-w.fresh:
			return true, nil
		case err := <-w.beat.lost:
			w.lost(err)
			return false, nil
		case <-kinds:
			return false, nil
		case change := <-updates:
			defined := inv.defined
			different, now := change(inv), w.now()
			if err := budget.Fits(ctx, inv.weight); err != nil {
				return false, err
			}
			if inv.defined > defined {
				kinds = time.After(max(settling, spacing-now.Sub(inv.base.taken)))
			}
			if !different {
				continue
			}
			if due == nil {
				since = now
			}
			due = time.After(min(quiet, longest-now.Sub(since)))
		case <-due:
			due = nil
			w.changed(w.signed(ctx, inv.snapshot(w.now()), inv.base.catalog))
		}
	}
}

// A bell wakes all that wait for it.
type bell struct {
	mu   sync.Mutex
	rung chan struct{}
}

func newBell() *bell { return &bell{rung: make(chan struct{})} }

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.rung)
	b.rung = make(chan struct{})
}

// next returns a channel that closes when the bell is rung the next time.
func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung
}
