package store

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/model"
)

// next returns the next message. It fails if there is none.
func next(t *testing.T, s *Store, receiver string) model.OutboxEntry {
	t.Helper()
	p, ok, err := s.NextOutboxEntry(receiver)
	if err != nil || !ok {
		t.Fatalf("something waits for %s: %t, %v", receiver, ok, err)
	}
	return p
}

// deliver begins and ends the delivery of the next message.
func deliver(t *testing.T, s *Store, receiver, receipt string) model.OutboxEntry {
	t.Helper()
	p := next(t, s, receiver)
	if err := errors.Join(s.BeginDelivery(receiver, p.Message.Key), s.EndDelivery(receiver, p.Message.Key, receipt)); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDelivery(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rec := scan(1, []model.Finding{finding("a", 1)})
	one, two, other := message("slack", "t", "t.1"), message("slack", "t", "t.2"), message("mail", "m", "m.1")
	rec.Notices = model.NoticeChange{Threads: []model.Thread{thread("slack", "t", 1, 3)}, Messages: []model.Message{one, other, two, one}}
	save(t, s, rec)
	saveNotices(t, s, model.NoticeChange{Messages: []model.Message{two, message("slack", "t", "t.0")}})
	if diff := cmp.Diff(model.OutboxEntry{Message: one}, next(t, s, "slack")); diff != "" {
		t.Error(diff)
	}
	if err := errors.Join(s.BeginDelivery("slack", "t.1"), s.Close()); err != nil {
		t.Fatal(err)
	}

	s = openAt(t, dir, Options{})
	if diff := cmp.Diff(model.OutboxEntry{Message: one, Begun: true}, deliver(t, s, "slack", "ts 1")); diff != "" {
		t.Errorf("whoever comes after a crash knows that it may have arrived: %s", diff)
	}
	if diff := cmp.Diff(model.OutboxEntry{Message: two, Receipt: "ts 1"}, deliver(t, s, "slack", "")); diff != "" {
		t.Errorf("the thread's next: %s", diff)
	}
	if p := deliver(t, s, "slack", ""); p.Message.Key != "t.0" || p.Receipt != "ts 1" {
		t.Errorf("in the order of saving, whatever the key, and with the thread's receipt: got %q, %q", p.Message.Key, p.Receipt)
	}
	if p, ok, err := s.NextOutboxEntry("slack"); ok || err != nil {
		t.Errorf("nothing waits any more: got %+v, %v", p, err)
	}
	if err := errors.Join(s.BeginDelivery("slack", "t.1"), s.EndDelivery("slack", "t.1", "ts 9"), s.DropMessage("slack", "t.1")); err != nil {
		t.Errorf("what does not wait any more is no error: %v", err)
	}
	if p := deliver(t, s, "mail", "id"); p.Message.Key != "m.1" {
		t.Errorf("another receiver has its own: got %q", p.Message.Key)
	}
	if queues, entries, receipts := outbox(t, s); len(queues)+len(entries) > 0 || len(receipts) != 1 {
		t.Errorf("what is left: %v, %v, %v; want the receipt of the thread that is known", queues, entries, receipts)
	}
}

func TestReceiptRemovedWithThread(t *testing.T) {
	t.Parallel()
	last := message("slack", "t", "t.2")
	last.Kind = model.ResolvedMessage
	cases := map[string]struct {
		change model.NoticeChange
		want   string
		reason string
	}{
		"known":         {model.NoticeChange{Threads: []model.Thread{thread("slack", "t", 2, 1)}}, "ts", "the thread goes on"},
		"gone":          {model.NoticeChange{Gone: []string{"t"}}, "", "the receipt is not needed"},
		"last word":     {model.NoticeChange{Gone: []string{"t"}, Messages: []model.Message{last}}, "ts", "a queued message needs the receipt of its thread"},
		"other's gone":  {model.NoticeChange{Gone: []string{"other"}}, "ts", "each thread has its own"},
		"another's now": {model.NoticeChange{Threads: []model.Thread{thread("mail", "t", 2, 1)}}, "", "no receiver keeps the receipt of a thread that it has not"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openNew(t)
			saveNotices(t, s, model.NoticeChange{Messages: []model.Message{message("slack", "t", "t.1")},
				Threads: []model.Thread{thread("slack", "t", 1, 1), thread("slack", "other", 1, 1)}})
			deliver(t, s, "slack", "ts")
			saveNotices(t, s, c.change)
			if _, _, receipts := outbox(t, s); receipts[[2]string{"slack", "t"}] != c.want {
				t.Errorf("%s: got %q, want %q", c.reason, receipts, c.want)
			}
			if len(c.change.Messages) == 0 {
				return
			}
			if p := deliver(t, s, "slack", ""); p.Receipt != c.want {
				t.Errorf("the last word's: got %q", p.Receipt)
			}
			if _, _, receipts := outbox(t, s); len(receipts) > 0 {
				t.Errorf("no message is queued, but there is %q", receipts)
			}
		})
	}
}

func TestQueues(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	var change model.NoticeChange
	for i := range 7 {
		m := message([]string{"a", "ab"}[i%2], "t", fmt.Sprint(i))
		m.At = minute(9 - i)
		change.Messages = append(change.Messages, m)
	}
	saveNotices(t, s, change)
	if err := s.DropMessage("a", "0"); err != nil {
		t.Fatal(err)
	}
	got, err := s.Queues()
	want := map[string]model.Queue{"a": {Length: 3, Oldest: minute(7)}, "ab": {Length: 3, Oldest: minute(8)}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func TestQueueOrder(t *testing.T) {
	t.Parallel()
	s := openNew(t)
	var want []string
	for i := range 3 {
		var change model.NoticeChange
		for j := range 300 {
			want = append(want, fmt.Sprint(i, 300-j))
			change.Messages = append(change.Messages, message("slack", "t", fmt.Sprint(i, 300-j)))
		}
		saveNotices(t, s, change)
	}
	_, entries, _ := outbox(t, s)
	var got []string
	for _, p := range entries["slack"] {
		got = append(got, p.Message.Key)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadOnlyDeliversNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	saveNotices(t, s, notices(0, 3))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := hash(t, Path(dir))
	s = openAt(t, dir, Options{ReadOnly: true})
	for _, err := range []error{
		s.BeginDelivery("slack", "t.0"), s.EndDelivery("slack", "t.0", "r"), s.DropMessage("slack", "t.0"),
		s.SaveNotices(notices(1, 1)), s.Decide(nil, minute(1)),
	} {
		wantTexts(t, err, "read-only")
	}
	if p := next(t, s, "slack"); p.Message.Key != "t.0" {
		t.Errorf("got %q", p.Message.Key)
	}
	if err := s.Close(); err != nil || hash(t, Path(dir)) != before {
		t.Errorf("the file was changed, or %v", err)
	}
}

// TestDamagedNotices writes records of decisions and notices that the store could not have written.
// Reading and verifying them must fail.
func TestDamagedNotices(t *testing.T) {
	t.Parallel()
	nextEntry := func(s *Store) error { _, _, err := s.NextOutboxEntry("slack"); return err }
	queues := func(s *Store) error { _, err := s.Queues(); return err }
	notices := func(s *Store) error { _, err := s.Notices(); return err }
	flipLast := func(_, v []byte) ([]byte, []byte) { return nil, flip(len(v)-3, 1)(v) }
	short := func(_, v []byte) ([]byte, []byte) { return nil, v[:5] }
	rename := func(k, v []byte) ([]byte, []byte) { return append(bytes.Clone(k[:len(k)-1]), 'x'), v }
	cases := map[string]struct {
		bucket string
		change func(k, v []byte) (key, value []byte)
		use    func(*Store) error
	}{
		"decision":           {decisionBucket, flipLast, func(s *Store) error { _, err := s.Decisions(); return err }},
		"decision, settled":  {decisionBucket, short, func(s *Store) error { _, err := s.Settle(minute(1)); return err }},
		"decision elsewhere": {decisionBucket, rename, func(s *Store) error { _, err := s.Revoke("x", "lena", minute(1)); return err }},
		"decision pruned":    {decisionBucket, flipLast, func(s *Store) error { _, err := s.Prune(minute(1)); return err }},
		"thread":             {threadBucket, flipLast, notices},
		"thread, short":      {threadBucket, short, notices},
		"thread elsewhere":   {threadBucket, rename, notices},
		"thread of another":  {threadBucket, func(_, v []byte) ([]byte, []byte) { return nil, append([]byte("S"), v[1:]...) }, notices},
		"pace":               {paceBucket, flipLast, notices},
		"message":            {outboxBucket, flipLast, nextEntry},
		"message, short":     {outboxBucket, short, queues},
		"message's mark":     {outboxBucket, func(_, v []byte) ([]byte, []byte) { return nil, flip(0, 1)(v) }, func(s *Store) error { return s.BeginDelivery("slack", "t.1") }},
		"message's time":     {outboxBucket, func(_, v []byte) ([]byte, []byte) { return nil, flip(4, 1)(v) }, nextEntry},
		"message's key":      {outboxBucket, func(_, v []byte) ([]byte, []byte) { return nil, flip(9, 1)(v) }, nextEntry},
		"message, no thread": {outboxBucket, func(_, v []byte) ([]byte, []byte) { return nil, v[:12] }, func(s *Store) error { return s.EndDelivery("slack", "t.1", "") }},
		"message of another": {outboxBucket, func(k, v []byte) ([]byte, []byte) { return append([]byte("S"), k[1:]...), v }, func(s *Store) error { _, _, err := s.NextOutboxEntry("Slack"); return err }},
		"outbox key":         {outboxBucket, func(_, v []byte) ([]byte, []byte) { return []byte("x"), v }, queues},
		"receipt":            {receiptBucket, flipLast, nextEntry},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			withDamage(t, dir, c.bucket, c.change)
			if err := verify(Path(dir), mustCodec(t)); !errors.Is(err, errCorrupt) {
				t.Errorf("verify: got %v", err)
			}
			s, err := Open(dir, Options{Retention: Retention{MaxRuns: 1}})
			if err != nil {
				t.Fatal(err)
			}
			var damaged *DamagedError
			if err := c.use(s); !errors.As(err, &damaged) || damaged.Moved == "" {
				t.Errorf("use: got %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// withDamage creates a store with one record of each kind, and changes that of one bucket. With a
// nil key it keeps the record's key.
func withDamage(t *testing.T, dir, bucket string, change func(k, v []byte) (key, value []byte)) {
	t.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := model.NoticeChange{Threads: []model.Thread{thread("slack", "t", 1, 3)}, Paces: notices(1, 0).Paces,
		Messages: []model.Message{message("slack", "t", "t.0"), message("slack", "t", "t.1")}}
	saveNotices(t, s, all)
	deliver(t, s, "slack", "ts")
	decide(t, s, 0, decision("d", "a"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	setVersionIn(t, dir, func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(bucket))
		k, v := b.Cursor().First()
		k = bytes.Clone(k)
		key, value := change(k, bytes.Clone(v))
		if key == nil {
			return b.Put(k, value)
		}
		return errors.Join(b.Delete(k), b.Put(key, value))
	})
}
