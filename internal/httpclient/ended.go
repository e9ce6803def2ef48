package httpclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"
)

// An Expired is the cause of a context that ended because the time for one source or
// declaration was over.
type Expired struct {
	// The source or declaration that was being read, such as "source netbox".
	What string
	// After is the setting that bounds it.
	After time.Duration
}

// Error returns what was being read, and the bound.
func (e *Expired) Error() string { return fmt.Sprintf("%s: no answer within %s", e.What, e.After) }

// Is reports whether target is context.DeadlineExceeded.
func (e *Expired) Is(target error) bool { return target == context.DeadlineExceeded }

// Because returns the cause of the end of the context in place of an error that follows
// it, and any other error as it is.
func Because(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Ended returns the reason for a part of a source that was not read because its context
// ended, with the setting that bounds it; "" for any other error.
func Ended(err error) string {
	var (
		late *Expired
		slow *Timeout
	)
	switch {
	case errors.As(err, &late):
		return fmt.Sprintf("timed out after %s: raise timeout of the source", late.After)
	case errors.As(err, &slow) && slow.Look:
		return "timed out before the end of the scan: raise timeout of the source"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "the scan ended before it was read"
	}
	return ""
}

// Void reports whether the result of a scan is void: its context was cancelled, or its time
// was over before anything was read. Otherwise the parts that were read count.
func Void(ctx context.Context, read bool) bool {
	return ctx.Err() != nil && !(read && errors.Is(ctx.Err(), context.DeadlineExceeded))
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
