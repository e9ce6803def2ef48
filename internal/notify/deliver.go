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

// An Outbox keeps what waits to be delivered to each receiver, in order. What
// its methods have returned from outlives a crash.
type Outbox interface {
	// NextParcel returns the first message that waits; ok is false where none
	// does.
	NextParcel(receiver string) (parcel model.Parcel, ok bool, err error)
	// BeginDelivery notes that from now on the message may have arrived.
	BeginDelivery(receiver, key string) error
	// EndDelivery takes out a message that has arrived, and keeps the receipt
	// for the later ones of its thread; "" leaves what is kept.
	EndDelivery(receiver, key, receipt string) error
	// DropMessage takes out a message that the receiver will never take.
	DropMessage(receiver, key string) error
	// Queues say what waits, by receiver; one for which nothing waits is not in it.
	Queues() (map[string]model.Queue, error)
}

// A Watcher is told of each try to deliver something; err is nil on success.
type Watcher interface {
	Delivered(receiver string, err error)
}

// Options are what a Deliverer works with. Outbox is needed.
type Options struct {
	Outbox Outbox
	// Receivers have distinct names.
	Receivers []Opened
	// Watcher may be nil.
	Watcher Watcher
	// Decide carries out what Listeners hear.
	Decide Decide
	// Now is the clock for what Status shows; nil is the system's. Nothing
	// waits by it.
	Now func() time.Time
	// Log gets what could not be delivered; nil discards it.
	Log *slog.Logger
}

// Opened is a receiver of the configuration, ready for use.
type Opened struct {
	Name, Type string
	Receiver
}

// A Deliverer takes messages out of the outbox and to their receivers: each
// receiver's in order and one at a time, and none waits for another receiver.
// No two Deliverers may work on one Outbox at a time.
type Deliverer struct {
	o     Options
	lines []line
}

// A line is one receiver, and what is done for it.
type line struct {
	Opened
	// out sends or shows, in listens, or is nil.
	out, in *worker
	// mirror is nil for a Notifier.
	mirror *mirror
}

// NewDeliverer returns a Deliverer that does nothing yet.
func NewDeliverer(o Options) *Deliverer {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Watcher == nil {
		o.Watcher = nobody{}
	}
	d := &Deliverer{o: o}
	for _, r := range o.Receivers {
		d.lines = append(d.lines, newLine(&d.o, r))
	}
	return d
}

// nobody watches.
type nobody struct{}

func (nobody) Delivered(string, error) {}

func newLine(o *Options, r Opened) line {
	l := line{Opened: r, out: newWorker(o, r.Name, o.Watcher)}
	if r.Mirror != nil {
		l.mirror = &mirror{Mirror: r.Mirror}
		l.out.turn, l.out.every = l.mirror.show, l.mirror.every()
		l.out.longest, l.out.persists = min(maxPause, l.out.every), true
	} else {
		l.out.turn = (&sender{o: o, name: r.Name, to: r.Notifier}).deliver
	}
	if r.Listener != nil {
		l.in = newWorker(o, r.Name, nobody{})
		l.in.listens = true
		l.in.turn = (&listening{Listener: r.Listener, decide: o.Decide, well: l.in.succeed}).listen
	}
	return l
}

// Run delivers, mirrors and listens until ctx ends. It returns when all that it
// started has; a delivery under way gets a moment to finish.
func (d *Deliverer) Run(ctx context.Context) {
	d.reportUnclaimed()
	var group sync.WaitGroup
	for _, l := range d.lines {
		for _, w := range l.workers() {
			group.Go(func() { w.run(ctx) })
		}
	}
	<-ctx.Done()
	group.Wait()
}

// workers lists those that the receiver has.
func (l *line) workers() []*worker {
	return slices.DeleteFunc([]*worker{l.out, l.in}, func(w *worker) bool { return w == nil })
}

// reportUnclaimed says what waits for receivers that are not there any more. It
// stays in the outbox, for the case that they come back.
func (d *Deliverer) reportUnclaimed() {
	queues, err := d.o.Outbox.Queues()
	if err != nil {
		d.o.Log.Error("read outbox", "err", err)
		return
	}
	for _, l := range d.lines {
		delete(queues, l.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(queues)) {
		d.o.Log.Warn("messages wait for a receiver that is not configured", "receiver", name, "messages", queues[name].Length)
	}
}

// Wake says that something new may wait. It never blocks.
func (d *Deliverer) Wake() {
	for _, l := range d.lines {
		if l.mirror == nil {
			l.out.rouse()
		}
	}
}

// Show says what is open now, for a mirror; for another receiver it does
// nothing. It never blocks, and of several states only the newest is sure to
// be shown. The findings must not change afterwards. Until the first call,
// nothing is shown.
func (d *Deliverer) Show(receiver string, open []model.Finding) {
	for _, l := range d.lines {
		if l.Name == receiver && l.mirror != nil {
			l.mirror.set(open)
			l.out.rouse()
		}
	}
}

// Flush delivers what waits now and shows what is to be shown, once: after an
// error it goes on with the other receivers. It returns all errors.
func (d *Deliverer) Flush(ctx context.Context) error {
	var group sync.WaitGroup
	errs := make([]error, len(d.lines))
	for i, l := range d.lines {
		group.Go(func() {
			if err := l.out.flush(ctx); err != nil {
				errs[i] = fmt.Errorf("deliver to %s: %w", l.Name, err)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// Status says how it stands with each receiver, in the configuration's order.
func (d *Deliverer) Status() ([]model.ReceiverStatus, error) {
	queues, err := d.o.Outbox.Queues()
	if err != nil {
		return nil, fmt.Errorf("read outbox: %w", err)
	}
	list := make([]model.ReceiverStatus, 0, len(d.lines))
	for _, l := range d.lines {
		status := model.ReceiverStatus{Name: l.Name, Type: l.Type, Queued: queues[l.Name].Length, Oldest: queues[l.Name].Oldest, Untold: queues[l.Name].Untold}
		status.Delivered, status.Error, status.Stopped = l.out.state()
		if _, problem, stopped := l.in.state(); status.Error == "" {
			status.Error, status.Stopped = problem, stopped
		}
		list = append(list, status)
	}
	return list, nil
}
