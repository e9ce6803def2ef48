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

// storeAt opens the store in dir for the length of the test.
func storeAt(t *testing.T, dir string) *store.Store {
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

func overStore(s *store.Store, receivers ...Opened) Options {
	return Options{Outbox: s, Receivers: receivers}
}

// announce lets the nth message for a receiver wait, which is the first of its
// thread where n ends in 1.
func announce(t *testing.T, s *store.Store, receiver string, n int) {
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

// TestOutage takes a receiver down for an hour in which there is much to tell,
// and reloads the configuration meanwhile.
func TestOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const down, up = 5 * time.Minute, 65 * time.Minute
		s := storeAt(t, t.TempDir())
		slack := &fake{answer: func(ctx context.Context, n int, p model.OutboxEntry) (string, error) {
			if now := time.Since(bubbleStart()); now >= down && now < up {
				return "", outage(ctx, n)
			}
			return "receipt of " + p.Message.Thread, nil
		}}
		webhook := &fake{}
		d, stop := running(t, overStore(s, notifiers(slack, webhook)...))
		for n := 1; n <= 200; n++ {
			announce(t, s, "a", n)
			announce(t, s, "b", n)
			d.Wake()
			time.Sleep(20 * time.Second)
			same(t, "what the other has", len(webhook.taken()), n)
			if n%50 == 25 {
				stop()
				d, stop = running(t, overStore(s, notifiers(slack, webhook)...))
			}
			if n == 150 {
				got := status(t, d)[0]
				if got.Queued != 150-15 || got.Error == "" || got.Stopped || !got.Oldest.Equal(bubbleStart().Add(down)) {
					t.Errorf("status while it is down: %+v", got)
				}
			}
		}
		time.Sleep(up + maxPause - time.Since(bubbleStart()))
		same(t, "taken", slack.taken(), numbers(1, 200))
		if tries := len(slack.all()) - 200; tries < 10 || tries > 60 {
			t.Errorf("tried %d times in an hour", tries)
		}
		for i, try := range slack.all() {
			if i > 0 && try.Key == slack.all()[i-1].Key && !try.Begun {
				t.Errorf("message %s came again as if it were new", try.Key)
			}
		}
		checkReceipts(t, slack.all())
		same(t, "queued in the end", status(t, d)[0], model.ReceiverStatus{Name: "a", Type: "fake", Delivered: status(t, d)[0].Delivered})
	})
}

// outage is how a receiver fails that is down: each time in another way.
func outage(ctx context.Context, n int) error {
	switch n % 4 {
	case 0:
		<-ctx.Done()
		return ctx.Err()
	case 1:
		return errors.New("connection refused")
	case 2:
		return &Later{After: 30 * time.Second, Err: errors.New("too many requests")}
	}
	panic("an answer that nobody has thought of")
}

// checkReceipts sees that what is said later in a thread comes with the receipt
// of what was said first.
func checkReceipts(t *testing.T, tries []try) {
	t.Helper()
	for _, try := range tries {
		var n int
		if _, err := fmt.Sscan(try.Key, &n); err != nil {
			t.Fatal(err)
		}
		want := ""
		if n%10 != 1 {
			want = fmt.Sprint("receipt of a-", (n-1)/10)
		}
		if try.Receipt != want {
			t.Errorf("message %d came with receipt %q, want %q", n, try.Receipt, want)
		}
	}
}
