package plan

import (
	"context"
	"runtime"
)

// A Limiter bounds the concurrent plans of a process, over all roots. Each plan uses one or two
// cores and some hundred megabytes.
type Limiter struct {
	plans chan struct{}
}

// NewLimiter returns a Limiter of n plans. If n is 0, the limit is the number of cores, at most two.
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
