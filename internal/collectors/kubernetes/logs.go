package kubernetes

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"k8s.io/klog/v2"
)

// The logger of client-go is one of the whole process, and is read without a lock: it is set once, and forwards to the logger
// that was given last.
//
//nolint:gochecknoglobals // see above
var (
	redirected sync.Once
	logsTo     atomic.Pointer[slog.Logger]
)

// RedirectLogs sets the logger for client-go, which logs to stderr by default. It applies to the
// whole process. The first call must precede the opening of a source; later calls replace the
// logger.
func RedirectLogs(log *slog.Logger) {
	logsTo.Store(log)
	redirected.Do(func() { klog.SetSlogLogger(slog.New(forwarder{func(h slog.Handler) slog.Handler { return h }})) })
}

// A forwarder is a slog.Handler that forwards to that of logsTo, with the attributes and groups that wrap adds.
type forwarder struct {
	wrap func(slog.Handler) slog.Handler
}

func (f forwarder) to() slog.Handler { return f.wrap(logsTo.Load().Handler()) }

// Enabled implements slog.Handler.
func (f forwarder) Enabled(ctx context.Context, level slog.Level) bool {
	return f.to().Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (f forwarder) Handle(ctx context.Context, r slog.Record) error { return f.to().Handle(ctx, r) }

// WithAttrs implements slog.Handler.
func (f forwarder) WithAttrs(attrs []slog.Attr) slog.Handler {
	return forwarder{func(h slog.Handler) slog.Handler { return f.wrap(h).WithAttrs(attrs) }}
}

// WithGroup implements slog.Handler.
func (f forwarder) WithGroup(name string) slog.Handler {
	return forwarder{func(h slog.Handler) slog.Handler { return f.wrap(h).WithGroup(name) }}
}
