package proxmox

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
	"github.com/driftd/driftd/internal/pveapi"
)

// A taskError is the error of a task that ended without success.
type taskError struct {
	// exit is its exit status, in the words of Proxmox VE.
	exit string
}

// Error returns the exit status.
func (e *taskError) Error() string { return "the task failed: " + printable.Text(e.exit) }

// taskPause is the pause between two reads of a task that runs.
const taskPause = 250 * time.Millisecond

// follow waits until the task that an answer names has ended. The error is a *taskError if it failed; after any other one it is not known
// whether the task took effect.
func follow(ctx context.Context, s *pveapi.Session, node string, answer model.Value) error {
	upid := answer.Str()
	if !strings.HasPrefix(upid, "UPID:") {
		return fmt.Errorf("the answer names no task: %s", printable.Text(answer.Text()))
	}
	for {
		task, err := s.Get(ctx, "/nodes/"+url.PathEscape(node)+"/tasks/"+url.PathEscape(upid)+"/status")
		if err != nil {
			return fmt.Errorf("read task %s: %v", upid, err) //nolint:errorlint // The status of a read is no answer to the write.
		}
		if task.At("status").Str() == "stopped" {
			return ended(upid, task.At("exitstatus").Str())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("task %s did not end in time", upid)
		case <-time.After(taskPause):
		}
	}
}

// ended returns the error of a task with an exit status; nil if it was successful. Proxmox VE reads that status from the last line of the
// task's log (upid_read_status in PVE::Tools), which a task that was killed does not have.
func ended(upid, exit string) error {
	switch {
	case exit == "OK", strings.HasPrefix(exit, "WARNINGS"):
		return nil
	case exit == "", exit == "unexpected status", exit == "unable to extract last line",
		strings.HasPrefix(exit, "unable to read tail"), strings.HasPrefix(exit, "unable to open file -"):
		return fmt.Errorf("task %s has no exit status (%s)", upid, printable.Text(exit))
	}
	return &taskError{exit}
}
