package notify

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A fakeMirror is a Mirror that records its calls.
type fakeMirror struct {
	every time.Duration
	// answer returns the result of the nth call, from 1. If it is nil, every call
	// succeeds.
	answer func(ctx context.Context, n int) error

	mu    sync.Mutex
	calls []mirrorCall
}

// A mirrorCall is a call to a fakeMirror.
type mirrorCall struct {
	At  time.Duration
	IDs string
}

func (s *fakeMirror) Every() time.Duration { return s.every }

func (s *fakeMirror) Show(ctx context.Context, open []model.Finding) error {
	ids := make([]string, len(open))
	for i := range open {
		ids[i] = open[i].ID
	}
	s.mu.Lock()
	s.calls = append(s.calls, mirrorCall{time.Since(bubbleStart()), strings.Join(ids, " ")})
	n := len(s.calls)
	s.mu.Unlock()
	if s.answer == nil {
		return nil
	}
	return s.answer(ctx, n)
}

func (s *fakeMirror) all() []mirrorCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]mirrorCall(nil), s.calls...)
}

// findings returns findings with the given IDs.
func findings(ids ...string) (list []model.Finding) {
	for _, id := range ids {
		list = append(list, model.Finding{ID: id})
	}
	return list
}

func TestMirror(t *testing.T) {
	t.Parallel()
	fails := func(err error, times int) func(context.Context, int) error {
		return func(_ context.Context, n int) error {
			if n <= times {
				return err
			}
			return nil
		}
	}
	twice := func(d *Dispatcher) {
		d.Show("m", findings("f1"))
		time.Sleep(1500 * time.Millisecond)
		d.Show("m", findings("f2"))
		d.Show("m", findings("f3"))
	}
	tests := map[string]struct {
		reason string
		every  time.Duration
		answer func(context.Context, int) error
		// do calls the Dispatcher. Afterwards, the test waits for span, or for a minute.
		do   func(*Dispatcher)
		span time.Duration
		want []mirrorCall
	}{
		"no findings set": {
			reason: "nothing is shown before the first call of Show: an empty list means that nothing is open",
			every:  10 * time.Second,
			do:     func(d *Dispatcher) { d.Wake() },
		},
		"nothing open": {
			reason: "an empty list is shown",
			every:  time.Hour,
			do:     func(d *Dispatcher) { d.Show("m", nil) },
			want:   []mirrorCall{{}},
		},
		"no change": {
			reason: "unchanged findings are shown at the interval",
			every:  25 * time.Second,
			do:     func(d *Dispatcher) { d.Show("m", findings("f1", "f2")) },
			want:   []mirrorCall{{0, "f1 f2"}, {25e9, "f1 f2"}, {50e9, "f1 f2"}},
		},
		"a change": {
			reason: "a change is shown immediately, and restarts the interval",
			every:  25 * time.Second,
			do: func(d *Dispatcher) {
				d.Show("m", findings("f1"))
				time.Sleep(20 * time.Second)
				d.Show("m", findings("f2"))
			},
			want: []mirrorCall{{0, "f1"}, {20e9, "f2"}, {45e9, "f2"}, {70e9, "f2"}},
		},
		"many changes": {
			reason: "of the changes during a call only the newest is shown",
			every:  time.Hour,
			answer: func(context.Context, int) error { time.Sleep(10 * time.Second); return nil },
			do: func(d *Dispatcher) {
				for i := range 100 {
					d.Show("m", findings(fmt.Sprint("f", i)))
					time.Sleep(time.Millisecond)
				}
			},
			want: []mirrorCall{{0, "f0"}, {10e9, "f99"}},
		},
		"down": {
			reason: "after an error the newest findings are shown, and a change does not shorten the pause",
			every:  time.Hour,
			answer: fails(errors.New("down"), 2),
			do:     twice,
			want:   []mirrorCall{{0, "f1"}, {1e9, "f1"}, {3e9, "f3"}},
		},
		"down for long": {
			reason: "no pause is longer than the interval",
			every:  3 * time.Second,
			answer: fails(errors.New("down"), 5),
			do:     func(d *Dispatcher) { d.Show("m", nil) },
			span:   16 * time.Second,
			want:   []mirrorCall{{0, ""}, {1e9, ""}, {3e9, ""}, {6e9, ""}, {9e9, ""}, {12e9, ""}, {15e9, ""}},
		},
		"later": {
			reason: "the pause of a Later is exact",
			every:  time.Hour,
			answer: fails(&Later{After: 40 * time.Second, Err: errors.New("busy")}, 1),
			do:     twice,
			want:   []mirrorCall{{0, "f1"}, {40e9, "f3"}},
		},
		"refused": {
			reason: "refused findings are shown again after the interval or after a change",
			every:  20 * time.Second,
			answer: fails(Refused(errors.New("bad label")), 2),
			do:     twice,
			span:   50 * time.Second,
			want:   []mirrorCall{{0, "f1"}, {1500e6, "f3"}, {21500e6, "f3"}, {41500e6, "f3"}},
		},
		"permanent": {
			reason: "a mirror is not stopped: each call shows all findings",
			every:  time.Hour,
			answer: fails(Permanent(errors.New("gone")), 1),
			do:     twice,
			want:   []mirrorCall{{0, "f1"}, {1e9, "f1"}, {1500e6, "f3"}},
		},
		"hanging": {
			reason: "a call has a timeout",
			every:  time.Hour,
			answer: func(ctx context.Context, n int) error {
				if n == 1 {
					<-ctx.Done()
				}
				return ctx.Err()
			},
			do:   twice,
			want: []mirrorCall{{0, "f1"}, {31e9, "f3"}},
		},
		"too often": {
			reason: "the interval is at least minEvery",
			do:     func(d *Dispatcher) { d.Show("m", nil) },
			span:   2500 * time.Millisecond,
			want:   []mirrorCall{{0, ""}, {1e9, ""}, {2e9, ""}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeMirror{every: test.every, answer: test.answer}
				d, stop := startDispatcher(t, options(&memoryOutbox{}, Opened{Name: "m", Receiver: Receiver{Mirror: m}}))
				test.do(d)
				time.Sleep(cmp.Or(test.span, time.Minute))
				stop()
				assertEqual(t, test.reason, m.all(), test.want)
			})
		})
	}
}

// TestPartial checks that a Partial error counts as delivered and is part of the status.
func TestPartial(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want model.ReceiverStatus
	}{
		"some": {Partial(errors.New("one is down")), model.ReceiverStatus{Name: "m", Delivered: bubbleStart(), Error: "one is down"}},
		"none": {errors.New("both are down"), model.ReceiverStatus{Name: "m", Error: "both are down"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &fakeMirror{every: time.Hour, answer: func(context.Context, int) error { return test.err }}
				d, _ := startDispatcher(t, options(&memoryOutbox{}, Opened{Name: "m", Receiver: Receiver{Mirror: m}}))
				d.Show("m", nil)
				synctest.Wait()
				assertEqual(t, "status", status(t, d)[0], test.want)
			})
		})
	}
}

// A fakeListener is a Listener that makes one request in each call.
type fakeListener struct {
	// ends returns the result of the nth call, from 1.
	ends func(ctx context.Context, n int) error

	mu     sync.Mutex
	starts []time.Duration
}

// A deciding is a Handler that only makes decisions.
type deciding struct {
	Handler
	decide func(Request)
}

func (d deciding) Decide(_ context.Context, r Request) (string, error) {
	d.decide(r)
	return "", nil
}

func (a *fakeListener) Listen(ctx context.Context, handler Handler) error {
	a.mu.Lock()
	a.starts = append(a.starts, time.Since(bubbleStart()))
	n := len(a.starts)
	a.mu.Unlock()
	if _, err := handler.Decide(ctx, Request{Thread: fmt.Sprint(n)}); err != nil {
		return err
	}
	return a.ends(ctx, n)
}

func TestListener(t *testing.T) {
	t.Parallel()
	const hour = time.Hour
	untilEnd := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	tests := map[string]struct {
		reason string
		ends   func(ctx context.Context, n int) error
		starts []time.Duration
		// problem is the error in Status after two seconds, and later the one after an
		// hour.
		problem, later string
	}{
		"good": {
			reason: "a running listener is not restarted",
			ends:   func(ctx context.Context, _ int) error { return untilEnd(ctx) },
			starts: []time.Duration{0},
		},
		"ends": {
			reason: "a listener that ends is restarted after pauses",
			ends: func(ctx context.Context, n int) error {
				if n > 3 {
					return untilEnd(ctx)
				}
				return nil
			},
			starts:  []time.Duration{0, 1e9, 3e9, 7e9},
			problem: "listen for requests: connection ended without an error",
		},
		"ends after long": {
			reason: "pauses are short again after a listener ran for listenerRecovered",
			ends: func(_ context.Context, n int) error {
				if n > 3 {
					time.Sleep(29 * time.Minute)
				}
				return errors.New("lost")
			},
			starts:  []time.Duration{0, 1e9, 3e9, 7e9, 7e9 + 29*60e9 + 1e9, 7e9 + 58*60e9 + 2e9},
			problem: "listen for requests: lost",
		},
		"panics": {
			reason: "a panic is an error",
			ends: func(ctx context.Context, n int) error {
				if n > 1 {
					return untilEnd(ctx)
				}
				panic("index out of range")
			},
			starts:  []time.Duration{0, 1e9},
			problem: "panic: index out of range: this is a bug in driftd, please report it with the stack in the log",
		},
		"permanent": {
			reason: "messages are sent although the listener is stopped",
			ends: func(context.Context, int) error {
				return Permanent(errors.New("the app token is revoked"))
			},
			starts:  []time.Duration{0},
			problem: "listen for requests: the app token is revoked",
			later:   "listen for requests: the app token is revoked",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b, w, f, requests := &memoryOutbox{}, &deliveryCounter{}, &fake{}, 0
				listener := &fakeListener{ends: test.ends}
				o := options(b, Opened{Name: "a", Receiver: Receiver{Notifier: f, Listener: listener}})
				o.Watcher = w
				var log bytes.Buffer
				o.Log = slog.New(slog.NewTextHandler(&log, nil))
				o.Handler = deciding{decide: func(Request) { requests++ }}
				d, stop := startDispatcher(t, o)
				time.Sleep(2 * time.Second)
				assertEqual(t, "problem", status(t, d)[0].Error, test.problem)
				time.Sleep(hour - 2*time.Second)
				assertEqual(t, "problem later", status(t, d)[0].Error, test.later)
				b.enqueue("a", "1")
				d.Wake()
				synctest.Wait()
				assertEqual(t, "messages sent", f.delivered(), []string{"1"})
				assertEqual(t, "stopped", status(t, d)[0].Stopped, name == "permanent")
				stop()
				assertEqual(t, test.reason, listener.starts, test.starts)
				assertEqual(t, "requests", requests, len(test.starts))
				assertEqual(t, "failed deliveries", w.Failed, nil)
				assertEqual(t, "the stopped listener is logged", strings.Contains(log.String(), "listener stopped until driftd is reloaded or restarted"), name == "permanent")
				assertEqual(t, "a stopped receiver is logged", strings.Contains(log.String(), "receiver stopped"), false)
			})
		})
	}
}
