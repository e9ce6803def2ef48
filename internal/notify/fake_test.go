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

// A memoryOutbox is an Outbox in memory.
type memoryOutbox struct {
	mu     sync.Mutex
	queues map[string][]model.OutboxEntry
	// fail is called before each method and returns its error. It may be nil.
	fail func(method string) error
}

// enqueue adds messages with the given keys for receiver.
func (b *memoryOutbox) enqueue(receiver string, keys ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.queues == nil {
		b.queues = map[string][]model.OutboxEntry{}
	}
	for _, key := range keys {
		b.queues[receiver] = append(b.queues[receiver], model.OutboxEntry{Message: model.Message{Key: key, Receiver: receiver, At: time.Now()}})
	}
}

// withFirst calls f with the first entry of receiver, if there is one.
func (b *memoryOutbox) withFirst(method, receiver string, f func(*model.OutboxEntry)) error {
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
	f(&b.queues[receiver][0])
	return nil
}

func (b *memoryOutbox) NextOutboxEntry(receiver string) (p model.OutboxEntry, ok bool, err error) {
	err = b.withFirst("next", receiver, func(first *model.OutboxEntry) { p, ok = *first, true })
	return p, ok, err
}

func (b *memoryOutbox) BeginDelivery(receiver, key string) error {
	return b.withFirst("begin", receiver, func(first *model.OutboxEntry) { first.Begun = first.Message.Key == key })
}

func (b *memoryOutbox) EndDelivery(receiver, key, receipt string) error {
	return b.withFirst("end", receiver, func(*model.OutboxEntry) { b.remove(receiver, key, receipt) })
}

func (b *memoryOutbox) DropMessage(receiver, key string) error {
	return b.withFirst("drop", receiver, func(*model.OutboxEntry) { b.remove(receiver, key, "") })
}

func (b *memoryOutbox) remove(receiver, key, receipt string) {
	if q := b.queues[receiver]; q[0].Message.Key == key {
		b.queues[receiver] = q[1:]
	}
	for i := range b.queues[receiver] {
		if receipt != "" {
			b.queues[receiver][i].Receipt = receipt
		}
	}
}

func (b *memoryOutbox) Queues() (map[string]model.Queue, error) {
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

// A fake is a Notifier that records its calls.
type fake struct {
	// answer returns the result of the nth call, from 1. If it is nil, every call
	// succeeds.
	answer func(ctx context.Context, n int, p model.OutboxEntry) (string, error)

	mu       sync.Mutex
	attempts []attempt
}

// An attempt is one call to a fake.
type attempt struct {
	Key     string
	At      time.Duration
	Begun   bool
	Receipt string
	Failed  bool
}

func (f *fake) Notify(ctx context.Context, p model.OutboxEntry) (string, error) {
	f.mu.Lock()
	n := len(f.attempts)
	f.attempts = append(f.attempts, attempt{p.Message.Key, time.Since(bubbleStart()), p.Begun, p.Receipt, true})
	f.mu.Unlock()
	receipt, err := "", error(nil)
	if f.answer != nil {
		receipt, err = f.answer(ctx, n+1, p)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.attempts[n].Failed = err != nil
	return receipt, err
}

// bubbleStart returns the time at which the clock of every synctest bubble starts.
func bubbleStart() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

func (f *fake) all() []attempt {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]attempt(nil), f.attempts...)
}

// delivered returns the keys of the messages that f accepted, in order.
func (f *fake) delivered() (keys []string) {
	for _, t := range f.all() {
		if !t.Failed {
			keys = append(keys, t.Key)
		}
	}
	return keys
}

// attemptTimes returns the times of all calls.
func (f *fake) attemptTimes() (times []time.Duration) {
	for _, t := range f.all() {
		times = append(times, t.At)
	}
	return times
}

// A deliveryCounter is a Watcher that counts deliveries by receiver.
type deliveryCounter struct {
	mu                sync.Mutex
	Succeeded, Failed map[string]int
}

func (c *deliveryCounter) Delivered(receiver string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counted := &c.Succeeded
	if err != nil {
		counted = &c.Failed
	}
	if *counted == nil {
		*counted = map[string]int{}
	}
	(*counted)[receiver]++
}

// notifiers returns receivers with the names a, b and c.
func notifiers(list ...*fake) (opened []Opened) {
	for i, f := range list {
		opened = append(opened, Opened{Name: []string{"a", "b", "c"}[i], Type: "fake", Receiver: Receiver{Notifier: f}})
	}
	return opened
}

// options returns the options of a Dispatcher with the outbox b.
func options(b *memoryOutbox, receivers ...Opened) Options {
	return Options{Outbox: b, Receivers: receivers}
}

// startDispatcher starts a Dispatcher. It returns the Dispatcher and a function that stops
// it.
func startDispatcher(t *testing.T, o Options) (*Dispatcher, func()) {
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

func assertEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// keyRange returns the numbers from to to as keys.
func keyRange(from, to int) (keys []string) {
	for i := from; i <= to; i++ {
		keys = append(keys, fmt.Sprint(i))
	}
	return keys
}
