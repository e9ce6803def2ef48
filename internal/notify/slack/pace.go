package slack

import (
	"context"
	"sync"
	"time"
)

// A pace lets one caller through at a time, and then none for a while. It goes
// by the machine's own clock, which nobody sets back.
type pace struct {
	every time.Duration
	mu    sync.Mutex
	next  time.Time
}

// wait returns when it is the caller's turn, or with ctx's error when that ends
// first.
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
