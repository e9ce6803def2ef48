package await_test

import (
	"context"
	"errors"
	"testing"

	"github.com/driftd/driftd/internal/declared/await"
)

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
