package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"github.com/hashicorp/terraform-exec/tfexec"
	"github.com/sourcegraph/conc/panics"

	"github.com/driftd/driftd/internal/launch"
)

// A cli runs Terraform, OpenTofu or Terragrunt through terraform-exec. terraform-exec starts
// driftd's own program as a guard (launch.Launch). The guard runs path in a box, bounds its output,
// and ends all its child processes.
type cli struct {
	tf   *tfexec.Terraform
	path string
	env  []string
	// version is the version of the CLI.
	version string
	// launch holds the launch settings that all calls share.
	launch launch.Launch
	// stderr is the standard error output of the last command, which the guard bounds.
	stderr bytes.Buffer
}

// lateGuard is the additional time for the guard to end after the CLI: it kills the remaining child
// processes.
const lateGuard = 15 * time.Second

// terragruntVersion is the version of Terragrunt for terraform-exec, which asks for a version to
// determine the supported flags.
const terragruntVersion = "1.0.0"

// newCLI returns the CLI at a path, with dir as its working directory. It runs the CLI to get the
// version.
func newCLI(ctx context.Context, dir, path string, env []string, l launch.Launch, terragrunt bool) (*cli, error) {
	c := &cli{path: path, env: env, launch: l}
	c.launch.Program = path
	if terragrunt {
		c.launch.Version = terragruntVersion
	}
	var err error
	if c.tf, err = tfexec.NewTerraform(dir, launch.Program()); err != nil {
		return nil, err
	}
	if err := c.tf.SetWaitDelay(l.Grace + lateGuard); err != nil {
		return nil, err
	}
	c.tf.SetStderr(&c.stderr)
	err = c.run(ctx, call{output: maxVersion}, func(ctx context.Context, _ io.Writer) error {
		v, _, err := c.tf.Version(ctx, false)
		if err == nil {
			c.version = v.String()
		}
		return err
	})
	_, exited := errors.AsType[*exitError](err)
	_, unstarted := errors.AsType[*fs.PathError](err)
	if err != nil && !exited && !unstarted && ctx.Err() == nil {
		// The error of terraform-exec quotes the output, which may contain a secret.
		return nil, fmt.Errorf("%s does not print a version like Terraform; "+setBinary, path)
	}
	return c, err
}

// maxVersion bounds the output of the version command, in bytes. It lists all providers.
const maxVersion = 1 << 20

// A call holds the settings of one command.
type call struct {
	// write are additional folders that a boxed CLI may write to.
	write []string
	// args is an environment variable with arguments for which terraform-exec has no option, such
	// as "TF_CLI_ARGS_init=-lock=false".
	args string
	// output bounds the output of the command, and line each line of it, in bytes. 0 means no
	// bound.
	output int64
	line   int
	// stdout receives the output of the command. nil discards it. An error of stdout ends the
	// command.
	stdout io.Writer
}

// An exitError reports that the CLI exited with a status other than 0.
type exitError struct {
	code int
	// stderr is the beginning and the end of the standard error output.
	stderr string
}

// Error returns the exit status. It omits the output, which may contain secrets.
func (e *exitError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// run calls f, which calls a method of terraform-exec, and returns when the CLI and all its child
// processes have ended. The error is the cause of the context's end, an error of stdout, or an
// *exitError. f gets call.stdout in the form in which terraform-exec needs it.
func (c *cli) run(ctx context.Context, call call, f func(ctx context.Context, stdout io.Writer) error) error {
	l := c.launch
	l.Output, l.Line, l.Write = call.output, call.line, append(l.Write[:len(l.Write):len(l.Write)], call.write...)
	env := c.env
	if call.args != "" {
		env = append(env[:len(env):len(env)], call.args)
	}
	_, list, err := l.Start(env)
	if err != nil {
		return err
	}
	variables := map[string]string{}
	for _, variable := range list {
		name, value, _ := strings.Cut(variable, "=")
		variables[name] = value
	}
	if err := c.tf.SetEnv(variables); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out := &sink{w: call.stdout, stop: stop}
	if out.w == nil {
		out.w = io.Discard
	}
	c.stderr.Reset()
	c.tf.SetStdout(out)
	err = f(ctx, out)
	out.panicked.Repanic()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return &exitError{exit.ExitCode(), c.stderr.String()}
	}
	return err
}

// A sink is a writer for the output of a command. After an error or a panic of w, it ends the
// context and drops the rest. An error would make terraform-exec stop reading, which blocks the
// command; a panic in its goroutine would end driftd.
type sink struct {
	w        io.Writer
	stop     context.CancelCauseFunc
	failed   bool
	panicked panics.Catcher
}

// Write never returns an error.
func (s *sink) Write(p []byte) (int, error) {
	if s.failed {
		return len(p), nil
	}
	err := errPanicked
	s.panicked.Try(func() { _, err = s.w.Write(p) })
	if err != nil {
		s.failed = true
		s.stop(err)
	}
	return len(p), nil
}

var errPanicked = errors.New("driftd panicked")

// A writerFunc is a function that implements io.Writer.
type writerFunc func(p []byte) (int, error)

// Write calls f.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// lineWriter returns a writer that calls f with each line, without the line break. terraform-exec
// writes whole lines.
func lineWriter(f func(line []byte)) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		for line := range bytes.Lines(p) {
			f(bytes.TrimSuffix(line, []byte("\n")))
		}
		return len(p), nil
	})
}
