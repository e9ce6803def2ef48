// Package await bounds the duration of calls, including calls of functions that take no context.
package await

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/conc/panics"
)

// Within calls f with a context that expires after the timeout, and returns the result of f. If f fails
// after the context expired, the error includes the timeout.
func Within[T any](ctx context.Context, timeout time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	value, err := f(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%w (timeout is %s)", err, timeout)
	}
	return value, err
}

// Half returns a context with half of the remaining time of ctx.
func Half(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}

// Call calls f in a new goroutine and returns its result. If f panics, Call panics with the same value. If
// ctx ends first, Call returns its error, while f continues in the background and its result is dropped.
// Therefore f must end by itself.
func Call[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	var caught panics.Catcher
	go func() {
		var o outcome
		caught.Try(func() { o.value, o.err = f() })
		done <- o
	}()
	select {
	case o := <-done:
		caught.Repanic()
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
