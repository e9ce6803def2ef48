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
		b, f, w := &box{}, &fake{}, &counts{}
		f.answer = func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
			return fmt.Sprint("receipt ", n), nil
		}
		b.put("a", "1", "2")
		o := options(b, notifiers(f)...)
		o.Watcher = w
		d, _ := running(t, o)
		same(t, "what waited at the start", f.taken(), []string{"1", "2"})
		b.put("a", "3")
		synctest.Wait()
		same(t, "what came without a word", f.taken(), []string{"1", "2"})
		time.Sleep(time.Minute)
		d.Wake()
		d.Wake()
		synctest.Wait()
		same(t, "tries", f.all(), []try{{Key: "1"}, {Key: "2", Receipt: "receipt 1"}, {Key: "3", At: time.Minute}})
		same(t, "status", status(t, d), []model.ReceiverStatus{{Name: "a", Type: "fake", Delivered: bubbleStart().Add(time.Minute)}})
		same(t, "good", w.Good, map[string]int{"a": 3})
	})
}

// TestPauses sees when a receiver is tried again.
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
		// errs are those of the first tries; all later ones succeed.
		errs []error
		want []time.Duration
	}{
		"doubling": {
			reason: "pauses double from a second to five minutes",
			errs:   repeat(errors.New("down"), len(doubling)-1),
			want:   doubling,
		},
		"later": {
			reason: "what the receiver asks for is kept to the millisecond, and does not count as the next pause",
			errs:   []error{errors.New("down"), later(17*time.Second + time.Millisecond), errors.New("down")},
			want:   []time.Duration{0, time.Second, 18*time.Second + time.Millisecond, 22*time.Second + time.Millisecond},
		},
		"much later": {
			reason: "no receiver may ask for more than an hour",
			errs:   []error{later(24 * time.Hour)},
			want:   []time.Duration{0, time.Hour},
		},
		"later, without a time": {
			reason: "a time that makes no sense is none",
			errs:   []error{later(0), later(-time.Hour)},
			want:   []time.Duration{0, time.Second, 3 * time.Second},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := &box{}
				f := &fake{answer: func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
					if n <= len(test.errs) {
						return "", test.errs[n-1]
					}
					return "", nil
				}}
				b.put("a", "1")
				d, _ := running(t, options(b, notifiers(f)...))
				for range 8 * 3600 {
					d.Wake() // what comes in meanwhile shortens no pause
					time.Sleep(time.Second)
				}
				if diff := cmp.Diff(test.want, f.times()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
				same(t, "taken", f.taken(), []string{"1"})
				same(t, "queued", status(t, d)[0].Queued, 0)
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

// TestPauseStartsAnew sees that a success forgets the failures before it.
func TestPauseStartsAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &box{}
		f := &fake{answer: func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
			if n == 4 {
				return "", nil
			}
			return "", errors.New("down")
		}}
		b.put("a", "1", "2")
		running(t, options(b, notifiers(f)...))
		time.Sleep(11 * time.Second)
		same(t, "tries", f.times(), []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 7 * time.Second, 8 * time.Second, 10 * time.Second})
	})
}

// TestBegun sees that from the second try on a receiver knows that the message
// may be there.
func TestBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &box{}
		f := &fake{answer: func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
			if n < 3 {
				return "", errors.New("no answer")
			}
			return "", nil
		}}
		b.put("a", "1", "2")
		running(t, options(b, notifiers(f)...))
		time.Sleep(time.Minute)
		same(t, "tries", f.all(), []try{
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
		b, w, other := &box{}, &counts{}, &fake{}
		f := &fake{answer: func(context.Context, int, model.OutboxEntry) (string, error) {
			return "", fmt.Errorf("post: %w", Permanent(errors.New("token_revoked: make a new one")))
		}}
		b.put("a", "1", "2")
		o := options(b, notifiers(f, other)...)
		o.Watcher = w
		d, stop := running(t, o)
		for range 100 {
			b.put("b", "x")
			d.Wake()
			time.Sleep(time.Hour)
		}
		same(t, "tries", len(f.all()), 1)
		same(t, "bad", w.Bad, map[string]int{"a": 1})
		same(t, "others go on", len(other.taken()), 100)
		same(t, "status", status(t, d)[0], model.ReceiverStatus{Name: "a", Type: "fake", Queued: 2, Oldest: bubbleStart(),
			Error: "post: token_revoked: make a new one", Stopped: true})
		if err := d.Flush(t.Context()); !errors.Is(err, ErrPermanent) || len(f.all()) != 1 {
			t.Errorf("flush tried a receiver that is stopped: %v, %d tries", err, len(f.all()))
		}
		stop()

		mended := &fake{}
		d, _ = running(t, options(b, notifiers(mended)...))
		same(t, "after a reload", mended.taken(), []string{"1", "2"})
		same(t, "stopped after a reload", status(t, d)[0].Stopped, false)
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, w, log := &box{}, &counts{}, &bytes.Buffer{}
		f := &fake{answer: func(_ context.Context, _ int, p model.OutboxEntry) (string, error) {
			if p.Message.Key == "2" || p.Message.Key == "4" {
				return "", Refused(errors.New("invalid_blocks"))
			}
			return "", nil
		}}
		b.put("a", numbers(1, 4)...)
		o := options(b, notifiers(f)...)
		o.Watcher, o.Log = w, slog.New(slog.NewTextHandler(log, nil))
		d, stop := running(t, o)
		same(t, "taken", f.taken(), []string{"1", "3"})
		same(t, "all at once", f.times(), make([]time.Duration, 4))
		same(t, "good", w.Good, map[string]int{"a": 2})
		same(t, "bad", w.Bad, map[string]int{"a": 2})
		same(t, "status", status(t, d), []model.ReceiverStatus{{Name: "a", Type: "fake", Delivered: bubbleStart(), Error: "drop message 4: invalid_blocks"}})
		stop()
		if !strings.Contains(log.String(), "drop message 2: invalid_blocks") {
			t.Errorf("the log does not name what was dropped:\n%s", log)
		}
	})
}

func TestPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, other := &box{}, &fake{}
		f := &fake{answer: func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
			if n < 3 {
				panic("my own mistake")
			}
			return "", nil
		}}
		b.put("a", "1")
		b.put("b", "1")
		d, _ := running(t, options(b, notifiers(f, other)...))
		same(t, "the other", other.taken(), []string{"1"})
		if got := status(t, d)[0]; !strings.HasPrefix(got.Error, "panic: my own mistake: ") || got.Stopped || got.Queued != 1 {
			t.Errorf("status after a panic: %+v", got)
		}
		time.Sleep(time.Minute)
		same(t, "taken in the end", f.taken(), []string{"1"})
		same(t, "error in the end", status(t, d)[0].Error, "")
	})
}

// TestHanging sees that a receiver that does not answer is left after a while,
// and that nobody waits with it.
func TestHanging(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, other := &box{}, &fake{}
		f := &fake{answer: func(ctx context.Context, n int, _ model.OutboxEntry) (string, error) {
			if n == 1 {
				<-ctx.Done()
				return "", ctx.Err()
			}
			return "", nil
		}}
		b.put("a", "1")
		b.put("b", numbers(1, 1000)...)
		running(t, options(b, notifiers(f, other)...))
		same(t, "the other has all", other.taken(), numbers(1, 1000))
		time.Sleep(time.Minute)
		same(t, "tries", f.all(), []try{{Key: "1", Failed: true}, {Key: "1", Begun: true, At: callTimeout + minPause}})
	})
}

// TestUnwritableOutbox sees that a message that arrived is not sent again when
// that cannot be noted.
func TestUnwritableOutbox(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"next", "begin", "end", "drop"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				failures := 0
				b := &box{fail: func(m string) error {
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
				b.put("a", "1", "2", "3")
				d, _ := running(t, options(b, notifiers(f)...))
				if got := status(t, d)[0]; !strings.Contains(got.Error, "no space left on device") {
					t.Errorf("status: %+v", got)
				}
				time.Sleep(time.Minute)
				same(t, "taken", f.taken(), []string{"2", "3"})
				same(t, "tries", len(f.all()), 3)
				same(t, "queued", status(t, d)[0].Queued, 0)
			})
		})
	}
}

// TestClockSetBack sees that nothing waits by the time of day.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &box{}
		f := &fake{answer: func(_ context.Context, n int, _ model.OutboxEntry) (string, error) {
			if n%2 == 1 {
				return "", &Later{After: 2 * time.Second, Err: errors.New("slowly")}
			}
			return "", nil
		}}
		mirror := &showed{every: time.Minute}
		o := options(b, append(notifiers(f), Opened{Name: "m", Receiver: Receiver{Mirror: mirror}})...)
		clock := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
		var mu sync.Mutex
		o.Now = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			clock = clock.AddDate(-1, 0, 0)
			return clock
		}
		b.put("a", "1", "2", "3")
		d, _ := running(t, o)
		d.Show("m", nil)
		time.Sleep(2*time.Minute + time.Second)
		same(t, "taken", f.taken(), []string{"1", "2", "3"})
		same(t, "tries", f.times(), []time.Duration{0, 2e9, 2e9, 4e9, 4e9, 6e9})
		same(t, "shown", len(mirror.all()), 3)
	})
}

func TestFlush(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, good := &box{}, &fake{}
		mirror := &showed{every: time.Minute}
		picky := &fake{answer: func(_ context.Context, _ int, p model.OutboxEntry) (string, error) {
			if p.Message.Key == "1" {
				return "", Refused(errors.New("too long"))
			}
			return "", nil
		}}
		down := &fake{answer: func(context.Context, int, model.OutboxEntry) (string, error) { return "", errors.New("down") }}
		for _, name := range []string{"a", "b", "c"} {
			b.put(name, "1", "2")
		}
		d := NewDispatcher(options(b, append(notifiers(down, picky, good), Opened{Name: "m", Receiver: Receiver{Mirror: mirror}})...))
		d.Show("m", []model.Finding{{ID: "f1"}})
		d.Show("c", []model.Finding{{ID: "f1"}})
		err := d.Flush(t.Context())
		want := "deliver to a: down\ndeliver to b: drop message 1: too long"
		if err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
		same(t, "tries of the one that is down", len(down.all()), 1)
		same(t, "taken by the picky one", picky.taken(), []string{"2"})
		same(t, "taken by the good one", good.taken(), []string{"1", "2"})
		same(t, "shown", mirror.all(), []view{{IDs: "f1"}})
		if err := d.Flush(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "deliver to a: ") {
			t.Errorf("second flush: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := d.Flush(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("flush after the end: %v", err)
		}
	})
}

// TestOneAtATime sees that a receiver never has two messages in hand, even when
// somebody flushes beside Run.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, busy := &box{}, make(chan struct{}, 1)
		f := &fake{answer: func(context.Context, int, model.OutboxEntry) (string, error) {
			select {
			case busy <- struct{}{}:
			default:
				t.Error("two at a time")
			}
			time.Sleep(time.Second)
			<-busy
			return "", nil
		}}
		b.put("a", numbers(1, 20)...)
		d, _ := running(t, options(b, notifiers(f)...))
		if err := d.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		same(t, "taken", f.taken(), numbers(1, 20))
	})
}

func TestUnclaimedMessages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, log := &box{}, &bytes.Buffer{}
		b.put("gone", "1", "2", "3")
		b.put("a", "1")
		o := options(b, notifiers(&fake{})...)
		o.Log = slog.New(slog.NewTextHandler(log, nil))
		d, stop := running(t, o)
		d.Wake()
		time.Sleep(time.Hour)
		stop()
		if n := strings.Count(log.String(), "not configured"); n != 1 || !strings.Contains(log.String(), "receiver=gone messages=3") {
			t.Errorf("said %d times:\n%s", n, log)
		}
		queues, err := b.Queues()
		if err != nil || queues["gone"].Length != 3 {
			t.Errorf("what waits: %v, %v", queues, err)
		}
	})
}

// TestNoReceivers sees that Run lasts until its end even when there is nothing
// to do.
func TestNoReceivers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := NewDispatcher(options(&box{}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		time.AfterFunc(time.Minute, func() { d.Wake(); d.Show("m", nil) })
		d.Run(ctx)
		same(t, "end", time.Since(bubbleStart()), time.Hour)
		same(t, "status", status(t, d), []model.ReceiverStatus{})
	})
}

func TestBrief(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"nil":      {"no error is no text", nil, ""},
		"lines":    {"an error is one line", errors.New("a\r\n\tb\x1b[31m\u202ec\x00"), "a b [31m c"},
		"invalid":  {"bytes that are no text are replaced", errors.New("a\xffb"), "a�b"},
		"long":     {"it is bounded in characters", errors.New(strings.Repeat("ä", 501)), strings.Repeat("ä", 499) + "…"},
		"not long": {"what fits stays", errors.New(strings.Repeat("ä", 500)), strings.Repeat("ä", 500)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := brief(test.err); got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}
