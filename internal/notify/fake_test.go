package notify

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// A box is an outbox in memory, whose methods can be made to fail.
type box struct {
	mu     sync.Mutex
	queues map[string][]model.OutboxEntry
	// fail is asked before each call; nil fails nothing.
	fail func(method string) error
}

// put lets messages wait whose keys are given.
func (b *box) put(receiver string, keys ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queues == nil {
		b.queues = map[string][]model.OutboxEntry{}
	}
	for _, key := range keys {
		b.queues[receiver] = append(b.queues[receiver], model.OutboxEntry{Message: model.Message{Key: key, Receiver: receiver, At: time.Now()}})
	}
}

func (b *box) first(method, receiver string, use func(*model.OutboxEntry)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		if err := b.fail(method); err != nil {
			return err
		}
	}
	if len(b.queues[receiver]) == 0 {
		return nil
	}
	use(&b.queues[receiver][0])
	return nil
}

func (b *box) NextOutboxEntry(receiver string) (p model.OutboxEntry, ok bool, err error) {
	err = b.first("next", receiver, func(first *model.OutboxEntry) { p, ok = *first, true })
	return p, ok, err
}

func (b *box) BeginDelivery(receiver, key string) error {
	return b.first("begin", receiver, func(first *model.OutboxEntry) { first.Begun = first.Message.Key == key })
}

func (b *box) EndDelivery(receiver, key, receipt string) error {
	return b.first("end", receiver, func(*model.OutboxEntry) { b.remove(receiver, key, receipt) })
}

func (b *box) DropMessage(receiver, key string) error {
	return b.first("drop", receiver, func(*model.OutboxEntry) { b.remove(receiver, key, "") })
}

func (b *box) remove(receiver, key, receipt string) {
	if q := b.queues[receiver]; q[0].Message.Key == key {
		b.queues[receiver] = q[1:]
	}
	for i := range b.queues[receiver] {
		if receipt != "" {
			b.queues[receiver][i].Receipt = receipt
		}
	}
}

func (b *box) Queues() (map[string]model.Queue, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	queues := map[string]model.Queue{}
	for name, q := range b.queues {
		if len(q) > 0 {
			queues[name] = model.Queue{Length: len(q), Oldest: q[0].Message.At}
		}
	}
	return queues, nil
}

// A fake receiver takes what comes and notes it.
type fake struct {
	// answer says what becomes of the nth try, from 1; nil takes everything.
	answer func(ctx context.Context, n int, p model.OutboxEntry) (string, error)

	mu    sync.Mutex
	tries []try
}

// A try is one call to a fake.
type try struct {
	Key     string
	At      time.Duration
	Begun   bool
	Receipt string
	Failed  bool
}

func (f *fake) Notify(ctx context.Context, p model.OutboxEntry) (string, error) {
	f.mu.Lock()
	n := len(f.tries)
	f.tries = append(f.tries, try{p.Message.Key, time.Since(bubbleStart()), p.Begun, p.Receipt, true})
	f.mu.Unlock()
	receipt, err := "", error(nil)
	if f.answer != nil {
		receipt, err = f.answer(ctx, n+1, p)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries[n].Failed = err != nil
	return receipt, err
}

// bubbleStart is when the clock of every synctest bubble starts.
func bubbleStart() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

func (f *fake) all() []try {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]try(nil), f.tries...)
}

// taken are the keys of what it took, in order.
func (f *fake) taken() (keys []string) {
	for _, t := range f.all() {
		if !t.Failed {
			keys = append(keys, t.Key)
		}
	}
	return keys
}

// times are when it was tried.
func (f *fake) times() (times []time.Duration) {
	for _, t := range f.all() {
		times = append(times, t.At)
	}
	return times
}

// counts are what a Watcher was told.
type counts struct {
	mu        sync.Mutex
	Good, Bad map[string]int
}

func (c *counts) Delivered(receiver string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counted := &c.Good
	if err != nil {
		counted = &c.Bad
	}
	if *counted == nil {
		*counted = map[string]int{}
	}
	(*counted)[receiver]++
}

func notifiers(list ...*fake) (opened []Opened) {
	for i, f := range list {
		opened = append(opened, Opened{Name: []string{"a", "b", "c"}[i], Type: "fake", Receiver: Receiver{Notifier: f}})
	}
	return opened
}

// options are those of a Dispatcher over b.
func options(b *box, receivers ...Opened) Options {
	return Options{Outbox: b, Receivers: receivers}
}

// running starts a Dispatcher and returns it with what ends it.
func running(t *testing.T, o Options) (*Dispatcher, func()) {
	t.Helper()
	d := NewDispatcher(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); d.Run(ctx) }()
	stop := func() { cancel(); <-done }
	t.Cleanup(stop)
	synctest.Wait()
	return d, stop
}

func status(t *testing.T, d *Dispatcher) []model.ReceiverStatus {
	t.Helper()
	list, err := d.Status()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// numbers are the keys from to to.
func numbers(from, to int) (keys []string) {
	for i := from; i <= to; i++ {
		keys = append(keys, fmt.Sprint(i))
	}
	return keys
}
