package await_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/declared/await"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	if got, err := await.Within(t.Context(), time.Hour, func(context.Context) (int, error) { return 3, mine }); got != 3 || err.Error() != "mine" {
		t.Errorf("got %d, %v", got, err)
	}
	synctest.Test(t, func(t *testing.T) {
		_, err := await.Within(t.Context(), time.Hour, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, mine
		})
		if !errors.Is(err, mine) || err.Error() != "mine (timeout is 1h0m0s)" {
			t.Errorf("after the timeout: %v", err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := await.Within(ctx, time.Hour, func(context.Context) (int, error) { return 0, mine }); err.Error() != "mine" {
		t.Errorf("broken off: %v, which is not for the timeout", err)
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	if got, err := await.Call(t.Context(), func() (int, error) { return 3, mine }); got != 3 || !errors.Is(err, mine) {
		t.Errorf("got %d, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	release := make(chan struct{})
	ended := make(chan struct{})
	got, err := await.Call(ctx, func() (int, error) {
		defer close(ended)
		cancel()
		<-release
		return 3, nil
	})
	if got != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("got %d, %v, want the context's error", got, err)
	}
	close(release)
	<-ended
}

func TestHalf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		endless, cancel := await.Half(t.Context())
		if _, bounded := endless.Deadline(); bounded {
			t.Error("a context without a deadline has one")
		}
		if cancel(); endless.Err() == nil {
			t.Error("cancel ended nothing")
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		half, end := await.Half(ctx)
		defer end()
		if at, _ := half.Deadline(); time.Until(at) != 30*time.Minute {
			t.Errorf("the deadline is in %s, want half an hour", time.Until(at))
		}
	})
}
