package notify

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestReload stops a Dispatcher during a delivery, and starts another one with the same
// outbox.
func TestReload(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		answer func(ctx context.Context) error
		// want are the attempts of both Dispatchers. ended is the time at which the first
		// one has ended. failed is its number of failed deliveries.
		want   []attempt
		ended  time.Duration
		failed map[string]int
	}{
		"within the grace period": {
			reason: "a delivery in progress may finish, because not every receiver can be queried for the message",
			answer: func(context.Context) error { time.Sleep(12 * time.Second); return nil },
			want:   []attempt{{Key: "1"}, {Key: "2", At: 12 * time.Second}},
			ended:  12 * time.Second,
		},
		"cancelled": {
			reason: "a delivery is cancelled after the grace period, and repeated with Begun set",
			answer: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			want:   []attempt{{Key: "1", Failed: true}, {Key: "1", Begun: true, At: 13 * time.Second}, {Key: "2", At: 13 * time.Second}},
			ended:  13 * time.Second,
		},
		"delivered at the end": {
			reason: "a success after the cancellation counts",
			answer: func(ctx context.Context) error { <-ctx.Done(); return nil },
			want:   []attempt{{Key: "1"}, {Key: "2", At: 13 * time.Second}},
			ended:  13 * time.Second,
		},
		"refused at the end": {
			reason: "a refusal after the cancellation counts",
			answer: func(ctx context.Context) error { <-ctx.Done(); return Refused(errors.New("too long")) },
			want:   []attempt{{Key: "1", Failed: true}, {Key: "2", At: 13 * time.Second}},
			ended:  13 * time.Second,
			failed: map[string]int{"a": 1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, w := &memoryOutbox{}, &deliveryCounter{}
				f := &fake{answer: func(ctx context.Context, n int, _ model.OutboxEntry) (string, error) {
					if n == 1 {
						return "", test.answer(ctx)
					}
					return "", nil
				}}
				b.enqueue("a", "1", "2")
				o := options(b, notifiers(f)...)
				o.Watcher = w
				_, stop := startDispatcher(t, o)
				time.Sleep(10 * time.Second)
				stop()
				assertEqual(t, "end of the first Dispatcher", time.Since(bubbleStart()), test.ended)
				assertEqual(t, "attempts of the first Dispatcher", len(f.all()), 1)
				assertEqual(t, "failed deliveries", w.Failed, test.failed)
				startDispatcher(t, options(b, notifiers(f)...))
				if diff := cmp.Diff(test.want, f.all()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
			})
		})
	}
}
