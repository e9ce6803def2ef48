package notify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, f, w := &memoryOutbox{}, &fake{}, &deliveryCounter{}
		f.answer = func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
			return fmt.Sprint("receipt ", n), nil
		}
		b.enqueue("a", "1", "2")
		o := options(b, notifiers(f)...)
		o.Watcher = w
		d, _ := startDispatcher(t, o)
		assertEqual(t, "messages queued at the start", f.delivered(), []string{"1", "2"})
		b.enqueue("a", "3")
		synctest.Wait()
		assertEqual(t, "messages without a wake-up", f.delivered(), []string{"1", "2"})
		time.Sleep(time.Minute)
		d.Wake()
		d.Wake()
		synctest.Wait()
		assertEqual(t, "attempts", f.all(), []attempt{{Key: "1"}, {Key: "2", Receipt: "receipt 1"}, {Key: "3", At: time.Minute}})
		assertEqual(t, "status", status(t, d), []model.ReceiverStatus{{Name: "a", Type: "fake", Delivered: bubbleStart().Add(time.Minute)}})
		assertEqual(t, "successful deliveries", w.Succeeded, map[string]int{"a": 3})
	})
}

// TestPauses checks the times at which a delivery is retried.
func TestPauses(t *testing.T) {
	t.Parallel()
	later := func(after time.Duration) error {
		return fmt.Errorf("post: %w", &Later{After: after, Err: errors.New("too many")})
	}
	doubling := []time.Duration{0, 1e9, 3e9, 7e9, 15e9, 31e9, 63e9, 127e9, 255e9, 511e9}
	for range 70 {
		doubling = append(doubling, doubling[len(doubling)-1]+5*time.Minute)
	}
	tests := map[string]struct {
		reason string
		// errs are the errors of the first attempts. All later attempts succeed.
		errs []error
		want []time.Duration
	}{
		"doubling": {
			reason: "pauses double from one second up to five minutes",
			errs:   repeat(errors.New("down"), len(doubling)-1),
			want:   doubling,
		},
		"later": {
			reason: "the pause of a Later is exact, and the next pause doubles as usual",
			errs:   []error{errors.New("down"), later(17*time.Second + time.Millisecond), errors.New("down")},
			want:   []time.Duration{0, time.Second, 18*time.Second + time.Millisecond, 22*time.Second + time.Millisecond},
		},
		"much later": {
			reason: "a pause is at most MaxLater",
			errs:   []error{later(24 * time.Hour)},
			want:   []time.Duration{0, time.Hour},
		},
		"later, without a time": {
			reason: "a pause of zero or less is ignored",
			errs:   []error{later(0), later(-time.Hour)},
			want:   []time.Duration{0, time.Second, 3 * time.Second},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := &memoryOutbox{}
				f := &fake{answer: func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
					if n <= len(test.errs) {
						return "", test.errs[n-1]
					}
					return "", nil
				}}
				b.enqueue("a", "1")
				d, _ := startDispatcher(t, options(b, notifiers(f)...))
				for range 8 * 3600 {
					d.Wake() // a wake-up does not shorten a pause
					time.Sleep(time.Second)
				}
				if diff := cmp.Diff(test.want, f.attemptTimes()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
				assertEqual(t, "delivered messages", f.delivered(), []string{"1"})
				assertEqual(t, "queued", status(t, d)[0].Queued, 0)
			})
		})
	}
}

func repeat(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}

// TestPauseResetsAfterSuccess checks that pauses are short again after a success.
func TestPauseResetsAfterSuccess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &memoryOutbox{}
		f := &fake{answer: func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
			if n == 4 {
				return "", nil
			}
			return "", errors.New("down")
		}}
		b.enqueue("a", "1", "2")
		startDispatcher(t, options(b, notifiers(f)...))
		time.Sleep(11 * time.Second)
		assertEqual(t, "attempts", f.attemptTimes(), []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 7 * time.Second, 8 * time.Second, 10 * time.Second})
	})
}

// TestBegun checks that Begun is set from the second attempt on.
func TestBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &memoryOutbox{}
		f := &fake{answer: func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
			if n < 3 {
				return "", errors.New("no answer")
			}
			return "", nil
		}}
		b.enqueue("a", "1", "2")
		startDispatcher(t, options(b, notifiers(f)...))
		time.Sleep(time.Minute)
		assertEqual(t, "attempts", f.all(), []attempt{
			{Key: "1", Failed: true},
			{Key: "1", Failed: true, Begun: true, At: time.Second},
			{Key: "1", Begun: true, At: 3 * time.Second},
			{Key: "2", At: 3 * time.Second},
		})
	})
}

func TestPermanent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w, other := &memoryOutbox{}, &deliveryCounter{}, &fake{}
		f := &fake{answer: func(context.Context, int, model.OutboxEntry) (string, error) {
			return "", fmt.Errorf("post: %w", Permanent(errors.New("token_revoked: create a new one")))
		}}
		b.enqueue("a", "1", "2")
		o := options(b, notifiers(f, other)...)
		o.Watcher = w
		d, stop := startDispatcher(t, o)
		for range 100 {
			b.enqueue("b", "x")
			d.Wake()
			time.Sleep(time.Hour)
		}
		assertEqual(t, "attempts with and without contents", len(f.all()), 2)
		assertEqual(t, "failed deliveries", w.Failed, map[string]int{"a": 1})
		assertEqual(t, "messages to the other receiver", len(other.delivered()), 100)
		assertEqual(t, "status", status(t, d)[0], model.ReceiverStatus{Name: "a", Type: "fake", Queued: 2, Oldest: bubbleStart(),
			Error: "post: token_revoked: create a new one", Stopped: true})
		if err := d.Flush(t.Context()); !errors.Is(err, ErrPermanent) || len(f.all()) != 2 {
			t.Errorf("Flush() of a stopped receiver: error %v, %d attempts", err, len(f.all()))
		}
		stop()

		fixed := &fake{}
		d, _ = startDispatcher(t, options(b, notifiers(fixed)...))
		assertEqual(t, "messages after a reload", fixed.delivered(), []string{"1", "2"})
		assertEqual(t, "stopped after a reload", status(t, d)[0].Stopped, false)
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w, log := &memoryOutbox{}, &deliveryCounter{}, &bytes.Buffer{}
		f := &fake{answer: func(_ context.Context, _ int, p model.OutboxEntry) (string, error) {
			if p.Message.Key == "2" || p.Message.Key == "4" {
				return "", Refused(errors.New("invalid_blocks"))
			}
			return "", nil
		}}
		b.enqueue("a", keyRange(1, 4)...)
		o := options(b, notifiers(f)...)
		o.Watcher, o.Log = w, slog.New(slog.NewTextHandler(log, nil))
		d, stop := startDispatcher(t, o)
		assertEqual(t, "delivered messages", f.delivered(), []string{"1", "3"})
		assertEqual(t, "attempts without a pause", f.attemptTimes(), make([]time.Duration, 6))
		assertEqual(t, "successful deliveries", w.Succeeded, map[string]int{"a": 2})
		assertEqual(t, "failed deliveries", w.Failed, map[string]int{"a": 2})
		assertEqual(t, "status", status(t, d), []model.ReceiverStatus{{Name: "a", Type: "fake", Delivered: bubbleStart(), Error: "drop message 4: invalid_blocks"}})
		stop()
		if !strings.Contains(log.String(), "drop message 2: invalid_blocks") {
			t.Errorf("the log does not name the dropped message:\n%s", log)
		}
	})
}

func TestPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, other := &memoryOutbox{}, &fake{}
		f := &fake{answer: func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
			if n < 3 {
				panic("index out of range")
			}
			return "", nil
		}}
		b.enqueue("a", "1")
		b.enqueue("b", "1")
		d, _ := startDispatcher(t, options(b, notifiers(f, other)...))
		assertEqual(t, "messages to the other receiver", other.delivered(), []string{"1"})
		if got := status(t, d)[0]; !strings.HasPrefix(got.Error, "panic: index out of range: ") || got.Stopped || got.Queued != 1 {
			t.Errorf("status after a panic: %+v", got)
		}
		time.Sleep(time.Minute)
		assertEqual(t, "delivered messages at the end", f.delivered(), []string{"1"})
		assertEqual(t, "error at the end", status(t, d)[0].Error, "")
	})
}

// TestReceiverWithoutResponse checks that a delivery without a response ends after
// callTimeout, and does not delay other receivers.
func TestReceiverWithoutResponse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, other := &memoryOutbox{}, &fake{}
		f := &fake{answer: func(ctx context.Context, n int, _ model.OutboxEntry) (string, error) {
			if n == 1 {
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "", nil
		}}
		b.enqueue("a", "1")
		b.enqueue("b", keyRange(1, 1000)...)
		startDispatcher(t, options(b, notifiers(f, other)...))
		assertEqual(t, "messages to the other receiver", other.delivered(), keyRange(1, 1000))
		time.Sleep(time.Minute)
		assertEqual(t, "attempts", f.all(), []attempt{{Key: "1", Failed: true}, {Key: "1", Begun: true, At: callTimeout + minPause}})
	})
}

// TestOutboxErrors checks that a delivered message is not sent again if the outcome cannot
// be written to the outbox.
func TestOutboxErrors(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"next", "begin", "end", "drop"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				failures := 0
				b := &memoryOutbox{fail: func(m string) error {
					if m == method && failures < 5 {
						failures++
						return errors.New("no space left on device")
					}
					return nil
				}}
				f := &fake{answer: func(_ context.Context, _ int, p model.OutboxEntry) (string, error) {
					if p.Message.Key == "1" {
						return "", Refused(errors.New("too long"))
					}
					return "", nil
				}}
				b.enqueue("a", "1", "2", "3")
				d, _ := startDispatcher(t, options(b, notifiers(f)...))
				if got := status(t, d)[0]; !strings.Contains(got.Error, "no space left on device") {
					t.Errorf("status: %+v", got)
				}
				time.Sleep(time.Minute)
				assertEqual(t, "delivered messages", f.delivered(), []string{"2", "3"})
				assertEqual(t, "attempts", len(f.all()), 4)
				assertEqual(t, "queued", status(t, d)[0].Queued, 0)
			})
		})
	}
}

// TestClockSetBack checks that no pause depends on the system clock.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &memoryOutbox{}
		f := &fake{answer: func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
			if n%2 == 1 {
				return "", &Later{After: 2 * time.Second, Err: errors.New("too many requests")}
			}
			return "", nil
		}}
		mirror := &fakeMirror{every: time.Minute}
		o := options(b, append(notifiers(f), Opened{Name: "m", Receiver: Receiver{Mirror: mirror}})...)
		clock := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
		var mu sync.Mutex
		o.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			clock = clock.AddDate(-1, 0, 0)
			return clock
		}
		b.enqueue("a", "1", "2", "3")
		d, _ := startDispatcher(t, o)
		d.Show("m", nil)
		time.Sleep(2*time.Minute + time.Second)
		assertEqual(t, "delivered messages", f.delivered(), []string{"1", "2", "3"})
		assertEqual(t, "attempts", f.attemptTimes(), []time.Duration{0, 2e9, 2e9, 4e9, 4e9, 6e9})
		assertEqual(t, "calls of the mirror", len(mirror.all()), 3)
	})
}

func TestFlush(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, good := &memoryOutbox{}, &fake{}
		mirror := &fakeMirror{every: time.Minute}
		refusing := &fake{answer: func(_ context.Context, _ int, p model.OutboxEntry) (string, error) {
			if p.Message.Key == "1" {
				return "", Refused(errors.New("too long"))
			}
			return "", nil
		}}
		down := &fake{answer: func(context.Context, int, model.OutboxEntry) (string, error) { return "", errors.New("down") }}
		for _, name := range []string{"a", "b", "c"} {
			b.enqueue(name, "1", "2")
		}
		d := NewDispatcher(options(b, append(notifiers(down, refusing, good), Opened{Name: "m", Receiver: Receiver{Mirror: mirror}})...))
		d.Show("m", []model.Finding{{ID: "f1"}})
		d.Show("c", []model.Finding{{ID: "f1"}})
		err := d.Flush(t.Context())
		want := "deliver to a: down\ndeliver to b: drop message 1: too long"
		if err == nil || err.Error() != want {
			t.Errorf("Flush(): error %v, want %s", err, want)
		}
		assertEqual(t, "attempts of a", len(down.all()), 1)
		assertEqual(t, "messages to b", refusing.delivered(), []string{"2"})
		assertEqual(t, "messages to c", good.delivered(), []string{"1", "2"})
		assertEqual(t, "calls of the mirror", mirror.all(), []mirrorCall{{IDs: "f1"}})
		if err := d.Flush(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "deliver to a: ") {
			t.Errorf("second Flush(): error %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.Flush(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("Flush() with a cancelled context: error %v", err)
		}
	})
}

// TestOneAtATime checks that a receiver never gets two messages concurrently, also if
// Flush is called during Run.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, busy := &memoryOutbox{}, make(chan struct{}, 1)
		f := &fake{answer: func(context.Context, int, model.OutboxEntry) (string, error) {
			select {
			case busy <- struct{}{}:
			default:
				t.Error("two concurrent deliveries")
			}
			time.Sleep(time.Second)
			<-busy
			return "", nil
		}}
		b.enqueue("a", keyRange(1, 20)...)
		d, _ := startDispatcher(t, options(b, notifiers(f)...))
		if err := d.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		assertEqual(t, "delivered messages", f.delivered(), keyRange(1, 20))
	})
}

func TestMessagesForUnconfiguredReceiver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, log := &memoryOutbox{}, &bytes.Buffer{}
		b.enqueue("gone", "1", "2", "3")
		b.enqueue("a", "1")
		o := options(b, notifiers(&fake{})...)
		o.Log = slog.New(slog.NewTextHandler(log, nil))
		d, stop := startDispatcher(t, o)
		d.Wake()
		time.Sleep(time.Hour)
		stop()
		if n := strings.Count(log.String(), "not configured"); n != 1 || !strings.Contains(log.String(), "receiver=gone messages=3") {
			t.Errorf("the receiver is logged %d times, want 1:\n%s", n, log)
		}
		queues, err := b.Queues()
		if err != nil || queues["gone"].Length != 3 {
			t.Errorf("queues %v, error %v; want 3 messages for gone", queues, err)
		}
	})
}

// TestNoReceivers checks that Run without receivers returns when its context ends, and not
// before.
func TestNoReceivers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := NewDispatcher(options(&memoryOutbox{}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		time.AfterFunc(time.Minute, func() { d.Wake(); d.Show("m", nil) })
		d.Run(ctx)
		assertEqual(t, "end of Run", time.Since(bubbleStart()), time.Hour)
		assertEqual(t, "status", status(t, d), []model.ReceiverStatus{})
	})
}

func TestShortError(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"nil":      {"nil has an empty text", nil, ""},
		"lines":    {"an error is one line", errors.New("a\r\n\tb\x1b[31m\u202ec\x00"), "a b [31m c"},
		"invalid":  {"invalid UTF-8 is replaced", errors.New("a\xffb"), "a�b"},
		"long":     {"the limit is in characters", errors.New(strings.Repeat("ä", 501)), strings.Repeat("ä", 499) + "…"},
		"not long": {"a text of the maximum length is unchanged", errors.New(strings.Repeat("ä", 500)), strings.Repeat("ä", 500)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := shortError(test.err); got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}
