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

// TestReload ends a Dispatcher while a receiver is at work, and starts another
// over the same outbox.
func TestReload(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		answer func(ctx context.Context) error
		// want are all tries, of both Dispatchers; ended is when the first
		// one had ended.
		want  []try
		ended time.Duration
		bad   map[string]int
	}{
		"quick enough": {
			reason: "a call under way may finish, for it cannot always be asked whether it arrived",
			answer: func(context.Context) error { time.Sleep(12 * time.Second); return nil },
			want:   []try{{Key: "1"}, {Key: "2", At: 12 * time.Second}},
			ended:  12 * time.Second,
		},
		"broken off": {
			reason: "one that takes long is broken off, and the next knows that it was begun",
			answer: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			want:   []try{{Key: "1", Failed: true}, {Key: "1", Begun: true, At: 13 * time.Second}, {Key: "2", At: 13 * time.Second}},
			ended:  13 * time.Second,
		},
		"arrived all the same": {
			reason: "what arrived although the call was broken off counts as delivered",
			answer: func(ctx context.Context) error { <-ctx.Done(); return nil },
			want:   []try{{Key: "1"}, {Key: "2", At: 13 * time.Second}},
			ended:  13 * time.Second,
		},
		"refused at the end": {
			reason: "a refusal counts too",
			answer: func(ctx context.Context) error { <-ctx.Done(); return Refused(errors.New("too long")) },
			want:   []try{{Key: "1", Failed: true}, {Key: "2", At: 13 * time.Second}},
			ended:  13 * time.Second,
			bad:    map[string]int{"a": 1},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, w := &box{}, &counts{}
				f := &fake{answer: func(ctx context.Context, n int, _ model.OutboxEntry) (string, error) {
					if n == 1 {
						return "", test.answer(ctx)
					}
					return "", nil
				}}
				b.put("a", "1", "2")
				o := options(b, notifiers(f)...)
				o.Watcher = w
				_, stop := running(t, o)
				time.Sleep(10 * time.Second)
				stop()
				same(t, "time of the end", time.Since(bubbleStart()), test.ended)
				same(t, "tries before", len(f.all()), 1)
				same(t, "what was broken off is no error", w.Bad, test.bad)
				running(t, options(b, notifiers(f)...))
				if diff := cmp.Diff(test.want, f.all()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
			})
		})
	}
}
