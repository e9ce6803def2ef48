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
	// quiet is the time without changes before a snapshot is reported. longest bounds the
	// delay of a snapshot if changes continue.
	quiet   = 200 * time.Millisecond
	longest = time.Second
	// settling is the time for the server to serve a newly defined kind. spacing is the
	// least time between two scans for new kinds.
	settling = 2 * time.Second
	spacing  = 10 * time.Second
	// firstRetry and lastRetry bound the pause before a stream is opened again.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 30 * time.Second
	// retryTooLarge is the pause before the next scan of a cluster that exceeded its memory
	// budget.
	retryTooLarge = 10 * time.Minute
)

// Watch implements collectors.Watcher. It follows the API server from the last scan. It scans by
// itself and reports the result if no scan ends within one timeout, if kinds were added or removed,
// and after the API server was unreachable.
func (c *cluster) Watch(ctx context.Context, changed func(model.Snapshot), lost func(error)) error {
	ctx, stop := context.WithCancelCause(ctx)
	w := &watch{cluster: c, monitor: &streamMonitor{log: c.env.Log, now: c.now, server: c.address}, beat: newHeartbeat(c), changed: changed, lost: lost}
	defer w.monitor.stop()
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
	monitor *streamMonitor
	beat    *heartbeat
	changed func(model.Snapshot)
	lost    func(error)
}

func (w *watch) run(ctx context.Context) error {
	current := w.awaitScan(ctx)
	for failures := 0; ctx.Err() == nil; failures++ {
		if !current && w.rescan(ctx) {
			last := w.lastScan()
			w.changed(w.withAuditEvents(ctx, last.snapshot(), last.catalog))
		}
		select {
		case <-w.scanned:
		default:
		}
		var err error
		if current, err = w.follow(ctx, w.lastScan()); err == nil {
			failures = 0
			continue
		}
		if isTooLarge(err) {
			w.lost(err)
		}
		w.monitor.failed(err)
		_ = httpclient.Wait(ctx, w.retryAfter(failures))
	}
	return context.Cause(ctx)
}

// lastScan returns the last scan, or nil if there was none.
func (c *cluster) lastScan() *scan {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// awaitScan waits for the first scan, since the daemon also calls Collect when it starts. It
// reports whether there is one.
func (w *watch) awaitScan(ctx context.Context) bool {
	timer := time.NewTimer(w.config.Timeout)
	defer timer.Stop()
	for w.lastScan() == nil {
		select {
		case <-w.scanned:
		case err := <-w.beat.lost:
			w.lost(err)
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// rescan scans until a scan succeeds. It returns false if ctx ends first.
func (w *watch) rescan(ctx context.Context) bool {
	for failures := 0; ctx.Err() == nil; failures++ {
		found, err := w.scanOnce(ctx)
		if err == nil {
			if last := w.lastScan(); last != nil && last.unserved {
				found.tries = last.tries + 1
			}
			w.setLast(found)
			return true
		}
		w.monitor.failed(err)
		pause := w.retryAfter(failures)
		if isTooLarge(err) {
			pause = retryTooLarge
		}
		w.wait(ctx, pause)
	}
	return false
}

// isTooLarge reports whether a source exceeded its memory budget.
func isTooLarge(err error) bool {
	_, ok := errors.AsType[*budget.Exceeded](err)
	return ok
}

// scanOnce scans once. During the scan, it reports the loss of the API server.
func (w *watch) scanOnce(ctx context.Context) (found *scan, err error) {
	done := make(chan struct{})
	var caught panics.Catcher
	go func() {
		defer close(done)
		caught.Try(func() { found, err = budget.Run(ctx, w.scan) })
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

// wait waits. Meanwhile, it reports the loss of the API server.
func (w *watch) wait(ctx context.Context, pause time.Duration) {
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

// retryAfter returns the pause after a number of consecutive failures.
func (c *cluster) retryAfter(failures int) time.Duration {
	pause := min(lastRetry, firstRetry<<min(failures, 16))
	return time.Duration(float64(pause) * (1 + c.jitter()) / 2)
}

// An update changes the inventory. It reports whether a new snapshot is necessary.
type update func(*inventory) bool

// follow updates an inventory with one stream for each target, until ctx ends, another scan
// replaces base, or a new scan is necessary. In the last case, current is false. It returns an
// error if following is not possible. All streams are closed when follow returns.
func (w *watch) follow(ctx context.Context, base *scan) (current bool, err error) {
	if base == nil {
		return false, nil
	}
	r, err := w.reader()
	if err != nil {
		return true, err
	}
	parent := ctx
	ctx, stop := context.WithCancelCause(ctx)
	updates, recovered, slots := make(chan update), newBroadcast(), newSlots(w.config.Concurrency, base.catalog.apis)
	turns := make(chan struct{}, 1)
	var streams conc.WaitGroup
	defer streams.Wait()
	defer stop(nil)
	for _, l := range base.listings {
		if !canFollow(l) {
			continue
		}
		f := &follower{
			reader: r, target: l.target, cluster: w.cluster, updates: updates, recovered: recovered, monitor: w.monitor, heartbeat: w.beat,
			slots: slots, alive: w.now(), turns: turns, stop: stop,
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

// keep applies the updates to the inventory and reports snapshots between them. It returns false if
// kinds were added or removed or the API server was lost. It returns an error if the inventory
// exceeds the memory budget.
func (w *watch) keep(ctx context.Context, inv *inventory, updates <-chan update) (current bool, err error) {
	var due <-chan time.Time
	var since time.Time
	kinds := inv.base.rescan()
	for {
		select {
		case <-ctx.Done():
			return true, nil
		case <-w.scanned:
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
			w.changed(w.withAuditEvents(ctx, inv.snapshot(w.now()), inv.base.catalog))
		}
	}
}

// A broadcast wakes all goroutines that wait for it.
type broadcast struct {
	mu   sync.Mutex
	sent chan struct{}
}

func newBroadcast() *broadcast { return &broadcast{sent: make(chan struct{})} }

func (b *broadcast) send() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.sent)
	b.sent = make(chan struct{})
}

// next returns a channel that the next call of send closes.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sent
}
