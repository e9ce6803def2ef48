// Package process runs programs within bounds: their output is cut, their time
// ends, and whatever they started ends with them.
package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/driftd/driftd/internal/box"
)

// A Command is one run of a program.
type Command struct {
	// Path of the program, and its arguments without its name.
	Path string
	Args []string
	// Dir is where it runs, Env all of its environment.
	Dir string
	Env []string
	// Stdout takes what it prints; nil discards it. It must not block. An error
	// of it ends the program, and is Run's.
	Stdout io.Writer
	// Launch has the program started by a guard, which ends all that it started, and
	// seals it; nil for neither. Its Program, Grace and environment are those of the
	// command.
	Launch *box.Launch
	// Grace is how long it may take to end by itself once it was asked to; 0
	// stands for ten seconds.
	Grace time.Duration
}

// An ExitError tells that the program ended with a status other than 0.
type ExitError struct {
	Code int
	// Stderr is the beginning and the end of what it printed there.
	Stderr string
}

// Error returns the status; what was printed may hold secrets.
func (e *ExitError) Error() string { return fmt.Sprintf("exit status %d", e.Code) }

// maxStderr is how much of stderr is kept, half from its beginning and half
// from its end.
const maxStderr = 64 << 10

// lateGuard is how much longer than the program a guard may take to end: it kills what
// the program left.
const lateGuard = 15 * time.Second

// start returns what is started for the command, and how long it may take to end by
// itself.
func (c Command) start() (path string, env []string, grace time.Duration, err error) {
	grace = cmp.Or(c.Grace, 10*time.Second)
	if c.Launch == nil {
		return c.Path, c.Env, grace, nil
	}
	l := *c.Launch
	l.Program, l.Grace = c.Path, grace
	path, env, err = l.Start(c.Env)
	return path, env, grace + lateGuard, err
}

// Run runs the command in a process group of its own, and returns when it has
// ended and nothing of the group is left; with Launch, nothing that it started.
// When the context ends it asks the program to stop, as Ctrl-C does, so that it
// stops what it started; when that takes longer than Grace it kills the group.
// The error is then the context's cause.
func (c Command) Run(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	path, env, grace, err := c.start()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, path, c.Args...)
	stderr := &Excerpt{Limit: maxStderr}
	cmd.Dir, cmd.Env, cmd.Stderr = c.Dir, env, stderr
	if c.Stdout != nil {
		cmd.Stdout = sink{c.Stdout, stop}
	}
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	// Who keeps the pipes open after the program ended is killed then.
	cmd.WaitDelay = grace
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", c.Path, err)
	}
	err = cmd.Wait()
	if killErr := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); killErr != nil && !errors.Is(killErr, syscall.ESRCH) {
		err = errors.Join(err, fmt.Errorf("kill what %s left: %w", c.Path, killErr))
	}
	return outcome(ctx, err, stderr)
}

// A sink stops the program when what it prints cannot be taken.
type sink struct {
	io.Writer
	stop context.CancelCauseFunc
}

// Write hands p on.
func (s sink) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if err != nil {
		s.stop(err)
	}
	return n, err
}

func outcome(ctx context.Context, err error, stderr *Excerpt) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &ExitError{Code: exit.ExitCode(), Stderr: stderr.String()}
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		// It ended well; what it left behind was killed.
		return nil
	}
	return err
}
