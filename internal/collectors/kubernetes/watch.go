package kubernetes

import (
	"context"
	"sync"
	"time"

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
)

// Watch follows the API server from the last look on. When none comes within
// one timeout, and when kinds come or go, it takes one of its own and tells it.
func (c *cluster) Watch(ctx context.Context, changed func(model.Snapshot)) error {
	p := &pulse{log: c.env.Log, now: c.now, server: c.address}
	defer p.stop()
	current := c.awaitLook(ctx)
	for failures := 0; ctx.Err() == nil; failures++ {
		if !current && c.lookAnew(ctx, p) {
			seen := c.seen()
			changed(c.signed(ctx, seen.snapshot(), seen.catalog))
		}
		select {
		case <-c.fresh:
		default:
		}
		var err error
		if current, err = c.follow(ctx, c.seen(), p, changed); err == nil {
			failures = 0
			continue
		}
		p.fails(err)
		_ = sleep(ctx, c.retryAfter(failures))
	}
	return ctx.Err()
}

// seen returns the last look, or nil when there was none.
func (c *cluster) seen() *look {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last
}

// awaitLook waits for the first look: a daemon collects at once, too.
func (c *cluster) awaitLook(ctx context.Context) bool {
	late := time.NewTimer(c.config.Timeout)
	defer late.Stop()
	for c.seen() == nil {
		select {
		case <-c.fresh:
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// lookAnew looks until it succeeds; false when ctx ended before.
func (c *cluster) lookAnew(ctx context.Context, p *pulse) bool {
	for failures := 0; ctx.Err() == nil; failures++ {
		found, err := c.look(ctx)
		if err == nil {
			if last := c.seen(); last != nil && last.awaits {
				found.tries = last.tries + 1
			}
			c.remember(found)
			return true
		}
		p.fails(err)
		_ = sleep(ctx, c.retryAfter(failures))
	}
	return false
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
// have ended when it returns.
func (c *cluster) follow(ctx context.Context, base *look, p *pulse, changed func(model.Snapshot)) (current bool, err error) {
	if base == nil {
		return false, nil
	}
	r, err := c.reader()
	if err != nil {
		return true, err
	}
	ctx, stop := context.WithCancel(ctx)
	updates, back, slots := make(chan update), newBell(), newSlots(c.config.Concurrency, base.catalog.apis)
	var streams sync.WaitGroup
	defer streams.Wait()
	defer stop()
	for _, l := range base.listings {
		if !canFollow(l) {
			continue
		}
		f := &follower{
			reader: r, target: l.target, cluster: c, updates: updates, back: back, pulse: p, slots: slots, alive: c.now(),
		}
		if l.err == nil {
			f.version = l.version
		}
		streams.Go(func() { f.run(ctx) })
	}
	return c.keep(ctx, newInventory(base), updates, changed), nil
}

// keep owns the inventory: it carries out the updates, and tells what came of
// them once they pause. It returns false when kinds came or went.
func (c *cluster) keep(ctx context.Context, inv *inventory, updates <-chan update, changed func(model.Snapshot)) bool {
	var due <-chan time.Time
	var since time.Time
	kinds := inv.base.again()
	for {
		select {
		case <-ctx.Done():
			return true
		case <-c.fresh:
			return true
		case <-kinds:
			return false
		case change := <-updates:
			defined := inv.defined
			different, now := change(inv), c.now()
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
			changed(c.signed(ctx, inv.snapshot(c.now()), inv.base.catalog))
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
