package box_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/driftd/driftd/internal/box"
)

const limit = 256 << 20

func opened(t *testing.T, l box.Limits) *box.Box {
	t.Helper()
	if l.Memory == 0 {
		l.Memory = limit
	}
	if l.File == 0 {
		l.File = 1 << 20
	}
	b := box.NewPool().Open(l)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// do runs a job that returns a text.
func do(t *testing.T, b *box.Box, files fs.FS, job string, args any) (string, error) {
	t.Helper()
	var text string
	err := b.Do(t.Context(), files, job, args, &text)
	return text, err
}

func TestDo(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"dir/a.yaml": {Data: []byte("content")}, "large": {Data: make([]byte, 2<<20)}}
	b := opened(t, box.Limits{})
	for _, tc := range []struct {
		reason, job, args, want, err string
	}{
		{"a result", "echo", "hello", "hello", ""},
		{"an error is a text", "fail", "mine", "", "mine"},
		{"a panic tells nothing of the input", "panic", "password", "", "crashed on it"},
		{"no such job", "none", "", "", "no such job"},
		{"a file", "read", "dir/a.yaml", "content", ""},
		{"no such file", "read", "dir/b.yaml", "", "open dir/b.yaml: file does not exist"},
		{"a file outside", "read", "../../etc/passwd", "", "open ../../etc/passwd: invalid argument"},
		{"an absolute path", "read", "/etc/passwd", "", "open /etc/passwd: invalid argument"},
		{"a large file", "read", "large", "", "open large: larger than 1048576 bytes; raise max_file_size"},
		{"the size of a large file", "stat", "large", "-r--r--r-- 2097152", ""},
		{"a folder", "stat", "dir", "dr-xr-xr-x 0", ""},
		{"still the same process", "echo", "bye", "bye", ""},
	} {
		got, err := do(t, b, files, tc.job, tc.args)
		if got != tc.want || errorText(err) != tc.err {
			t.Errorf("%s: %q, %v; want %q, %s", tc.reason, got, err, tc.want, tc.err)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A soon is a context whose deadline is always near. The deadline has passed once late is
// set: no test depends on which of two deadlines a busy system notices first.
type soon struct {
	context.Context
	late *atomic.Bool
}

func endsSoon(t *testing.T) soon { return soon{t.Context(), new(atomic.Bool)} }

func (s soon) Deadline() (time.Time, bool) { return time.Now().Add(100 * time.Millisecond), true }

func (s soon) Err() error {
	if s.late.Load() {
		return context.DeadlineExceeded
	}
	return s.Context.Err()
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	b := opened(t, box.Limits{})
	if err := b.Do(endsSoon(t), fstest.MapFS{}, "spin", "", new(string)); !errors.Is(err, box.ErrTime) {
		t.Errorf("a job without end: %v", err)
	}
	if got, err := do(t, b, fstest.MapFS{}, "echo", "again"); got != "again" || err != nil {
		t.Errorf("afterwards: %q, %v", got, err)
	}
}

// A hungFS hangs as a network file system does whose server is gone: a stand-in.
type hungFS struct{ until chan struct{} }

func (h hungFS) Open(string) (fs.File, error) {
	<-h.until
	return nil, fs.ErrNotExist
}

// A lateFS hangs until after the deadline of the whole.
type lateFS struct {
	hungFS
	late *atomic.Bool
}

func (l lateFS) Open(name string) (fs.File, error) {
	l.late.Store(true)
	return l.hungFS.Open(name)
}

func TestHungFile(t *testing.T) {
	t.Parallel()
	hung := hungFS{make(chan struct{})}
	defer close(hung.until)
	b := opened(t, box.Limits{})
	ctx := endsSoon(t)
	for reason, files := range map[string]fs.FS{
		"there is time left":                        hung,
		"the process is ended when no time is left": lateFS{hung, ctx.late},
	} {
		// The start of the process must not take the time.
		if got, err := do(t, b, fstest.MapFS{}, "echo", "again"); got != "again" || err != nil {
			t.Errorf("before: %q, %v", got, err)
		}
		ctx.late.Store(false)
		if err := b.Do(ctx, files, "read", "a", new(string)); !errors.Is(err, box.ErrTime) {
			t.Errorf("a file that hangs, %s: %v", reason, err)
		}
	}
	if got, err := do(t, b, fstest.MapFS{}, "echo", "again"); got != "again" || err != nil {
		t.Errorf("afterwards: %q, %v", got, err)
	}
	ctx.late.Store(true)
	if err := b.Do(ctx, hung, "read", "a", new(string)); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, box.ErrTime) {
		t.Errorf("no time left at first: %v", err)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	p := box.NewPool()
	if p.Report() != nil {
		t.Error("known before a box was started")
	}
	r, err := p.Probe()
	if err != nil {
		t.Fatal(err)
	}
	if p.Report() != r || r.Lacks == nil || !strings.HasPrefix(r.String(), "sealed: memory limit, landlock ") {
		t.Errorf("report %+v", r)
	}
	weak := box.Report{Seals: []string{"memory limit"}, Lacks: []string{"seccomp (too old)", "landlock (off)"}}
	if want := "weak: no seccomp (too old), no landlock (off); has memory limit"; weak.String() != want {
		t.Errorf("report %q, want %q", weak, want)
	}
}

// Only so many jobs run at once; who waits may give up.
func TestPoolBounds(t *testing.T) {
	t.Parallel()
	p := box.NewPool()
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	entered := hungFS{make(chan struct{})}
	asked := make(chan struct{}, 10)
	for range 4 {
		busy.Go(func() {
			b := p.Open(box.Limits{Memory: limit, File: 1})
			_ = b.Do(ctx, countingFS{entered, asked}, "read", "a", new(string))
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	for range 4 {
		<-asked
	}
	waiting, giveUp := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer giveUp()
	b := p.Open(box.Limits{Memory: limit})
	if err := b.Do(waiting, fstest.MapFS{}, "echo", "x", new(string)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the fifth: %v", err)
	}
	stop()
	busy.Wait()
	close(entered.until)
	var got string
	if err := b.Do(t.Context(), fstest.MapFS{}, "echo", "x", &got); err != nil || got != "x" {
		t.Errorf("afterwards: %q, %v", got, err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

type countingFS struct {
	hungFS
	asked chan struct{}
}

func (c countingFS) Open(name string) (fs.File, error) {
	c.asked <- struct{}{}
	return c.hungFS.Open(name)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	b := opened(t, box.Limits{Network: true})
	var got []uint64
	if err := b.Do(t.Context(), fstest.MapFS{}, "limits", "", &got); err != nil || fmt.Sprint(got) != "[0 1073741824]" {
		t.Errorf("core and file size %v, %v", got, err)
	}
}
