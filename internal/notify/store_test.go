package notify

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// openStore opens the store in dir, and closes it at the end of the test.
func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// storeOptions returns the options of a Dispatcher with the outbox s.
func storeOptions(s *store.Store, receivers ...Opened) Options {
	return Options{Outbox: s, Receivers: receivers}
}

// enqueueMessage stores the nth message for receiver. It is the first message of its
// thread if n ends in 1.
func enqueueMessage(t *testing.T, s *store.Store, receiver string, n int) {
	t.Helper()
	thread := model.Thread{ID: fmt.Sprintf("%s-%d", receiver, (n-1)/10), Receiver: receiver, Opened: time.Now(), Sequence: n}
	err := s.SaveNotices(model.NoticeChange{
		Threads: []model.Thread{thread},
		Messages: []model.Message{{Key: fmt.Sprint(n), Receiver: receiver, Kind: model.NewMessage, At: time.Now(),
			Thread: thread.ID, First: n%10 == 1, Title: fmt.Sprint("message ", n)}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOutage checks that no message is lost when a receiver fails for an hour, with new
// messages and reloads of the configuration in that time.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const down, up = 5 * time.Minute, 65 * time.Minute
		s := openStore(t, t.TempDir())
		slack := &fake{answer: func(ctx context.Context, n int, p model.OutboxEntry) (string, error) {
			if now := time.Since(bubbleStart()); now >= down && now < up {
				return "", outageError(ctx, n)
			}
			return "receipt of " + p.Message.Thread, nil
		}}
		webhook := &fake{}
		d, stop := startDispatcher(t, storeOptions(s, notifiers(slack, webhook)...))
		for n := 1; n <= 200; n++ {
			enqueueMessage(t, s, "a", n)
			enqueueMessage(t, s, "b", n)
			d.Wake()
			time.Sleep(20 * time.Second)
			assertEqual(t, "messages to the other receiver", len(webhook.delivered()), n)
			if n%50 == 25 {
				stop()
				d, stop = startDispatcher(t, storeOptions(s, notifiers(slack, webhook)...))
			}
			if n == 150 {
				got := status(t, d)[0]
				if got.Queued != 150-15 || got.Error == "" || got.Stopped || !got.Oldest.Equal(bubbleStart().Add(down)) {
					t.Errorf("status during the outage: %+v", got)
				}
			}
		}
		time.Sleep(up + maxPause - time.Since(bubbleStart()))
		assertEqual(t, "delivered messages", slack.delivered(), keyRange(1, 200))
		if attempts := len(slack.all()) - 200; attempts < 10 || attempts > 60 {
			t.Errorf("%d failed attempts in an hour, want 10 to 60", attempts)
		}
		for i, attempt := range slack.all() {
			if i > 0 && attempt.Key == slack.all()[i-1].Key && !attempt.Begun {
				t.Errorf("message %s was repeated without Begun", attempt.Key)
			}
		}
		checkReceipts(t, slack.all())
		assertEqual(t, "status at the end", status(t, d)[0], model.ReceiverStatus{Name: "a", Type: "fake", Delivered: status(t, d)[0].Delivered})
	})
}

// outageError fails in one of four ways, by the number of the attempt.
func outageError(ctx context.Context, n int) error {
	switch n % 4 {
	case 0:
		<-ctx.Done()
		return ctx.Err()
	case 1:
		return errors.New("connection refused")
	case 2:
		return &Later{After: 30 * time.Second, Err: errors.New("too many requests")}
	}
	panic("unexpected response")
}

// checkReceipts checks that the later messages of a thread have the receipt of the first
// one.
func checkReceipts(t *testing.T, attempts []attempt) {
	t.Helper()
	for _, attempt := range attempts {
		var n int
		if _, err := fmt.Sscan(attempt.Key, &n); err != nil {
			t.Fatal(err)
		}
		want := ""
		if n%10 != 1 {
			want = fmt.Sprint("receipt of a-", (n-1)/10)
		}
		if attempt.Receipt != want {
			t.Errorf("message %d has receipt %q, want %q", n, attempt.Receipt, want)
		}
	}
}
