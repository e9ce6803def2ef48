package plan

import (
	"context"
	"runtime"
)

// A Limiter limits the number of concurrent plans in a process, across all roots. Each plan uses one or two
// cores and some hundred megabytes of memory.
type Limiter struct {
	plans chan struct{}
}

// NewLimiter returns a Limiter that allows n concurrent plans. If n is 0, it allows one per core, and at
// most two.
func NewLimiter(n int) *Limiter {
	if n <= 0 {
		n = min(2, runtime.NumCPU())
	}
	return &Limiter{plans: make(chan struct{}, n)}
}

// enter waits for a place. The caller calls leave when done.
func enter(ctx context.Context, places chan struct{}) (leave func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
