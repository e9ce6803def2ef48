package audit

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Options configures a Log. Keep, Wanted, Now and Log are required.
type Options struct {
	// Path is the file of the audit log; "" if there is none.
	Path string
	// Token returns the token of the webhook backend. It is called for each request, so that a new
	// token takes effect immediately. If it is nil, the webhook is disabled.
	Token func() (string, error)
	// Keep is how long a write is kept.
	Keep time.Duration
	// Wanted reports whether writes to objects of the resource are kept.
	Wanted func(Resource) bool
	Now    func() time.Time
	Log    *slog.Logger
}

// A Log keeps the recent writes in the audit log of an API server. Its methods are safe for
// concurrent use.
type Log struct {
	Options
	index *index
	file  *file

	mu sync.Mutex
	// warned maps each warning to the time at which it was last logged.
	warned map[string]time.Time
	// fault is the error of the last read of the file, or nil.
	fault error
}

// New returns a Log without writes. It does not read the file.
func New(o Options) *Log {
	l := &Log{Options: o, index: newIndex(o.Keep, maxWrites), warned: map[string]time.Time{}}
	if o.Path != "" {
		l.file = &file{path: o.Path, keep: o.Keep, first: maxFirst}
	}
	return l
}

// Refresh reads the lines that were added to the file, until ctx ends. The next call continues from
// there. It logs an error, which Fault then returns, since without the file snapshots only lack the
// names of users.
func (l *Log) Refresh(ctx context.Context) {
	if l.file == nil {
		return
	}
	broken := 0
	long, err := l.file.read(ctx, l.Now(), func(line []byte) {
		writes, err := Decode(line)
		if err != nil {
			broken++
		}
		l.record(writes)
	})
	if err != nil {
		l.warn(ctx, "audit log not read", slog.Any("err", err))
	}
	l.mu.Lock()
	l.fault = err
	l.mu.Unlock()
	if broken+long > 0 {
		l.warn(ctx, "lines of the audit log skipped", slog.String("file", l.Path), slog.Int("broken", broken), slog.Int("too_long", long))
	}
}

// Fault returns the error of the last Refresh; nil if the file was read or if there is no file.
func (l *Log) Fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// Each calls do with every object that has writes, in no particular order, and with its writes,
// sorted by time. The function do must not call methods of the log.
func (l *Log) Each(do func(Object, []Write)) { l.index.each(l.Now(), do) }

// Hook returns the handler for the webhook backend of the API server; nil if Token is nil.
func (l *Log) Hook() http.Handler {
	if l.Token == nil {
		return nil
	}
	return http.HandlerFunc(l.receive)
}

// record adds the writes to objects of wanted kinds.
func (l *Log) record(writes []Write) {
	for _, w := range writes {
		if l.Wanted(w.Resource) {
			l.index.add(w, l.Now())
		}
	}
}

// warnEvery is the least time between two warnings with the same message.
const warnEvery = 10 * time.Minute

// warn logs a warning, at level debug if the same message was logged recently.
func (l *Log) warn(ctx context.Context, message string, attrs ...slog.Attr) {
	level := slog.LevelDebug
	l.mu.Lock()
	if last, ok := l.warned[message]; !ok || l.Now().Sub(last) >= warnEvery {
		level, l.warned[message] = slog.LevelWarn, l.Now()
	}
	l.mu.Unlock()
	l.Log.LogAttrs(ctx, level, message, attrs...) //nolint:sloglint // the messages are constants of this package
}
