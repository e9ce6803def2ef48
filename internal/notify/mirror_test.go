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

// A showed mirror notes what it was shown.
type showed struct {
	every time.Duration
	// answer says what becomes of the nth showing, from 1; nil takes everything.
	answer func(ctx context.Context, n int) error

	mu    sync.Mutex
	views []view
}

// A view is what a mirror was shown, and when.
type view struct {
	At  time.Duration
	IDs string
}

func (s *showed) Every() time.Duration { return s.every }

func (s *showed) Show(ctx context.Context, open []model.Finding) error {
	ids := make([]string, len(open))
	for i := range open {
		ids[i] = open[i].ID
	}
	s.mu.Lock()
	s.views = append(s.views, view{time.Since(bubbleStart()), strings.Join(ids, " ")})
	n := len(s.views)
	s.mu.Unlock()
	if s.answer == nil {
		return nil
	}
	return s.answer(ctx, n)
}

func (s *showed) all() []view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]view(nil), s.views...)
}

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
		// do calls the Dispatcher. After it, span passes, or a minute.
		do   func(*Dispatcher)
		span time.Duration
		want []view
	}{
		"nothing known": {
			reason: "an empty list would say that all is well",
			every:  10 * time.Second,
			do:     func(d *Dispatcher) { d.Wake() },
		},
		"nothing open": {
			reason: "that nothing is open is worth telling too",
			every:  time.Hour,
			do:     func(d *Dispatcher) { d.Show("m", nil) },
			want:   []view{{}},
		},
		"again and again": {
			reason: "without a change it is shown every Every",
			every:  25 * time.Second,
			do:     func(d *Dispatcher) { d.Show("m", findings("f1", "f2")) },
			want:   []view{{0, "f1 f2"}, {25e9, "f1 f2"}, {50e9, "f1 f2"}},
		},
		"a change": {
			reason: "a change is shown at once, and Every starts anew",
			every:  25 * time.Second,
			do: func(d *Dispatcher) {
				d.Show("m", findings("f1"))
				time.Sleep(20 * time.Second)
				d.Show("m", findings("f2"))
			},
			want: []view{{0, "f1"}, {20e9, "f2"}, {45e9, "f2"}, {70e9, "f2"}},
		},
		"many changes": {
			reason: "while one is shown, only the newest of the others waits",
			every:  time.Hour,
			answer: func(context.Context, int) error { time.Sleep(10 * time.Second); return nil },
			do: func(d *Dispatcher) {
				for i := range 100 {
					d.Show("m", findings(fmt.Sprint("f", i)))
					time.Sleep(time.Millisecond)
				}
			},
			want: []view{{0, "f0"}, {10e9, "f99"}},
		},
		"down": {
			reason: "after an error the newest state is shown again, and a change shortens no pause",
			every:  time.Hour,
			answer: fails(errors.New("down"), 2),
			do:     twice,
			want:   []view{{0, "f1"}, {1e9, "f1"}, {3e9, "f3"}},
		},
		"down for long": {
			reason: "no pause is longer than Every",
			every:  3 * time.Second,
			answer: fails(errors.New("down"), 5),
			do:     func(d *Dispatcher) { d.Show("m", nil) },
			span:   16 * time.Second,
			want:   []view{{0, ""}, {1e9, ""}, {3e9, ""}, {6e9, ""}, {9e9, ""}, {12e9, ""}, {15e9, ""}},
		},
		"later": {
			reason: "what it asks for is kept",
			every:  time.Hour,
			answer: fails(&Later{After: 40 * time.Second, Err: errors.New("busy")}, 1),
			do:     twice,
			want:   []view{{0, "f1"}, {40e9, "f3"}},
		},
		"refused": {
			reason: "what it will not take is not shown again before it is due or something changes",
			every:  20 * time.Second,
			answer: fails(Refused(errors.New("bad label")), 2),
			do:     twice,
			span:   50 * time.Second,
			want:   []view{{0, "f1"}, {1500e6, "f3"}, {21500e6, "f3"}, {41500e6, "f3"}},
		},
		"permanent": {
			reason: "a mirror is never given up: what it is shown is whole each time",
			every:  time.Hour,
			answer: fails(Permanent(errors.New("gone")), 1),
			do:     twice,
			want:   []view{{0, "f1"}, {1e9, "f1"}, {1500e6, "f3"}},
		},
		"hanging": {
			reason: "a call has an end",
			every:  time.Hour,
			answer: func(ctx context.Context, n int) error {
				if n == 1 {
					<-ctx.Done()
				}
				return ctx.Err()
			},
			do:   twice,
			want: []view{{0, "f1"}, {31e9, "f3"}},
		},
		"too often": {
			reason: "a mirror that names no time is not shown without end",
			do:     func(d *Dispatcher) { d.Show("m", nil) },
			span:   2500 * time.Millisecond,
			want:   []view{{0, ""}, {1e9, ""}, {2e9, ""}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := &showed{every: test.every, answer: test.answer}
				d, stop := running(t, options(&box{}, Opened{Name: "m", Receiver: Receiver{Mirror: m}}))
				test.do(d)
				time.Sleep(cmp.Or(test.span, time.Minute))
				stop()
				same(t, test.reason, m.all(), test.want)
			})
		})
	}
}

// TestPartial: what one of a mirror's places took counts as delivered, and the
// error stays.
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
				m := &showed{every: time.Hour, answer: func(context.Context, int) error { return test.err }}
				d, _ := running(t, options(&box{}, Opened{Name: "m", Receiver: Receiver{Mirror: m}}))
				d.Show("m", nil)
				synctest.Wait()
				same(t, "status", status(t, d)[0], test.want)
			})
		})
	}
}

// An answerer is a Listener that ends as told.
type answerer struct {
	ends func(ctx context.Context, n int) error

	mu     sync.Mutex
	starts []time.Duration
}

func (a *answerer) Listen(ctx context.Context, decide Decide) error {
	a.mu.Lock()
	a.starts = append(a.starts, time.Since(bubbleStart()))
	n := len(a.starts)
	a.mu.Unlock()
	if _, err := decide(ctx, Request{Thread: fmt.Sprint(n)}); err != nil {
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
		// problem is what Status says after two seconds, and later after an
		// hour.
		problem, later string
	}{
		"good": {
			reason: "one that listens is left alone",
			ends:   func(ctx context.Context, _ int) error { return untilEnd(ctx) },
			starts: []time.Duration{0},
		},
		"ends": {
			reason: "one that ends is started again, after pauses",
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
			reason: "one that listened for a while begins with short pauses again",
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
			reason: "a panic ends no daemon",
			ends: func(ctx context.Context, n int) error {
				if n > 1 {
					return untilEnd(ctx)
				}
				panic("oh")
			},
			starts:  []time.Duration{0, 1e9},
			problem: "panic: oh: this is a bug in driftd, please report it with the stack in the log",
		},
		"permanent": {
			reason: "one that cannot listen does not keep messages from being sent",
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
				b, w, f, asked := &box{}, &counts{}, &fake{}, 0
				listener := &answerer{ends: test.ends}
				o := options(b, Opened{Name: "a", Receiver: Receiver{Notifier: f, Listener: listener}})
				o.Watcher = w
				var log bytes.Buffer
				o.Log = slog.New(slog.NewTextHandler(&log, nil))
				o.Decide = func(context.Context, Request) (string, error) { asked++; return "", nil }
				d, stop := running(t, o)
				time.Sleep(2 * time.Second)
				same(t, "problem", status(t, d)[0].Error, test.problem)
				time.Sleep(hour - 2*time.Second)
				same(t, "problem later", status(t, d)[0].Error, test.later)
				b.put("a", "1")
				d.Wake()
				synctest.Wait()
				same(t, "sent all the same", f.taken(), []string{"1"})
				same(t, "stopped", status(t, d)[0].Stopped, name == "permanent")
				stop()
				same(t, test.reason, listener.starts, test.starts)
				same(t, "asked", asked, len(test.starts))
				same(t, "what is no delivery is not counted", w.Bad, nil)
				same(t, "the log says what does not work", strings.Contains(log.String(), "listener stopped until driftd is reloaded or restarted"), name == "permanent")
				same(t, "the log says that nothing is sent", strings.Contains(log.String(), "receiver stopped"), false)
			})
		})
	}
}
