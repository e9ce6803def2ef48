package notify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// An Outbox stores the messages of each receiver, in order, until they are delivered. Its changes are
// durable: they survive a crash once the call has returned.
type Outbox interface {
	// NextOutboxEntry returns the first message of receiver. ok reports whether there is
	// one.
	NextOutboxEntry(receiver string) (entry model.OutboxEntry, ok bool, err error)
	// BeginDelivery records that the message may have been delivered. It is called before the first
	// attempt.
	BeginDelivery(receiver, key string) error
	// EndDelivery deletes a message that was delivered, and stores the receipt for the later messages of
	// its thread. If receipt is "", the stored receipt is kept.
	EndDelivery(receiver, key, receipt string) error
	// DropMessage deletes a message that the receiver refused.
	DropMessage(receiver, key string) error
	// Queues returns the non-empty queues by receiver.
	Queues() (map[string]model.Queue, error)
}

// A Watcher counts deliveries.
type Watcher interface {
	// Delivered is called after each attempt; err is nil on success.
	Delivered(receiver string, err error)
}

// Options are the settings of a Dispatcher. Outbox is required.
type Options struct {
	Outbox Outbox
	// Receivers are the receivers to deliver to. Their names must be distinct.
	Receivers []Opened
	// Watcher counts deliveries. It may be nil.
	Watcher Watcher
	// Handler handles the requests that Listeners receive.
	Handler Handler
	// Now is the clock for Status. If it is nil, the system's clock is used. No timer
	// depends on it.
	Now func() time.Time
	// Log records failures. If it is nil, they are discarded.
	Log *slog.Logger
}

// An Opened is a receiver that was opened with its configuration.
type Opened struct {
	Name, Type string
	Receiver
}

// A Dispatcher delivers the messages of the outbox. It delivers the messages of one
// receiver in order and one at a time, and serves receivers independently of each other.
// An Outbox must have only one Dispatcher at a time.
type Dispatcher struct {
	o         Options
	endpoints []endpoint
}

// An endpoint is one receiver with its workers.
type endpoint struct {
	Opened
	// out sends messages or shows findings. in runs the Listener. It is nil if the
	// receiver has none.
	out, in *worker
	// mirror is nil if the receiver is a Notifier.
	mirror *mirror
}

// NewDispatcher returns a Dispatcher. Run starts it.
func NewDispatcher(o Options) *Dispatcher {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Watcher == nil {
		o.Watcher = noWatcher{}
	}
	d := &Dispatcher{o: o}
	for _, r := range o.Receivers {
		d.endpoints = append(d.endpoints, newEndpoint(&d.o, r))
	}
	return d
}

// noWatcher ignores deliveries.
type noWatcher struct{}

func (noWatcher) Delivered(string, error) {}

// newEndpoint returns the endpoint of r.
func newEndpoint(o *Options, r Opened) endpoint {
	l := endpoint{Opened: r, out: newWorker(o, r.Name, o.Watcher)}
	if r.Mirror != nil {
		l.mirror = &mirror{Mirror: r.Mirror}
		l.out.task, l.out.interval = l.mirror.show, l.mirror.every()
		l.out.pauseLimit, l.out.retryPermanent = min(maxPause, l.out.interval), true
	} else {
		l.out.task = (&sender{o: o, name: r.Name, to: r.Notifier}).deliver
	}
	if r.Listener != nil {
		l.in = newWorker(o, r.Name, noWatcher{})
		l.in.listens = true
		l.in.task = (&listenTask{Listener: r.Listener, handler: o.Handler, onWorking: l.in.succeed}).listen
	}
	return l
}

// Run delivers messages, updates mirrors and runs listeners until ctx ends. It returns
// when all its goroutines have ended. A delivery in progress may continue for a grace
// period.
func (d *Dispatcher) Run(ctx context.Context) {
	d.logUnconfigured()
	var group sync.WaitGroup
	for _, l := range d.endpoints {
		for _, w := range l.workers() {
			group.Go(func() { w.run(ctx) })
		}
	}
	<-ctx.Done()
	group.Wait()
}

// workers returns the workers of the receiver.
func (l *endpoint) workers() []*worker {
	return slices.DeleteFunc([]*worker{l.out, l.in}, func(w *worker) bool { return w == nil })
}

// logUnconfigured logs the queues of receivers that are no longer configured. They stay
// in the outbox, in case the receivers are configured again.
func (d *Dispatcher) logUnconfigured() {
	queues, err := d.o.Outbox.Queues()
	if err != nil {
		d.o.Log.Error("read outbox", "err", err)
		return
	}
	for _, l := range d.endpoints {
		delete(queues, l.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		d.o.Log.Warn("messages are queued for a receiver that is not configured", "receiver", name, "messages", queues[name].Length)
	}
}

// Wake makes the Dispatcher read new messages from the outbox. It never blocks.
func (d *Dispatcher) Wake() {
	for _, l := range d.endpoints {
		if l.mirror == nil {
			l.out.wakeUp()
		}
	}
}

// Show sets the findings that a mirror shows. It does nothing for a receiver that is not a mirror. Show
// never blocks: after several calls in succession, only the last findings are certain to be shown. The
// caller must not modify open afterwards. The mirror shows nothing before the first call.
func (d *Dispatcher) Show(receiver string, open []model.Finding) {
	for _, l := range d.endpoints {
		if l.Name == receiver && l.mirror != nil {
			l.mirror.set(open)
			l.out.wakeUp()
		}
	}
}

// Flush delivers all queued messages and shows all findings once. After an error, it continues with the
// other receivers. It returns all errors, joined.
func (d *Dispatcher) Flush(ctx context.Context) error {
	var group sync.WaitGroup
	errs := make([]error, len(d.endpoints))
	for i, l := range d.endpoints {
		group.Go(func() {
			if err := l.out.flush(ctx); err != nil {
				errs[i] = fmt.Errorf("deliver to %s: %w", l.Name, err)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// Status returns the status of each receiver, in the order of the configuration.
func (d *Dispatcher) Status() ([]model.ReceiverStatus, error) {
	queues, err := d.o.Outbox.Queues()
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	list := make([]model.ReceiverStatus, 0, len(d.endpoints))
	for _, l := range d.endpoints {
		status := model.ReceiverStatus{Name: l.Name, Type: l.Type, Queued: queues[l.Name].Length, Oldest: queues[l.Name].Oldest, Untold: queues[l.Name].Untold}
		status.Delivered, status.Error, status.Stopped = l.out.state()
		if _, problem, stopped := l.in.state(); status.Error == "" {
			status.Error, status.Stopped = problem, stopped
		}
		list = append(list, status)
	}
	return list, nil
}
