package audit

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Options say where a Log learns who wrote what.
type Options struct {
	// Path is the log's file, or "".
	Path string
	// Token returns what the webhook backend must show; nil turns the webhook
	// off. It is called for each request, so that a new token counts at once.
	Token func() (string, error)
	// Keep is how long a write is remembered.
	Keep time.Duration
	// Wanted tells the kinds whose writes are remembered.
	Wanted func(Resource) bool
	Now    func() time.Time
	Log    *slog.Logger
}

// A Log is what an API server told of who wrote what, as far as it is
// remembered. It is safe for concurrent use.
type Log struct {
	Options
	book *book
	file *file

	mu sync.Mutex
	// said is when something was last said of each trouble.
	said map[string]time.Time
	// fault is why the file was not read last time; nil when it was.
	fault error
}

// New returns a log that knows nothing yet.
func New(o Options) *Log {
	l := &Log{Options: o, book: newBook(o.Keep, maxWrites), said: map[string]time.Time{}}
	if o.Path != "" {
		l.file = &file{path: o.Path, keep: o.Keep, first: maxFirst}
	}
	return l
}

// Refresh reads what was added to the file, until ctx ends; the rest comes the
// next time. A file that cannot be read is logged, and costs no more than
// names.
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
		l.note(writes)
	})
	if err != nil {
		l.warn(ctx, "audit log not read", slog.Any("err", err))
	}
	l.mu.Lock()
	l.fault = err
	l.mu.Unlock()
	if broken+long > 0 {
		l.warn(ctx, "lines of the audit log left out", slog.String("file", l.Path), slog.Int("broken", broken), slog.Int("too_long", long))
	}
}

// Fault is why the file could not be read the last time; nil when it could, or
// there is none.
func (l *Log) Fault() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// Each hands over the writes to every object that some are remembered of, sorted
// by time, in no order of the objects. It must not call back.
func (l *Log) Each(do func(Object, []Write)) { l.book.each(l.Now(), do) }

// Hook returns what serves the webhook backend of the API server; nil when there
// is none.
func (l *Log) Hook() http.Handler {
	if l.Token == nil {
		return nil
	}
	return http.HandlerFunc(l.receive)
}

func (l *Log) note(writes []Write) {
	for _, w := range writes {
		if l.Wanted(w.Resource) {
			l.book.add(w, l.Now())
		}
	}
}

// patience is how long nothing more is said of one trouble.
const patience = 10 * time.Minute

// warn says what is wrong, now and then.
func (l *Log) warn(ctx context.Context, message string, attrs ...slog.Attr) {
	level := slog.LevelDebug
	l.mu.Lock()
	if last, ok := l.said[message]; !ok || l.Now().Sub(last) >= patience {
		level, l.said[message] = slog.LevelWarn, l.Now()
	}
	l.mu.Unlock()
	l.Log.LogAttrs(ctx, level, message, attrs...) //nolint:sloglint // the messages are constants of this package
}
