package audit

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
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
	// inFile is the end of the first write in the file after the last gap, and sent that of the
	// earliest write that the webhook sent; zero if there is none. sentSince is the time of the
	// last gap in the events of the webhook, at first the time of New.
	inFile, sent, sentSince time.Time
}

// New returns a Log without writes. It does not read the file.
func New(o Options) *Log {
	l := &Log{Options: o, index: newIndex(o.Keep, maxWrites), warned: map[string]time.Time{}, sentSince: o.Now()}
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
			l.gapInFile()
		}
		l.beginInFile(writes)
		l.record(writes)
	}, l.gapInFile)
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

// Each calls do with every object that has writes, in no particular order, and with its history. The
// function do must not call methods of the log.
func (l *Log) Each(do func(Object, History)) { l.index.each(l.Now(), l.begin(), do) }

// begin returns the time since which the log was received without a gap; zero if it is unknown. It is
// never earlier than the first write in the log, since the log may have begun with it. If there are both
// a file and a webhook, it is the later beginning, since the file may be that of one of several servers.
func (l *Log) begin() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sent.IsZero() {
		return l.inFile
	}
	return model.Later(l.inFile, model.Later(l.sent, l.sentSince))
}

// gapInFile records that lines of the file may be lost before the next line.
func (l *Log) gapInFile() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFile = time.Time{}
}

// beginInFile records the first writes after a gap.
func (l *Log) beginInFile(writes []Write) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inFile.IsZero() && len(writes) > 0 {
		l.inFile = writes[0].Ended
	}
}

// gapInHook records that the API server sent events that are lost.
func (l *Log) gapInHook() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sentSince = l.Now()
}

// recordSent records writes that the webhook sent, in any order.
func (l *Log) recordSent(writes []Write) {
	l.mu.Lock()
	if len(writes) > 0 && (l.sent.IsZero() || writes[0].Ended.Before(l.sent)) {
		l.sent = writes[0].Ended
	}
	l.mu.Unlock()
	l.record(writes)
}

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
