package slack

import (
	"context"
	"sync"
	"time"
)

// A pace lets callers through one at a time, at an interval. It uses the monotonic clock.
type pace struct {
	every time.Duration
	mu    sync.Mutex
	next  time.Time
}

// wait blocks until the caller may continue, or returns the error of ctx if it ends first.
func (p *pace) wait(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	turn := p.next
	if turn.Before(now) {
		turn = now
	}
	p.next = turn.Add(p.every)
	p.mu.Unlock()
	timer := time.NewTimer(turn.Sub(now))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
