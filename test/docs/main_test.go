package docs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/cli"
)

// TestMain makes the test binary the programs that pages call: driftd, and a systemctl that starts and stops it.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "driftd":
		os.Exit(asDriftd(os.Args[1:]))
	case "systemctl":
		os.Exit(asSystemctl(os.Args[1:]))
	}
	os.Exit(m.Run())
}

const (
	// realRun is the variable that makes the program driftd and nothing else.
	realRun = "DRIFTD_TEST_DOCS_REAL"
	// runDir is the variable with the folder of background processes: it has a file for each,
	// named by its process ID, with its output.
	runDir = "DRIFTD_TEST_DOCS_RUN"
	// patience bounds each wait on a busy machine.
	patience = 2 * time.Minute
)

// asDriftd runs driftd for the commands of pages. The daemon and the demonstration continue in
// the background once they are ready; drift is no failure.
func asDriftd(args []string) int {
	if os.Getenv(realRun) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		return cli.Run(ctx, cli.Build{Version: "1.2.3"}, args, cli.Streams{Out: os.Stdout, Err: os.Stderr})
	}
	if err := os.Setenv(realRun, "1"); err != nil {
		return fail(err)
	}
	if len(args) == 1 && args[0] == "demo" {
		return background(args, showsAddress)
	}
	if len(args) > 0 && args[0] == "serve" {
		return background(args, listens)
	}
	return driftedOr(foreground(args))
}

// driftedOr replaces the exit codes of findings by 0.
func driftedOr(code int) int {
	if code == 2 || code == 3 {
		return 0
	}
	return code
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "docs:", err)
	return 1
}

func foreground(args []string) int {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return exitCode(cmd.Run())
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return fail(err)
}

// background starts driftd, and returns when it is ready.
func background(args []string, ready func(output string) bool) int {
	dir := os.Getenv(runDir)
	out, err := os.CreateTemp(dir, "starting-")
	if err != nil {
		return fail(err)
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return fail(err)
	}
	name := filepath.Join(dir, strconv.Itoa(cmd.Process.Pid))
	if err := os.Rename(out.Name(), name); err != nil {
		return fail(err)
	}
	ended := make(chan int, 1)
	go func() { ended <- exitCode(cmd.Wait()) }()
	deadline, again := time.After(patience), time.NewTicker(20*time.Millisecond)
	for {
		said, err := os.ReadFile(name)
		select {
		case code := <-ended:
			return fail(fmt.Errorf("it ended with %d: %s", code, said))
		case <-deadline:
			return fail(fmt.Errorf("it is not ready: %s", said))
		case <-again.C:
		}
		if err == nil && ready(string(said)) {
			return 0
		}
	}
}

// showsAddress reports whether the demonstration printed the address of its page.
func showsAddress(output string) bool { return strings.Contains(output, "http://127.0.0.1:") }

// listens reports whether the daemon responds on its socket.
func listens(output string) bool { return strings.Contains(output, "driftd.sock") }

// asSystemctl starts and stops driftd like systemd.
func asSystemctl(args []string) int {
	if len(args) == 1 && args[0] == "daemon-reload" {
		return 0
	}
	if len(args) < 2 || args[len(args)-1] != "driftd" {
		return fail(fmt.Errorf("systemctl %q: it knows driftd alone", args))
	}
	driftd := filepath.Join(filepath.Dir(os.Args[0]), "driftd")
	switch args[0] {
	case "start", "enable":
		return exitCode(attached(driftd, "serve"))
	case "stop":
		return exitCode(endAll(os.Getenv(runDir), syscall.SIGTERM))
	case "restart":
		if err := endAll(os.Getenv(runDir), syscall.SIGTERM); err != nil {
			return fail(err)
		}
		return exitCode(attached(driftd, "serve"))
	case "reload":
		return exitCode(signalAll(os.Getenv(runDir), syscall.SIGHUP))
	}
	return fail(fmt.Errorf("systemctl %s: it does not know how", args[0]))
}

func attached(program string, args ...string) error {
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// running returns the background processes.
func running(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

func signalAll(dir string, s syscall.Signal) error {
	pids, err := running(dir)
	if err != nil {
		return err
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("signal %d: %w", pid, err)
		}
	}
	return nil
}

// endAll stops the background processes, and waits for them.
func endAll(dir string, s syscall.Signal) error {
	if err := signalAll(dir, s); err != nil {
		return err
	}
	pids, err := running(dir)
	if err != nil {
		return err
	}
	deadline, again := time.After(patience), time.NewTicker(10*time.Millisecond)
	defer again.Stop()
	for slices.ContainsFunc(pids, alive) {
		select {
		case <-deadline:
			return fmt.Errorf("processes %v do not end", pids)
		case <-again.C:
		}
	}
	for _, pid := range pids {
		if err := os.Remove(filepath.Join(dir, strconv.Itoa(pid))); err != nil {
			return err
		}
	}
	return nil
}

// alive reports whether a process has not ended; a zombie has.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
