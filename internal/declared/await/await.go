// Package await bounds the duration of calls, also of those without a context.
package await

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/conc/panics"
)

// Within calls f with a context that ends after the timeout, and returns its result. An error
// includes the timeout if the timeout caused it.
func Within[T any](ctx context.Context, timeout time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	value, err := f(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%w (timeout is %s)", err, timeout)
	}
	return value, err
}

// Call calls f and returns its result, panics if f does, or returns ctx's error if ctx ends
// first. In that case f continues in the background and its result is dropped, so f must end
// by itself.
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
