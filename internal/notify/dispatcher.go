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

// An Outbox stores the messages of each receiver until they are delivered, in order.
// A call that has returned survives a crash.
type Outbox interface {
	// NextOutboxEntry returns the first message; ok is false where there is none.
	NextOutboxEntry(receiver string) (entry model.OutboxEntry, ok bool, err error)
	// BeginDelivery records that the message may have arrived from now on.
	BeginDelivery(receiver, key string) error
	// EndDelivery removes a message that has arrived, and stores the receipt for the
	// later ones of its thread. A receipt of "" leaves the stored one.
	EndDelivery(receiver, key, receipt string) error
	// DropMessage removes a message that the receiver refuses.
	DropMessage(receiver, key string) error
	// Queues returns the queues by receiver, without empty ones.
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
	// Receivers have distinct names.
	Receivers []Opened
	// Watcher may be nil.
	Watcher Watcher
	// Decide handles the requests that Listeners receive.
	Decide Decide
	// Now is the clock for Status; nil is the system's. No timer depends on it.
	Now func() time.Time
	// Log records failures; nil discards them.
	Log *slog.Logger
}

// Opened is a configured receiver, ready for use.
type Opened struct {
	Name, Type string
	Receiver
}

// A Dispatcher delivers the messages of the outbox: those of one receiver in order and
// one at a time, those of several receivers independently of each other. An Outbox
// must have one Dispatcher at a time.
type Dispatcher struct {
	o     Options
	lanes []lane
}

// A lane is one receiver with its workers.
type lane struct {
	Opened
	// out sends messages or shows findings. in listens, or is nil.
	out, in *worker
	// mirror is nil for a Notifier.
	mirror *mirror
}

// NewDispatcher returns a Dispatcher that is not running.
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
		d.lanes = append(d.lanes, newLane(&d.o, r))
	}
	return d
}

// noWatcher ignores deliveries.
type noWatcher struct{}

func (noWatcher) Delivered(string, error) {}

func newLane(o *Options, r Opened) lane {
	l := lane{Opened: r, out: newWorker(o, r.Name, o.Watcher)}
	if r.Mirror != nil {
		l.mirror = &mirror{Mirror: r.Mirror}
		l.out.turn, l.out.every = l.mirror.show, l.mirror.every()
		l.out.longest, l.out.persists = min(maxPause, l.out.every), true
	} else {
		l.out.turn = (&sender{o: o, name: r.Name, to: r.Notifier}).deliver
	}
	if r.Listener != nil {
		l.in = newWorker(o, r.Name, noWatcher{})
		l.in.listens = true
		l.in.turn = (&listening{Listener: r.Listener, decide: o.Decide, works: l.in.succeed}).listen
	}
	return l
}

// Run delivers, mirrors and listens until ctx ends. It returns when all its goroutines
// have ended; a delivery in progress has a grace period.
func (d *Dispatcher) Run(ctx context.Context) {
	d.logUnconfigured()
	var group sync.WaitGroup
	for _, l := range d.lanes {
		for _, w := range l.workers() {
			group.Go(func() { w.run(ctx) })
		}
	}
	<-ctx.Done()
	group.Wait()
}

// workers returns the workers of the receiver.
func (l *lane) workers() []*worker {
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
	for _, l := range d.lanes {
		delete(queues, l.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		d.o.Log.Warn("messages are queued for a receiver that is not configured", "receiver", name, "messages", queues[name].Length)
	}
}

// Wake makes the Dispatcher look for new messages. It never blocks.
func (d *Dispatcher) Wake() {
	for _, l := range d.lanes {
		if l.mirror == nil {
			l.out.wakeUp()
		}
	}
}

// Show sets the open findings of a mirror; for another receiver it does nothing. It
// never blocks, and of several states only the newest is sure to be shown. The caller
// must not change the findings afterwards. Until the first call, nothing is shown.
func (d *Dispatcher) Show(receiver string, open []model.Finding) {
	for _, l := range d.lanes {
		if l.Name == receiver && l.mirror != nil {
			l.mirror.set(open)
			l.out.wakeUp()
		}
	}
}

// Flush delivers all messages and shows all findings once. It continues after an error
// with the other receivers, and returns all errors.
func (d *Dispatcher) Flush(ctx context.Context) error {
	var group sync.WaitGroup
	errs := make([]error, len(d.lanes))
	for i, l := range d.lanes {
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
	list := make([]model.ReceiverStatus, 0, len(d.lanes))
	for _, l := range d.lanes {
		status := model.ReceiverStatus{Name: l.Name, Type: l.Type, Queued: queues[l.Name].Length, Oldest: queues[l.Name].Oldest, Untold: queues[l.Name].Untold}
		status.Delivered, status.Error, status.Stopped = l.out.state()
		if _, problem, stopped := l.in.state(); status.Error == "" {
			status.Error, status.Stopped = problem, stopped
		}
		list = append(list, status)
	}
	return list, nil
}
