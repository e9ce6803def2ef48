package kubernetes

import (
	"errors"
	"log/slog"
	"testing"

	"k8s.io/klog/v2"
)

// TestRedirectLogs checks that messages of klog are logged to the given logger.
//
//nolint:paralleltest // the logger is that of the whole process
func TestRedirectLogs(t *testing.T) {
	logs := &logBuffer{}
	RedirectLogs(slog.New(slog.NewTextHandler(logs, nil)))
	t.Cleanup(func() { RedirectLogs(slog.New(slog.DiscardHandler)) })
	klog.ErrorS(errors.New("no such file"), "Unable to rotate token")
	expectLine(t, logs.lines(), "level=ERROR", `msg="Unable to rotate token"`, `err="no such file"`)
	klog.Warningf("the token of %s is old", "alice")
	expectLine(t, logs.lines(), `msg="the token of alice is old"`)
	named := klog.Background().WithName("client").WithValues("user", "alice")
	logs = &logBuffer{}
	RedirectLogs(slog.New(slog.NewTextHandler(logs, nil)))
	named.Info("renewed")
	expectLine(t, logs.lines(), `msg=renewed`, `user=alice`, `client`)
}
