package kubernetes

import (
	"errors"
	"log/slog"
	"testing"

	"k8s.io/klog/v2"
)

// It changes the whole process's logging: no test runs beside it.
//
//nolint:paralleltest // see above.
func TestRedirectLogs(t *testing.T) {
	book := &logbook{}
	RedirectLogs(slog.New(slog.NewTextHandler(book, nil)))
	t.Cleanup(klog.ClearLogger)
	klog.ErrorS(errors.New("no such file"), "Unable to rotate token")
	expectLine(t, book.lines(), "level=ERROR", `msg="Unable to rotate token"`, `err="no such file"`)
	klog.Warningf("the token of %s is old", "alice")
	expectLine(t, book.lines(), `msg="the token of alice is old"`)
}
