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

// Options say where services publish their notifications.
type Options struct {
	// URLFile holds the address with user and password, CAFile the authority that
	// signed the broker's certificate, where the system does not know it.
	URLFile, CAFile string
	// Cleartext lets the password leave this machine without TLS.
	Cleartext bool
	// Queue is the queue of driftd's own.
	Queue string
	// Exchanges are those that services publish to, Topic is what routing keys
	// begin with.
	Exchanges []string
	Topic     string
	// Keep is how long a notice is remembered.
	Keep time.Duration
	// CacheDir is where notices are kept; "" when only in memory.
	CacheDir string
	Log      *slog.Logger
}

// A Bus is what a cloud's services told over their message bus, as far as it is
// remembered. It is safe for concurrent use.
type Bus struct {
	options Options
	decoder *Decoder

	mu   sync.Mutex
	book *book
}

// State says how well the bus could be heard at one look.
type State struct {
	// Fault says why it could not be, and what to do; "" when it could.
	Fault string
	// Absent are the exchanges that are not there, sorted: no service publishes
	// to them.
	Absent []string
	// Since is when driftd's queue was made; nothing is known of what was before.
	Since time.Time
}

// New returns a bus of which nothing is known but what was kept. It opens no
// connection.
func New(o Options) *Bus {
	file := ""
	if o.CacheDir != "" {
		file = filepath.Join(o.CacheDir, "notifications.json")
	}
	return &Bus{options: o, decoder: NewDecoder(), book: newBook(o.Keep, file)}
}

// Drain takes what waits in the queue, within the context and within bounds; what
// is left comes the next time. It makes the queue where there is none. What
// cannot be done costs names and no more, and State says why.
func (b *Bus) Drain(ctx context.Context, now time.Time) State {
	b.mu.Lock()
	defer b.mu.Unlock()
	absent, err := b.drain(ctx, now)
	state := State{Absent: absent, Since: b.book.Since}
	if err != nil {
		state.Fault = b.explain(ctx, err)
		b.options.Log.LogAttrs(ctx, slog.LevelWarn, "notification bus not read", slog.String("reason", state.Fault))
	}
	return state
}

// Acts returns what is remembered, in no order. The caller may keep it.
func (b *Bus) Acts(now time.Time) []Act {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.book.prune(now)
	return slices.Clone(b.book.Acts)
}

func (b *Bus) drain(ctx context.Context, now time.Time) (absent []string, err error) {
	c, err := b.options.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	waiting, made, err := c.queue()
	if err != nil {
		return nil, err
	}
	if made || b.book.Since.IsZero() {
		// A book that was lost lost what it knew of the time before.
		b.book.Since = now
		if err := b.book.save(); err != nil {
			return nil, err
		}
	}
	absent, bound := c.bind()
	err = c.take(ctx, waiting, func(messages [][]byte) error { return b.note(ctx, messages, now) })
	// What came through another exchange counts all the same.
	return absent, cmp.Or(err, bound)
}

// note keeps what messages tell. Nothing of them is kept that is no act.
func (b *Bus) note(ctx context.Context, messages [][]byte, now time.Time) error {
	broken := 0
	for _, m := range messages {
		acts, begun, err := b.decoder.Decode(m)
		switch {
		case err != nil:
			broken++
		case begun:
			b.book.begin(acts)
		default:
			b.book.add(acts, now)
		}
	}
	if broken > 0 {
		b.options.Log.LogAttrs(ctx, slog.LevelWarn, "messages that are no notifications left out", slog.Int("count", broken))
	}
	b.book.prune(now)
	return b.book.save()
}
