package trigger_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/trigger"
)

// A recorder records the scans of a queue, with the time since the recorder began.
type recorder struct {
	began time.Time
	// takes is the duration of each scan, and err its result.
	takes time.Duration
	err   error
	busy  bool
	scans []string
}

func (w *recorder) scan(ctx context.Context, r trigger.Request) error {
	if w.busy {
		w.scans = append(w.scans, "two at once")
	}
	w.busy = true
	defer func() { w.busy = false }()
	line := fmt.Sprintf("%v %v %v", time.Since(w.began), r.Sources, r.Declarations)
	if len(r.Objects) > 0 {
		line += fmt.Sprintf(" %v", r.Objects)
	}
	w.scans = append(w.scans, line)
	select {
	case <-time.After(w.takes):
	case <-ctx.Done():
	}
	return w.err
}

// run calls use with a running queue, in a synctest bubble.
func run(t *testing.T, w *recorder, triggers []trigger.Trigger, use func(*trigger.Queue)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w.began = time.Now()
		q := trigger.NewQueue(trigger.Options{Scan: w.scan, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		q.Configure(triggers)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); q.Run(ctx) }()
		use(q)
		stop()
		<-done
	})
}

// push sends a signed request with a unique body.
func push(q *trigger.Queue, name string) error {
	return accept(q, name, fmt.Sprintf("%s %d", name, time.Now().UnixNano()))
}

func accept(q *trigger.Queue, name, body string) error {
	mac := hmac.New(sha256.New, []byte("secret"))
	mac.Write([]byte(body))
	signature := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return q.Accept(name, header("X-Hub-Signature-256", signature), strings.NewReader(body))
}

func github(name string, every time.Duration, sources, declarations []string) trigger.Trigger {
	return trigger.Trigger{Name: name, Type: "github", Secret: secret("secret"), Sources: sources, Declarations: declarations, MinInterval: every}
}

func TestBurst(t *testing.T) {
	t.Parallel()
	w := &recorder{takes: 30 * time.Second}
	run(t, w, []trigger.Trigger{github("push", 10*time.Second, []string{"prod"}, []string{"shop"})}, func(q *trigger.Queue) {
		for range 50 { // one scan at once, and one for the requests during it
			if err := push(q, "push"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Hour)
	})
	if diff := cmp.Diff([]string{"0s [prod] [shop]", "30s [prod] [shop]"}, w.scans); diff != "" {
		t.Errorf("scans (-want +got):\n%s", diff)
	}
}

func TestMinInterval(t *testing.T) {
	t.Parallel()
	w := &recorder{takes: time.Second, err: errors.New("source unreachable")}
	triggers := []trigger.Trigger{github("push", time.Minute, nil, []string{"shop"}), github("fast", 0, []string{"prod"}, nil)}
	run(t, w, triggers, func(q *trigger.Queue) {
		for range 30 {
			if err := push(q, "push"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		time.Sleep(2 * time.Second)
		if err := push(q, "fast"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
	})
	want := []string{"0s [] [shop]", "1m0s [] [shop]", "2m0s [] [shop]", "3m0s [] [shop]", "4m0s [] [shop]", "5m0s [] [shop]", "5m2s [prod] []"}
	if diff := cmp.Diff(want, w.scans); diff != "" {
		t.Errorf("scans (-want +got):\n%s", diff)
	}
}

func TestTriggersScanTogether(t *testing.T) {
	t.Parallel()
	triggers := []trigger.Trigger{
		github("first", 0, []string{"pve"}, nil), github("b", 0, []string{"prod", "edge"}, []string{"shop"}),
		github("a", 0, []string{"prod"}, []string{"shop", "infra"}), github("all", 0, nil, nil),
	}
	w := &recorder{takes: time.Minute}
	run(t, w, triggers, func(q *trigger.Queue) {
		for _, names := range [][]string{{"first"}, {"a", "b"}, {"all", "b"}} {
			for _, name := range names {
				if err := push(q, name); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			time.Sleep(59 * time.Second)
		}
		time.Sleep(time.Hour)
	})
	want := []string{"0s [pve] []", "1m0s [edge prod] [infra shop]", "2m0s [] []"}
	if diff := cmp.Diff(want, w.scans); diff != "" {
		t.Errorf("scans (-want +got):\n%s", diff)
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	w := &recorder{}
	triggers := []trigger.Trigger{github("push", 0, []string{"prod"}, nil), github("other", 0, []string{"edge"}, nil)}
	run(t, w, triggers, func(q *trigger.Queue) {
		steps := []struct {
			reason, name string
			want         error
		}{
			{"a new request", "push", nil},
			{"a replay", "push", trigger.ErrReplayed},
			{"replays are detected per trigger", "other", nil},
			{"no trigger has this name", "absent", trigger.ErrUnknown},
		}
		for _, s := range steps {
			if err := accept(q, s.name, "{}"); !errors.Is(err, s.want) {
				t.Errorf("%s: Accept() = %v, want %v", s.reason, err, s.want)
			}
			time.Sleep(time.Second)
		}
		q.Configure(triggers[:1]) // a reload keeps the replay cache
		if err := accept(q, "push", "{}"); !errors.Is(err, trigger.ErrReplayed) {
			t.Errorf("Accept() after a reload = %v", err)
		}
		if err := accept(q, "other", "new"); !errors.Is(err, trigger.ErrUnknown) {
			t.Errorf("Accept() of a removed trigger = %v", err)
		}
		time.Sleep(time.Minute)
	})
	if diff := cmp.Diff([]string{"0s [prod] []", "2s [edge] []"}, w.scans); diff != "" {
		t.Errorf("scans (-want +got):\n%s", diff)
	}
}

// TestReloadKeepsWaitingScan changes the interval of a trigger while its scan waits.
func TestReloadKeepsWaitingScan(t *testing.T) {
	t.Parallel()
	w := &recorder{}
	run(t, w, []trigger.Trigger{github("push", time.Minute, []string{"prod"}, nil), github("gone", time.Minute, nil, nil)}, func(q *trigger.Queue) {
		for range 2 {
			if err := errors.Join(push(q, "push"), push(q, "gone")); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		q.Configure([]trigger.Trigger{github("push", 10*time.Second, []string{"edge"}, nil)})
		time.Sleep(time.Hour)
	})
	if last := w.scans[len(w.scans)-1]; last != "10s [edge] []" {
		t.Errorf("scans = %q, want the last after 10 s, of edge alone", w.scans)
	}
}

func TestRunEndsDuringScan(t *testing.T) {
	t.Parallel()
	w := &recorder{takes: time.Hour}
	run(t, w, []trigger.Trigger{github("push", time.Hour, nil, nil)}, func(q *trigger.Queue) {
		if err := push(q, "push"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
	})
	if w.busy || len(w.scans) != 1 {
		t.Errorf("scans = %q, busy %t", w.scans, w.busy)
	}
}

// TestClockSetBack checks that a scan is not delayed by the hour that the clock is set back.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &recorder{began: time.Now()}
		var back time.Duration
		q := trigger.NewQueue(trigger.Options{Scan: w.scan, Log: slog.New(slog.DiscardHandler),
			Now: func() time.Time { return time.Now().Add(-back) }})
		q.Configure([]trigger.Trigger{github("push", time.Minute, nil, nil)})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); q.Run(ctx) }()
		for range 2 {
			if err := push(q, "push"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			back += time.Hour
		}
		stop()
		<-done
		if diff := cmp.Diff([]string{"0s [] []", "1s [] []"}, w.scans); diff != "" {
			t.Errorf("scans (-want +got):\n%s", diff)
		}
	})
}
