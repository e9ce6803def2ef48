package kubernetes

import (
	"log/slog"

	"k8s.io/klog/v2"
)

// RedirectLogs sets the logger of client-go, which logs to stderr by default. It applies to
// the whole process: call it once, before a source is opened.
func RedirectLogs(log *slog.Logger) { klog.SetSlogLogger(log) }
