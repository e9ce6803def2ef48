package launch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/launch"
)

// TestMain is also the parent of a guarded program.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == launchVerb {
		os.Exit(startGuard(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

// launchVerb makes the test program the parent of a guarded program: its further arguments
// are a launch.Launch, and the program's arguments.
const launchVerb = "launch"

func startGuard(text string, args []string) int {
	var l launch.Launch
	err := json.Unmarshal([]byte(text), &l)
	if err != nil {
		return 90
	}
	cmd := exec.Command("")
	if cmd.Path, cmd.Env, err = l.Start(os.Environ()); err != nil {
		return 91
	}
	// The library that starts the guard may add variables of its own.
	cmd.Env = append(cmd.Env, "PLUS_OF_LIBRARY=1")
	cmd.Err = nil
	cmd.Args = append([]string{"guard"}, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// As terraform-exec does.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		return 92
	}
	return 0
}

// guarded returns a command that runs a shell script under l.
func guarded(t *testing.T, l launch.Launch, script string, args ...string) *exec.Cmd {
	t.Helper()
	l.Program = "/bin/sh"
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{launchVerb, string(text), "-c", script, "sh"}, args...)...)
	cmd.Env = append(os.Environ(), "SECRET_OF_PARENT=hunter2")
	return cmd
}

// secretFile returns a file that no program of a plan is meant to read.
func secretFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLaunch(t *testing.T) {
	t.Parallel()
	secret, own := secretFile(t), t.TempDir()
	pid := strconv.Itoa(os.Getpid())
	tests := map[string]struct {
		reason string
		launch launch.Launch
		script string
		status int
		prints string
	}{
		"status":        {"the program's own", launch.Launch{}, "echo done; exit 3", 3, "done\n"},
		"signal":        {"as a shell says it", launch.Launch{}, "kill -TERM $$", 128 + 15, ""},
		"environment":   {"nothing of the guard's is passed on", launch.Launch{}, "env | grep -c -e DRIFTD -e PLUS_OF_LIBRARY", 1, "0\n"},
		"output":        {"as much as is allowed", launch.Launch{Output: 100_000}, "head -c 100000 /dev/zero | tr '\\0' x; exit 3", 3, strings.Repeat("x", 100_000)},
		"too much":      {"more than is allowed", launch.Launch{Output: 1 << 20}, "while :; do echo more; done", 1, "\nError: the program prints more than 1 MiB\n"},
		"lines":         {"a line that is too long", launch.Launch{Line: 4}, "echo 1234; echo 12345; echo end; exit 3", 3, "1234\nend\n"},
		"stderr":        {"is bounded", launch.Launch{}, "echo begin >&2; head -c 9000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo end >&2", 0, "begin\n…\nend\n"},
		"core":          {"no memory is written to disk", launch.Launch{}, "ulimit -Hc", 0, "0\n"},
		"secret":        {"a file that nobody named", launch.Launch{}, "cat $1 2>&1", 1, "Permission denied"},
		"open":          {"without a seal", launch.Launch{Open: true}, "cat $1", 0, "hunter2"},
		"named":         {"a file that is named", launch.Launch{Read: []string{secret}}, "cat $1", 0, "hunter2"},
		"named, to run": {"what is named may be run, not written", launch.Launch{Read: []string{secret}}, "echo x >$1", 2, "Permission denied"},
		"missing":       {"what does not exist is left out", launch.Launch{Read: []string{"/nowhere"}, Write: []string{"/nowhere"}}, "echo done", 0, "done\n"},
		"elsewhere":     {"a folder that nobody named", launch.Launch{}, "echo x >$2/x", 2, "Permission denied"},
		"own":           {"folders to write to: also moving between them", launch.Launch{Write: []string{own}}, "mkdir $2/a $2/b && echo x >$2/a/x && mv $2/a/x $2/b/ && cat $2/b/x", 0, "x\n"},
		"environ":       {"of the process that holds the credentials", launch.Launch{}, "cat /proc/" + pid + "/environ 2>&1", 1, "Permission denied"},
		"signals":       {"to processes outside", launch.Launch{}, "kill -0 " + pid + " 2>&1", 1, "Operation not permitted"},
		"guard":         {"nor to the guard", launch.Launch{}, "kill -KILL $PPID 2>&1", 1, "Operation not permitted"},
		"child":         {"to its own children", launch.Launch{}, "sleep 1000 & kill -TERM $! && echo done", 0, "done\n"},
		"privileges":    {"no program gives more", launch.Launch{}, "grep NoNewPrivs /proc/self/status; echo", 0, "\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := guarded(t, tt.launch, tt.script, secret, own).CombinedOutput()
			status := 0
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				status = exit.ExitCode()
			}
			if status != tt.status || !strings.Contains(string(out), tt.prints) {
				t.Errorf("%s: status %d, want %d; printed %q, want %q", tt.reason, status, tt.status, out, tt.prints)
			}
		})
	}
}

// TestOutputOfEndedProgram tests that too much output is an error although the program ends
// before the guard has read it.
func TestOutputOfEndedProgram(t *testing.T) {
	t.Parallel()
	for range 20 {
		out, err := guarded(t, launch.Launch{Output: 30_000}, "head -c 30001 /dev/zero", "", "").CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(string(out), "the program prints more than") {
			t.Fatalf("got %v", err)
		}
	}
}

// leaveBehind starts a process that leaves its group and its parent, and holds the fifo
// $1 open. It prints a line when that runs.
const leaveBehind = `setsid sh -c '(trap "" INT TERM HUP; exec 4<"$0"; echo left; exec sleep 1000) &' "$1"; `

// TestLaunchLeavesNothing ends a guarded program in each way, and finds that no process
// holds the fifo any more that one of it opened.
func TestLaunchLeavesNothing(t *testing.T) {
	t.Parallel()
	end := map[string]struct {
		reason, script string
		by             func(*exec.Cmd) error
	}{
		"by itself":   {"it ends well", "read line <$1", nil},
		"interrupted": {"it is asked to stop, and ignores that", "trap '' INT; sleep 1000", func(cmd *exec.Cmd) error { return toGuard(cmd, syscall.SIGINT) }},
		"orphaned":    {"driftd is killed", "trap '' INT; sleep 1000", func(cmd *exec.Cmd) error { return cmd.Process.Kill() }},
	}
	for name, tt := range end {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fifo := filepath.Join(t.TempDir(), "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := guarded(t, launch.Launch{Open: true, Grace: time.Millisecond}, leaveBehind+tt.script, fifo)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			held, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits for the reader
			if err != nil {
				t.Fatal(err)
			}
			if tt.by == nil {
				_, err = held.WriteString("line\n")
			} else {
				err = tt.by(cmd)
			}
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // its status is not the matter here
			// Writing fails as soon as no process can read; until then it fills the
			// pipe and waits.
			for err = nil; err == nil; {
				_, err = held.Write(make([]byte, 1<<16))
			}
			if !errors.Is(err, syscall.EPIPE) {
				t.Errorf("%s: %v", tt.reason, err)
			}
			if err := held.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// toGuard signals the guard, the only child of the command.
func toGuard(cmd *exec.Cmd, s syscall.Signal) error {
	for {
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
		if err != nil {
			return err
		}
		for _, file := range lists {
			var guard int
			text, _ := os.ReadFile(file) // a thread may have ended
			if _, err := fmt.Sscan(string(text), &guard); err == nil {
				return syscall.Kill(guard, s)
			}
		}
	}
}

func TestLaunchMemory(t *testing.T) {
	t.Parallel()
	// Two processes hold half of it each.
	script := `hold() { x=$(head -c 60000000 /dev/zero | tr '\0' x); read line <$1; }; mkfifo $1/f; hold $1/f & hold $1/f`
	dir := t.TempDir()
	l := launch.Launch{Write: []string{dir}, Memory: 100 << 20, MemorySetting: "max_plan_memory"}
	out, err := guarded(t, l, script, dir).CombinedOutput()
	if want := "Error: the program and what it started needed more memory than max_plan_memory (100 MiB)"; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("got %v, %s, want %q", err, out, want)
	}
}

// TestLaunchVersion tests the answer of the guard for a program without the command.
func TestLaunchVersion(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(launch.Launch{Program: "/bin/false", Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), os.Args[0], launchVerb, string(text), "version", "-json").CombinedOutput()
	if want := `{"terraform_version":"1.2.3"}` + "\n"; err != nil || string(out) != want {
		t.Errorf("got %v, %q", err, out)
	}
}

// TestLaunchFails holds that a program that cannot be started is an error, as the CLI's own
// errors are written.
func TestLaunchFails(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(launch.Launch{Program: "/nowhere/terraform"})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), os.Args[0], launchVerb, string(text)).CombinedOutput()
	if want := "\nError: driftd: start /nowhere/terraform: no such file or directory\n"; err == nil || string(out) != want {
		t.Errorf("got %v, %q", err, out)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], launchVerb, "{}")
	cmd.Env = append(os.Environ(), "DRIFTD_LAUNCH=what is no order")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "Error: ") {
		t.Errorf("a broken order: got %v, %q", err, out)
	}
}
