package kubernetes

import (
	"log/slog"

	"k8s.io/klog/v2"
)

// RedirectLogs makes what client-go logs for itself go to the given logger
// rather than to stderr. It holds for the whole process: call it once, before
// a source is opened.
func RedirectLogs(log *slog.Logger) { klog.SetSlogLogger(log) }
