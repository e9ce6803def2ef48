package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func shell(script string) Command {
	return Command{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")}}
}

func TestRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := shell("pwd; echo $GIVEN$HOME")
	c.Dir, c.Stdout, c.Env = t.TempDir(), &out, append(c.Env, "GIVEN=given")
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := c.Dir + "\ngiven\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestRunFails(t *testing.T) {
	t.Parallel()
	err := shell("echo trouble >&2; exit 3").Run(t.Context())
	exit, ok := errors.AsType[*ExitError](err)
	if !ok || exit.Code != 3 || exit.Stderr != "trouble\n" || exit.Error() != "exit status 3" {
		t.Errorf("got %v", err)
	}
	if err := (Command{Path: filepath.Join(t.TempDir(), "gone")}).Run(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(io.ErrClosedPipe)
	if err := shell("true").Run(cancelled); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

// TestNothingOutlivesIt runs a program whose child keeps the pipes open. The
// child is the only one that could still hold the fifo's reading end.
func TestNothingOutlivesIt(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"exit 0", "exit 1", "trap '' INT; sleep 1000"} {
		dir := t.TempDir()
		fifo := filepath.Join(dir, "fifo")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		c := shell("exec 4<fifo; sleep 1000 & " + end)
		c.Dir, c.Grace = dir, 50*time.Millisecond
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		// Opening waits until the program has opened it, too.
		held, err := os.OpenFile(fifo, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(end, "sleep") {
			cancel()
		}
		err = <-done
		if _, exited := errors.AsType[*ExitError](err); err != nil && !exited && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", end, err)
		}
		// Writing fails as soon as nobody can read; until then it may fill the
		// pipe and wait.
		for err = nil; err == nil; {
			_, err = held.Write(make([]byte, 1<<16))
		}
		if !errors.Is(err, syscall.EPIPE) {
			t.Errorf("%s: got %v", end, err)
		}
		if err := held.Close(); err != nil {
			t.Error(err)
		}
		cancel()
	}
}

// A late writer takes nothing before the program has ended and was waited for.
type late struct {
	bytes.Buffer
	fifo string
}

func (l *late) Write(p []byte) (int, error) {
	if l.Len() == 0 {
		pid, err := os.ReadFile(l.fifo) // to its end, which is the program's
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(pid)))
		if err != nil {
			return 0, err
		}
		for !errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
			runtime.Gosched()
		}
	}
	return l.Buffer.Write(p)
}

// TestLateReader reads what a program wrote when its time to end is long over.
func TestLateReader(t *testing.T) {
	t.Parallel()
	const size = 60_000 // fits into a pipe
	for range 20 {
		dir := t.TempDir()
		out := &late{fifo: filepath.Join(dir, "fifo")}
		if err := syscall.Mkfifo(out.fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		c := shell("echo begin; exec 4>fifo; echo $$ >&4; head -c " + strconv.Itoa(size) + " /dev/zero")
		c.Dir, c.Stdout, c.Grace = dir, out, time.Nanosecond
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := size + len("begin\n"); out.Len() != want {
			t.Errorf("got %d bytes, want %d", out.Len(), want)
		}
	}
}

// A broken writer is one that a line breaks.
type broken struct{}

func (broken) Write([]byte) (int, error) { panic("broken") }

// TestPanic holds that the panic of a writer is Run's, and ends its caller and not driftd.
func TestPanic(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	c := shell("echo line")
	c.Stdout = broken{}
	if err := c.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTooMuch(t *testing.T) {
	t.Parallel()
	c := shell("while :; do echo more; done")
	c.Stdout = &Buffer{Limit: 1000}
	if err := c.Run(t.Context()); !errors.Is(err, ErrTooMuch) {
		t.Errorf("got %v", err)
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		limit  int
		writes []string
		want   string
	}{
		"nothing":        {10, nil, ""},
		"all":            {10, []string{"12345", "67890"}, "1234567890"},
		"whole lines":    {16, []string{"first\nsecret-", "secret-secret", "-secret\nlast\n"}, "first\n…\nlast\n"},
		"one long line":  {8, []string{strings.Repeat("x", 100)}, "…\n"},
		"many, one each": {8, strings.Split(strings.Repeat("a\n", 50), ""), "a\na\n…\na\n"},
	}
	for name, tt := range tests {
		e := &Excerpt{Limit: tt.limit}
		for _, w := range tt.writes {
			if n, err := e.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("%s: wrote %d, %v", name, n, err)
			}
		}
		if d := cmp.Diff(tt.want, e.String()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestExcerptIsSmall writes a hundred megabytes in one line.
func TestExcerptIsSmall(t *testing.T) {
	t.Parallel()
	e := &Excerpt{Limit: 1 << 10}
	for range 100 {
		if _, err := e.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if size := cap(e.head) + cap(e.tail); size > 16<<10 {
		t.Errorf("keeps %d bytes", size)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	var got []string
	l := &Lines{Limit: 5, Line: func(line []byte) { got = append(got, string(line)) }}
	for _, w := range []string{"a\nb", "c\n\n", "too long", " still\nd\n", "12345\n123456\n", "end"} {
		if n, err := l.Write([]byte(w)); n != len(w) || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
	}
	l.Close()
	if d := cmp.Diff([]string{"a", "bc", "d", "12345", "end"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
