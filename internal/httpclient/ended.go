package httpclient

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"
)

// Because returns the cause of the end of the context instead of err if the context has ended.
// Otherwise, or if err is nil, it returns err.
func Because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Within returns a context for one request. It ends after limit, or after half of the time until
// the deadline of ctx if that is less, so that a request without a response leaves time for others.
// The cause of its end is a *Timeout.
func Within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	late := &Timeout{After: limit}
	if end, ok := ctx.Deadline(); ok {
		if left := max(0, time.Until(end)/2); left < limit {
			late = &Timeout{After: left, Look: true}
		}
	}
	return context.WithTimeoutCause(ctx, late.After, late)
}

// Turn waits until the limiter admits a request. It returns an error if the context ends first. If
// the limiter is nil, it returns immediately.
func Turn(ctx context.Context, limiter *rate.Limiter) error {
	if limiter == nil {
		return nil
	}
	if err := limiter.Wait(ctx); err != nil {
		// The limiter fails early where the turn comes after the deadline.
		<-ctx.Done()
		return errors.Join(err, ctx.Err())
	}
	return nil
}
