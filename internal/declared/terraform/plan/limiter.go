package plan

import (
	"context"
	"runtime"
)

// A Limiter bounds how many plans run at once, over all roots of a process.
// Each of them takes a core or two and some hundred megabytes.
type Limiter struct {
	plans chan struct{}
}

// NewLimiter returns a Limiter of n plans, or for 0 of one plan a core and two
// at most.
func NewLimiter(n int) *Limiter {
	if n <= 0 {
		n = min(2, runtime.NumCPU())
	}
	return &Limiter{plans: make(chan struct{}, n)}
}

// enter waits for a place; the caller calls leave when done.
func enter(ctx context.Context, places chan struct{}) (leave func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
