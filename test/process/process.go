// Package process runs programs for tests: servers, and driftd itself.
package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const stopTimeout = 15 * time.Second

// Options of a process.
type Options struct {
	Program string
	Args    []string
	// Env is its whole environment; nil means the caller's.
	Env []string
	// Log is the file for its output.
	Log string
	// UID is the user that it runs as; 0 means the caller's.
	UID uint32
}

// A Process is a started program.
type Process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{}
}

// Start starts a program in a process group of its own. On Linux it is killed when the caller's
// process ends.
func Start(o Options) (*Process, error) {
	out, err := os.Create(o.Log)
	if err != nil {
		return nil, fmt.Errorf("make log of %s: %w", o.Program, err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(o.Program, o.Args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = o.Env, out, out
	cmd.SysProcAttr = dieWithParent()
	if o.UID != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: o.UID, Gid: o.UID}
	}
	p, err := Watch(cmd)
	if err != nil {
		return nil, err
	}
	p.log = o.Log
	return p, nil
}

// Watch starts a command as it is, and waits for its end in the background.
func Watch(cmd *exec.Cmd) (*Process, error) {
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	p := &Process{name: filepath.Base(cmd.Path), cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // The callers use the ProcessState.
	}()
	return p, nil
}

// Run runs a command to its end, and returns its output and exit code. An exit code other than
// 0 is not an error.
func Run(cmd *exec.Cmd) (stdout, stderr string, code int, err error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return "", "", -1, fmt.Errorf("run %s: %w", cmd.Path, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode(), nil
}

// Done returns a channel that is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// ExitCode returns the exit code of a program that has ended, or -1 if a signal ended it.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Wait waits for the program to end. It returns an error if the program failed.
func (p *Process) Wait(ctx context.Context) error {
	select {
	case <-p.done:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("wait for %s: %w", p.name, ctx.Err()), p.Kill())
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("%s: %s: %s", p.name, p.cmd.ProcessState, p.Log())
	}
	return nil
}

// PID returns the process ID.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited reports whether the program has ended.
func (p *Process) Exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Stop sends SIGTERM to the program, resumes it if it was paused, and waits for its end. After
// stopTimeout it kills the program, and returns an error.
func (p *Process) Stop() error {
	if err := errors.Join(p.Signal(syscall.SIGTERM), p.Signal(syscall.SIGCONT)); err != nil {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(stopTimeout):
	}
	return errors.Join(fmt.Errorf("stop %s: it had to be killed after %s", p.name, stopTimeout), p.Kill())
}

// Kill sends SIGKILL to the program, and waits for its end.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// Signal sends a signal to the program unless it has ended.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.name, err)
	}
	return nil
}

// Log returns the end of the output of a program that Start started.
func (p *Process) Log() string {
	const bound = 2000
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(b[max(0, len(b)-bound):]))
}

// FreePorts returns TCP ports of the loopback address that were free. All are held until the
// last is found, so that no port is returned twice.
func FreePorts(n int) (ports []int, err error) {
	held := make([]net.Listener, 0, n)
	defer func() {
		for _, l := range held {
			err = errors.Join(err, l.Close())
		}
	}()
	for tries := 0; len(ports) < n; tries++ {
		port := firstPort + rand.IntN(endPort-firstPort)
		l, err := net.ListenTCP("tcp", &net.TCPAddr{Port: port})
		if err != nil {
			if tries > 100*n {
				return nil, fmt.Errorf("find free port: %w", err)
			}
			continue
		}
		held = append(held, l)
		ports = append(ports, port)
	}
	return ports, nil
}

// The range of FreePorts is below that from which Linux takes the ports of outgoing connections, one of
// which could take a port before a server listens on it.
const firstPort, endPort = 10_000, 32_000

// FreeAddress returns a loopback address with a port that was free.
func FreeAddress() (string, error) {
	ports, err := FreePorts(1)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0]), nil
}

// Driftd returns the path of the program under test: DRIFTD_TEST_BIN, or the output of make
// build, for a test in a folder below test.
func Driftd() (string, error) {
	path, err := filepath.Abs(cmp.Or(os.Getenv("DRIFTD_TEST_BIN"), filepath.Join("..", "..", "bin", "driftd")))
	if err != nil {
		return "", fmt.Errorf("find driftd: %w", err)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("find driftd: %w: run make build", err)
	}
	return path, nil
}
