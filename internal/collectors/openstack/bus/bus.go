package bus

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Options configures a Bus.
type Options struct {
	// URLFile is the file with the address, the user and the password of the broker. CAFile is the
	// file with the certificate of the authority that signed the broker's certificate; "" if the
	// system trusts it.
	URLFile, CAFile string
	// Cleartext permits sending the password over the network without TLS.
	Cleartext bool
	// Queue is the name of driftd's own queue.
	Queue string
	// Exchanges lists the exchanges to which services publish, and Topic is the prefix of the
	// routing keys.
	Exchanges []string
	Topic     string
	// Keep is how long an event is kept.
	Keep time.Duration
	// CacheDir is the folder in which events are stored; "" to keep them only in memory.
	CacheDir string
	Log      *slog.Logger
}

// A Bus keeps the events in a cloud's notifications. Its methods are safe for concurrent use.
type Bus struct {
	options Options
	decoder *Decoder

	mu  sync.Mutex
	log *eventLog
}

// A State is the result of one read of the bus.
type State struct {
	// Fault is the reason why the bus could not be read, with the next step; "" if it was read.
	Fault string
	// Absent lists the configured exchanges that do not exist, because no service publishes to
	// them, sorted.
	Absent []string
	// Since is the time at which driftd's queue was created. Earlier notifications are unknown.
	Since time.Time
}

// New returns a Bus with the events in its cache. It opens no connection.
func New(o Options) *Bus {
	file := ""
	if o.CacheDir != "" {
		file = filepath.Join(o.CacheDir, "notifications.json")
	}
	return &Bus{options: o, decoder: NewDecoder(), log: newEventLog(o.Keep, file)}
}

// Drain reads the messages in the queue until the queue is empty, ctx ends or a limit is reached;
// the others remain in the queue. It creates the queue if it does not exist. It logs an error and
// returns the reason in State.Fault.
func (b *Bus) Drain(ctx context.Context, now time.Time) State {
	b.mu.Lock()
	defer b.mu.Unlock()
	absent, err := b.drain(ctx, now)
	state := State{Absent: absent, Since: b.log.Since}
	if err != nil {
		state.Fault = b.explain(ctx, err)
		b.options.Log.LogAttrs(ctx, slog.LevelWarn, "notification bus not read", slog.String("reason", state.Fault))
	}
	return state
}

// Events returns the events that are not too old at the time now, in no particular order. The
// caller may modify the slice.
func (b *Bus) Events(now time.Time) []Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log.prune(now)
	return slices.Clone(b.log.Events)
}

func (b *Bus) drain(ctx context.Context, now time.Time) (absent []string, err error) {
	c, err := b.options.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	waiting, created, err := c.declareQueue()
	if err != nil {
		return nil, err
	}
	if created || b.log.Since.IsZero() {
		// If the cache was lost, so were the events of the time before.
		b.log.Since = now
		if err := b.log.save(); err != nil {
			return nil, err
		}
	}
	absent, bindErr := c.bind()
	err = c.consume(ctx, waiting, func(messages [][]byte) error { return b.record(ctx, messages, now) })
	// Messages of the other exchanges count in any case.
	return absent, cmp.Or(err, bindErr)
}

// record adds the events of messages.
func (b *Bus) record(ctx context.Context, messages [][]byte, now time.Time) error {
	broken := 0
	for _, m := range messages {
		events, pending, err := b.decoder.Decode(m)
		switch {
		case err != nil:
			broken++
		case pending:
			b.log.addPending(events)
		default:
			b.log.add(events, now)
		}
	}
	if broken > 0 {
		b.options.Log.LogAttrs(ctx, slog.LevelWarn, "malformed notifications ignored", slog.Int("count", broken))
	}
	b.log.prune(now)
	return b.log.save()
}
