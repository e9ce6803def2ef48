package audit

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Options are the settings of a Log.
type Options struct {
	// Path is the file of the audit log, or "".
	Path string
	// Token returns the token of the webhook backend; nil disables the webhook. It is
	// called for each request, so that a new token takes effect at once.
	Token func() (string, error)
	// Keep is how long a write is kept.
	Keep time.Duration
	// Wanted reports whether writes to objects of a kind are kept.
	Wanted func(Resource) bool
	Now    func() time.Time
	Log    *slog.Logger
}

// A Log keeps the recent writes in an API server's audit log. It is safe for concurrent
// use.
type Log struct {
	Options
	index *index
	file  *file

	mu sync.Mutex
	// warned is when each warning was last logged, by message.
	warned map[string]time.Time
	// fault is the error of the last read of the file, or nil.
	fault error
}

// New returns a log without writes.
func New(o Options) *Log {
	l := &Log{Options: o, index: newIndex(o.Keep, maxWrites), warned: map[string]time.Time{}}
	if o.Path != "" {
		l.file = &file{path: o.Path, keep: o.Keep, first: maxFirst}
	}
	return l
}

// Refresh reads the lines that were added to the file, until ctx ends; the next call
// continues there. An error is logged and returned by Fault; without the file, snapshots
// only lack the names of users.
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

// Fault returns the error of the last Refresh; nil if the file was read, or if there is
// none.
func (l *Log) Fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// Each calls do with every object that has writes, in no order, and its writes, sorted by
// time. Do must not call methods of the log.
func (l *Log) Each(do func(Object, []Write)) { l.index.each(l.Now(), do) }

// Hook returns the handler for the webhook backend of the API server; nil without a
// token.
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
