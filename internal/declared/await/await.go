// Package await bounds calls that take no context.
package await

import "context"

// Call returns what f returns, or ctx's error when ctx ends first. Then f ends
// by itself, later, and what it returns is dropped: f must not need anybody to
// wait for it.
func Call[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := f()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
