// Package process runs real servers beside tests.
package process

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// Log is the file that its output goes to.
	Log string
	// UID is who it runs as; 0 means as the caller.
	UID uint32
}

// A Process is a running program. It does not outlive the caller's.
type Process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{}
}

// Start starts a program. Whoever starts it stops it.
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
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", o.Program, err)
	}
	p := &Process{name: filepath.Base(o.Program), log: o.Log, cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		// How it ended is in its log; that it ended is what counts here.
		_ = cmd.Wait()
	}()
	return p, nil
}

// Wait waits for the program to end, and to end well.
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

// PID is the program's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited tells whether the program ended.
func (p *Process) Exited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Stop asks the program to end, also one that was paused, and waits for it.
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

// Kill ends the program at once, and waits for its end.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}

// Signal sends a signal. A program that has ended gets none.
func (p *Process) Signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal %s: %w", p.name, err)
	}
	return nil
}

// Log returns the end of what the program printed.
func (p *Process) Log() string {
	const bound = 2000
	b, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(bytes.TrimSpace(b[max(0, len(b)-bound):]))
}

// FreePorts returns ports that nobody listened on a moment ago. All are held
// until the last is found, so that none is handed out twice.
func FreePorts(n int) (ports []int, err error) {
	held := make([]net.Listener, 0, n)
	defer func() {
		for _, l := range held {
			err = errors.Join(err, l.Close())
		}
	}()
	for range n {
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return nil, fmt.Errorf("find free port: %w", err)
		}
		held = append(held, l)
		addr, _ := l.Addr().(*net.TCPAddr)
		ports = append(ports, addr.Port)
	}
	return ports, nil
}

// FreeAddress returns an address of this machine that nobody listened on a moment ago.
func FreeAddress() (string, error) {
	ports, err := FreePorts(1)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("127.0.0.1:%d", ports[0]), nil
}

// Driftd returns the path of the program under test: DRIFTD_TEST_BIN, or what make build built
// for a test in a folder below test.
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
