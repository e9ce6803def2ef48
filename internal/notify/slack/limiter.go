package slack

import (
	"context"
	"sync"
	"time"
)

// A rateLimiter lets one caller continue per interval. It uses the monotonic clock.
type rateLimiter struct {
	interval time.Duration
	mu       sync.Mutex
	next     time.Time
}

// wait blocks until the caller may continue, or returns the error of ctx if it ends first.
func (p *rateLimiter) wait(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	turn := p.next
	if turn.Before(now) {
		turn = now
	}
	p.next = turn.Add(p.interval)
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
