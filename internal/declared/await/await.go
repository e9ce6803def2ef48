// Package await bounds calls: those that take long, and those that take no
// context.
package await

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/conc/panics"
)

// Within returns what f returns, whose context ends after the timeout. An error
// says what the timeout is, where that is what ended it.
func Within[T any](ctx context.Context, timeout time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	value, err := f(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("%w (timeout is %s)", err, timeout)
	}
	return value, err
}

// Call returns what f returns, panics as f does, or ctx's error when ctx ends first. Then f ends
// by itself, later, and what it returns is dropped: f must not need anybody to
// wait for it.
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
