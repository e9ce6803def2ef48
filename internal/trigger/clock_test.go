package trigger_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/clocktest"
	"github.com/driftd/driftd/internal/trigger"
)

// TestQueueWhenTheClockJumps checks that changes of the wall clock neither delay nor add
// scans.
func TestQueueWhenTheClockJumps(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, jump := range map[string]time.Duration{"a day ahead": day, "a day back": -day, "a year ahead": 365 * day, "a year back": -365 * day} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				clock, w := clocktest.New(time.Date(2026, 3, 29, 0, 30, 0, 0, time.UTC)), &recorder{began: time.Now()}
				q := trigger.NewQueue(trigger.Options{Scan: w.scan, Now: clock.Now, Log: slog.New(slog.DiscardHandler)})
				q.Configure([]trigger.Trigger{{Name: "push", Type: "github", Secret: secret("secret"), Sources: []string{"prod"}, MinInterval: time.Minute}})
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); q.Run(ctx) }()
				for range 2 {
					if err := push(q, "push"); err != nil {
						t.Error(err)
					}
					time.Sleep(10 * time.Second)
				}
				clock.Jump(jump)
				time.Sleep(50 * time.Second)
				stop()
				<-done
				if diff := cmp.Diff([]string{"0s [prod] []", "1m0s [prod] []"}, w.scans); diff != "" {
					t.Errorf("scans (-want +got):\n%s", diff)
				}
			})
		})
	}
}
