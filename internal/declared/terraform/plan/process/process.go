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
	cmd.Dir, cmd.Env = c.Dir, env
	cmd.SysProcAttr = ownGroup()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = grace
	outputs, err := c.connect(cmd, stderr, stop)
	if err == nil {
		err = cmd.Start()
	}
	for _, o := range outputs {
		// The program has its own.
		_ = o.write.Close()
	}
	if err != nil {
		return fmt.Errorf("start %s: %w", c.Path, err)
	}
	return outcome(ctx, await(ctx, cmd, outputs, grace), stderr)
}

// await waits for the program and for what it wrote, and kills what it left.
func await(ctx context.Context, cmd *exec.Cmd, outputs []*output, grace time.Duration) (err error) {
	defer func() {
		if killErr := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); killErr != nil && !errors.Is(killErr, syscall.ESRCH) {
			err = errors.Join(err, fmt.Errorf("kill what %s left: %w", cmd.Path, killErr))
		}
	}()
	err = cmd.Wait()
	// What keeps the pipes open after the program ended is killed then.
	deadline := time.Now()
	if ctx.Err() == nil {
		deadline = deadline.Add(grace)
	}
	for _, o := range outputs {
		o.finish(deadline)
	}
	return err
}

// connect opens what the program writes to. It returns what it opened, also with an error.
func (c Command) connect(cmd *exec.Cmd, stderr io.Writer, stop context.CancelCauseFunc) (outputs []*output, err error) {
	errs, err := openOutput(stderr, stop)
	if err != nil {
		return nil, err
	}
	cmd.Stderr, outputs = errs.write, append(outputs, errs)
	if c.Stdout == nil {
		return outputs, nil
	}
	out, err := openOutput(c.Stdout, stop)
	if err != nil {
		return outputs, err
	}
	cmd.Stdout = out.write
	return append(outputs, out), nil
}

func outcome(ctx context.Context, err error, stderr *Excerpt) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &ExitError{Code: exit.ExitCode(), Stderr: stderr.String()}
	}
	return err
}
