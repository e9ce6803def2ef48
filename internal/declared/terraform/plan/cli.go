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

	"github.com/driftd/driftd/internal/box"
)

// A cli runs Terraform, OpenTofu or Terragrunt through terraform-exec. What
// terraform-exec starts is driftd's own program as a guard (box.Launch): it runs
// path, bounds its output, ends all that it started, and seals it.
type cli struct {
	tf   *tfexec.Terraform
	path string
	env  []string
	// version is what it prints of its own.
	version string
	// launch is how it is run, without what differs from call to call.
	launch box.Launch
	// stderr is what the last command printed there, which the guard bounds.
	stderr bytes.Buffer
}

// lateGuard is how much longer than the CLI a guard may take to end: it kills what the
// CLI left.
const lateGuard = 15 * time.Second

// terragruntVersion answers the question for the version of Terragrunt, which
// terraform-exec asks to know which flags there are.
const terragruntVersion = "1.0.0"

// newCLI returns the CLI at a path, to be run in dir. It asks for its version.
func newCLI(ctx context.Context, dir, path string, env []string, l box.Launch, terragrunt bool) (*cli, error) {
	c := &cli{path: path, env: env, launch: l}
	c.launch.Program = path
	if terragrunt {
		c.launch.Version = terragruntVersion
	}
	var err error
	if c.tf, err = tfexec.NewTerraform(dir, box.Program()); err != nil {
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
		// The error of terraform-exec quotes what was printed, which may hold a secret.
		return nil, fmt.Errorf("%s does not print its version as Terraform does; name terraform or tofu as binary", path)
	}
	return c, err
}

// maxVersion bounds what the CLI prints of its version, in bytes: it names all providers.
const maxVersion = 1 << 20

// A call is how one command is run.
type call struct {
	// write are folders that a boxed CLI may write to beside its own.
	write []string
	// args is a variable that adds arguments for which terraform-exec has no option, such
	// as "TF_CLI_ARGS_init=-lock=false".
	args string
	// output bounds what the command prints, in bytes, and line each line of it; 0 for no
	// bound.
	output int64
	line   int
	// stdout takes what the command prints; nil discards it. Its error ends the command.
	stdout io.Writer
}

// An exitError reports that the CLI ended with a status other than 0.
type exitError struct {
	code int
	// stderr is the beginning and the end of what it printed there.
	stderr string
}

// Error returns the status; what was printed may hold secrets.
func (e *exitError) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// run runs f, which calls a method of terraform-exec, and returns when the CLI and all that
// it started have ended. Its error is the cause of the context's end, an error of stdout, or
// an *exitError. f gets call.stdout as it has to be passed to terraform-exec.
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

// A sink is a writer for the output of a command. After an error or a panic of w it ends the
// context and drops the rest. Otherwise terraform-exec would stop reading, which blocks the
// command, and a panic in its goroutine would end driftd.
type sink struct {
	w        io.Writer
	stop     context.CancelCauseFunc
	failed   bool
	panicked panics.Catcher
}

// Write never fails.
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

// A writerFunc is a writer.
type writerFunc func(p []byte) (int, error)

// Write calls f.
func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// lineWriter returns a writer that calls f with each line, without its end. terraform-exec
// writes whole lines.
func lineWriter(f func(line []byte)) io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		for line := range bytes.Lines(p) {
			f(bytes.TrimSuffix(line, []byte("\n")))
		}
		return len(p), nil
	})
}
