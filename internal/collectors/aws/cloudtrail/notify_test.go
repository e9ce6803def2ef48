package cloudtrail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// A polled is a source with a queue, in a bubble. Scans of it take some time, and read the queue at
// their end.
type polled struct {
	*copies

	// mu is held by the goroutine that runs: sleep releases it.
	mu     sync.Mutex
	reader *Reader
	began  time.Time
	log    bytes.Buffer
	// takes is how long a scan takes. broken reports whether scans fail before they read the queue.
	takes  time.Duration
	broken bool
	busy   bool
	// scans are the times at which scans began, after the start.
	scans []string
	// wrong is added to the number of messages. err is the error of polls, hang keeps them without
	// an answer, and answer replaces the answer.
	wrong  int
	err    error
	hang   bool
	answer string
	// polls are the times of polls, opened and closed count connections.
	polls          []string
	opened, closed int
}

// runPolled runs Notify during a test, and fails if it does not return at the end.
func runPolled(t *testing.T, interval time.Duration, test func(p *polled)) *polled {
	t.Helper()
	p := &polled{copies: newCopies(t, Config{Queue: testQueue, ScanInterval: interval}), takes: time.Second}
	synctest.Test(t, func(t *testing.T) {
		p.began = time.Now()
		env := testEnv(p.folder)
		env.Log = slog.New(slog.NewTextHandler(&p.log, nil))
		p.reader = New(p.config, env, &Pace{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.reader.Notify(ctx, Source{Connect: p.connect, Busy: p.isBusy, Changed: func() {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.scan(ctx)
			}})
		}()
		p.mu.Lock()
		test(p)
		p.mu.Unlock()
		stopped := time.Now()
		stop()
		<-done
		if time.Since(stopped) > 0 {
			t.Errorf("Notify returned %s after the end", time.Since(stopped))
		}
	})
	if p.opened != p.closed {
		t.Errorf("%d connections were opened and %d closed", p.opened, p.closed)
	}
	return p
}

func (p *polled) sleep(d time.Duration) {
	p.mu.Unlock()
	time.Sleep(d)
	p.mu.Lock()
}

func (p *polled) isBusy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.busy
}

func (p *polled) after() string { return time.Since(p.began).String() }

// scan reads the queue at the end of a scan.
func (p *polled) scan(ctx context.Context) {
	p.scans = append(p.scans, p.after())
	now := time.Now()
	p.sleep(p.takes)
	if p.broken {
		return
	}
	p.queue.hidden = map[string]bool{}
	p.reader.Read(ctx, Server{Client: p.queue}, Account{"123456789012", "aws"}, []string{"eu-central-1"}, now)
}

// send adds events to the queue.
func (p *polled) send(names ...string) {
	p.queue.sent = time.Now()
	for _, name := range names {
		p.queue.messages = append(p.queue.messages, message(made(1, "alice", name)))
	}
}

func (p *polled) connect(context.Context) (Connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened++
	return pollClient{p.queue, p}, nil
}

// A pollClient is a connection for polls.
type pollClient struct {
	*fakeQueue

	*polled
}

func (c pollClient) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed++
}

func (c pollClient) Do(ctx context.Context, region string, call *awsapi.Call) (model.Value, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.polls = append(c.polls, c.after())
	if region != "eu-central-1" || call.Action != "GetQueueAttributes" || call.Input["QueueUrl"] != "https://sqs.example.org/123456789012/driftd" {
		return model.Value{}, fmt.Errorf("another call: %s %s %v", region, call.Action, call.Input)
	}
	if c.hang {
		c.mu.Unlock()
		<-ctx.Done()
		c.mu.Lock()
		return model.Value{}, context.Cause(ctx)
	}
	if c.polled.answer != "" {
		return decode.JSON([]byte(c.polled.answer))
	}
	return queueOf(len(c.messages)+c.wrong-1, 1), c.err
}

func queueOf(visible, hidden int) model.Value {
	v, err := decode.JSON(fmt.Appendf(nil, `{"Attributes":{"ApproximateNumberOfMessages":"%d","ApproximateNumberOfMessagesNotVisible":"%d"}}`, max(0, visible), min(visible+hidden, hidden)))
	if err != nil {
		panic(err)
	}
	return v
}

func (p *polled) want(reason string, scans ...string) {
	p.t.Helper()
	if diff := cmp.Diff(scans, p.scans); diff != "" {
		p.t.Errorf("%s: scans (-want +got):\n%s", reason, diff)
	}
}

func TestNotify(t *testing.T) {
	t.Parallel()
	p := runPolled(t, time.Minute, func(p *polled) {
		p.send("old")
		p.sleep(25 * time.Second) // polls at 10 s and 20 s: the first scan of the schedule has not begun
		p.scan(t.Context())       // ends at 26 s
		p.sleep(6 * time.Second)
		p.send("a", "b")
		p.sleep(30 * time.Second) // scan at 40 s, until 41 s
		p.send("c")
		p.sleep(80 * time.Second) // scan a minute after the last one, at the next poll
		p.send("d")
		p.sleep(time.Hour)
	})
	p.want("new messages", "25s", "40s", "1m41s", "2m42s")
	if len(p.queue.messages) > 0 || p.opened != 1 {
		t.Errorf("%d messages are left, %d connections", len(p.queue.messages), p.opened)
	}
}

// TestNotifyOff starts no scan without the setting.
func TestNotifyOff(t *testing.T) {
	t.Parallel()
	p := runPolled(t, 0, func(p *polled) {
		p.scan(t.Context())
		p.send("a")
		p.sleep(time.Hour)
	})
	p.want("without scan_interval", "0s")
	if len(p.polls) > 0 {
		t.Errorf("polls %v", p.polls)
	}
}

// TestNotifyLeft starts no scan for messages that scans leave in the queue.
func TestNotifyLeft(t *testing.T) {
	t.Parallel()
	foreign := strings.ReplaceAll(message(made(1, "eve", "f")), "123456789012", "999999999999")
	for name, test := range map[string]struct {
		during func(p *polled)
		want   []string
	}{
		"other messages": {func(p *polled) {
			p.queue.messages = []string{"an order", foreign}
			p.scan(t.Context())
			p.sleep(time.Hour)
			p.send("a")
			p.sleep(time.Hour)
			p.scan(t.Context())
			p.sleep(time.Hour)
			p.queue.messages = append(p.queue.messages, "another order")
			p.sleep(time.Hour)
		}, []string{"0s", "1h0m10s", "2h0m1s", "3h0m11s"}},
		"messages that cannot be deleted": {func(p *polled) {
			p.queue.refused["DeleteMessageBatch"] = &awsapi.Error{Status: 400, Code: "AccessDeniedException"}
			p.scan(t.Context())
			p.send("a")
			p.sleep(time.Hour)
		}, []string{"0s", "10s"}},
		"one message that is not deleted": {func(p *polled) {
			p.scan(t.Context())
			p.send("a", "b")
			p.queue.stuck = p.queue.messages[0]
			p.sleep(time.Hour)
		}, []string{"0s", "10s"}},
		"a queue that cannot be read": {func(p *polled) {
			p.scan(t.Context())
			p.queue.refused["ReceiveMessage"] = &awsapi.Error{Status: 400, Code: "AccessDeniedException"}
			p.send("a")
			p.sleep(time.Hour + 5*time.Second)
			p.send("b")
			p.sleep(time.Hour)
		}, []string{"0s", "10s", "1h0m11s"}},
		"a source that cannot be read": {func(p *polled) {
			p.scan(t.Context())
			p.broken = true
			p.send("a")
			p.sleep(time.Hour)
			p.broken = false
			p.scan(t.Context())
			p.send("b")
			p.sleep(time.Hour)
		}, []string{"0s", "10s", "1h0m1s", "1h0m11s"}},
		"a wrong number": {func(p *polled) {
			p.queue.messages = []string{"an order"}
			p.scan(t.Context())
			p.sleep(30 * time.Second)
			p.wrong = 1
			p.sleep(30 * time.Second)
			p.wrong = 0
			p.sleep(30 * time.Second)
			p.wrong = 1
			p.sleep(time.Hour)
		}, []string{"0s", "40s"}},
		"a lower number for a moment": {func(p *polled) {
			p.queue.messages = []string{"an order", "a second order"}
			p.scan(t.Context())
			for range 30 {
				p.wrong = -2
				p.sleep(pollEvery * time.Duration(settled-1))
				p.wrong = 0
				p.sleep(pollEvery)
			}
		}, []string{"0s"}},
		"a queue that was emptied by others": {func(p *polled) {
			p.queue.messages = []string{"an order", "a second order"}
			p.scan(t.Context())
			p.queue.messages = nil
			p.sleep(30 * time.Second)
			p.send("a")
			p.sleep(time.Hour)
		}, []string{"0s", "1m0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runPolled(t, time.Minute, test.during).want(name, test.want...)
		})
	}
}

// TestNotifyFlood starts one scan per interval while messages arrive.
func TestNotifyFlood(t *testing.T) {
	t.Parallel()
	p := runPolled(t, 5*time.Minute, func(p *polled) {
		p.scan(t.Context())
		for i := range 1200 {
			p.send(fmt.Sprint("u", i))
			p.sleep(time.Second)
		}
	})
	p.want("a flood", "0s", "10s", "5m11s", "10m12s", "15m13s")
}

// TestNotifyLate starts another scan for an event that a scan read after its change may have been
// too late for it, and only one.
func TestNotifyLate(t *testing.T) {
	t.Parallel()
	p := runPolled(t, 30*time.Second, func(p *polled) {
		p.takes = 5*time.Minute + 5*time.Second
		p.scan(t.Context())
		p.send("a")
		p.sleep(2 * time.Minute) // the scan of "a" began at 5m10s
		p.send("b")
		p.sleep(time.Hour)
	})
	p.want("an event during a scan", "0s", "5m10s", "10m25s")
}

// TestNotifyBusy waits for a scan of the schedule, which reads the messages.
func TestNotifyBusy(t *testing.T) {
	t.Parallel()
	p := runPolled(t, time.Minute, func(p *polled) {
		p.scan(t.Context())
		p.busy, p.takes = true, 5*time.Minute
		p.send("a")
		p.scan(t.Context())
		p.busy = false
		p.sleep(time.Hour)
		p.busy = true
		p.send("b")
		p.sleep(time.Hour)
	})
	p.want("while the source is read", "0s", "1s")
}

// TestNotifyFails polls again after failures, less often, and logs an outage once.
func TestNotifyFails(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fail func(p *polled)
		want string
	}{
		"a queue that was deleted":  {func(p *polled) { p.err = &awsapi.Error{Status: 400, Code: "QueueDoesNotExist"} }, "400 QueueDoesNotExist; correct audit.queue"},
		"without the right":         {func(p *polled) { p.err = &awsapi.Error{Status: 403, Code: "AccessDenied"} }, "403 AccessDenied; grant sqs:GetQueueAttributes, also in the policy"},
		"throttled":                 {func(p *polled) { p.err = &awsapi.Error{Status: 400, Code: "ThrottlingException"} }, "400 ThrottlingException"},
		"without an answer":         {func(p *polled) { p.hang = true }, "no answer within 1m0s; check the network to SQS"},
		"another answer":            {func(p *polled) { p.answer = `{}` }, "the answer has no ApproximateNumberOfMessages"},
		"a number below zero":       {func(p *polled) { p.answer = `{"Attributes":{"ApproximateNumberOfMessages":"-1"}}` }, "the answer has no ApproximateNumberOfMessages"},
		"a number without an end":   {func(p *polled) { p.answer = `{"Attributes":{"ApproximateNumberOfMessages":"99999999999999999999"}}` }, "the answer has no"},
		"credentials that are gone": {func(p *polled) { p.err = &awsapi.SettingError{Err: errors.New("find AWS credentials: no file")} }, "find AWS credentials: no file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := runPolled(t, time.Minute, func(p *polled) {
				p.scan(t.Context())
				test.fail(p)
				p.sleep(time.Hour)
				p.send("a")
				p.err, p.hang, p.answer = nil, false, ""
				p.sleep(10 * time.Minute)
			})
			log := p.log.String()
			if strings.Count(log, "is unknown") != 1 || strings.Count(log, "is known again") != 1 || !strings.Contains(log, test.want) {
				t.Errorf("logged %s", log)
			}
			if len(p.scans) != 2 {
				t.Errorf("scans %v", p.scans)
			}
			failed := slices.IndexFunc(p.polls, func(at string) bool { return strings.HasPrefix(at, "1h") })
			if failed < 10 || failed > 20 || p.opened != failed+1 {
				t.Errorf("%d polls and %d connections in an hour of failures", failed, p.opened)
			}
		})
	}
}

// TestNotifyStops ends a poll without an answer, and checks in runPolled that it ends at once.
func TestNotifyStops(t *testing.T) {
	t.Parallel()
	p := runPolled(t, time.Minute, func(p *polled) {
		p.hang = true
		p.sleep(15 * time.Second)
	})
	if p.log.Len() > 0 || len(p.polls) != 1 {
		t.Errorf("polls %v, logged %s", p.polls, &p.log)
	}
}

func TestScanInterval(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Config{
		"setting audit.scan_interval must be at least 30s; 0 starts no scans":  {Queue: testQueue, ScanInterval: 29 * time.Second},
		"setting audit.scan_interval must be at least 30s; 0 starts no scans ": {Queue: testQueue, ScanInterval: -time.Minute},
		"setting audit.scan_interval belongs to a queue: set audit.queue":      {ScanInterval: time.Minute},
	} {
		if err := c.Check(); err == nil || err.Error() != strings.TrimSpace(want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if err := (Config{Queue: testQueue, ScanInterval: 30 * time.Second}).Check(); err != nil {
		t.Error(err)
	}
}
