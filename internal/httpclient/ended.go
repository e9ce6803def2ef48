package httpclient

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"
)

// Because returns the cause of the end of the context in place of an error that follows
// it, and any other error as it is.
func Because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Within returns a context for one request, which ends after limit, and after half of the
// time that is left, so that a request that hangs leaves time for others. The cause of its
// end is a *Timeout.
func Within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	late := &Timeout{After: limit}
	if end, ok := ctx.Deadline(); ok {
		if left := max(0, time.Until(end)/2); left < limit {
			late = &Timeout{After: left, Look: true}
		}
	}
	return context.WithTimeoutCause(ctx, late.After, late)
}

// Turn waits for the limiter, which may be nil. It returns the error of the context if that
// ends first.
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
