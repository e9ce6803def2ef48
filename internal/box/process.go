package box

import (
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/launch"
)

// A process is a running box, as its parent sees it.
type process struct {
	limits Limits
	cmd    *exec.Cmd
	in     io.WriteCloser
	// messages decodes what the process writes, and bounded limits that for each job.
	messages  *gob.Decoder
	bounded   *io.LimitedReader
	responses *gob.Encoder
	stderr    *beginning
	// temp is the folder that a box with a network may write to, or "".
	temp   string
	ending sync.Once
	endErr error
}

// inside is set in the environment of a box: a program that does not call Serve must not
// start itself again and again.
const inside = "DRIFTD_BOX"

// headroom is $GOGC of a box. A small job would otherwise collect its first few megabytes again and again; a large one is
// collected earlier, because of its memory limit.
const headroom = "200"

// start starts a process, and waits until it is sealed, or until ctx ends.
func (p *Pool) start(ctx context.Context, l Limits) (_ *process, err error) {
	b := &process{limits: l, stderr: &beginning{}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("start a process for foreign input: %w", err)
		}
	}()
	if os.Getenv(inside) != "" {
		return nil, errors.New("this program is started as a box and does not call Serve")
	}
	env := []string{inside + "=1", "GORACE=" + os.Getenv("GORACE"), "GOGC=" + headroom}
	if l.Network {
		if b.temp, err = os.MkdirTemp("", "driftd-box-"); err != nil {
			return nil, err
		}
		env = append(env, networkEnv(b.temp)...)
	}
	b.cmd = &exec.Cmd{Path: cmp.Or(l.Program, launch.Program()), Args: []string{"driftd", Verb}, Env: env, Stderr: b.stderr, SysProcAttr: attributes(l),
		// A program that the process started may hold the pipes open.
		WaitDelay: time.Second}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, b.clean())
	}
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return nil, errors.Join(err, b.clean())
	}
	if err := b.cmd.Start(); err != nil {
		return nil, errors.Join(err, b.clean())
	}
	defer context.AfterFunc(ctx, b.kill)()
	b.bounded = &io.LimitedReader{R: out, N: maxResult}
	b.messages, b.responses = gob.NewDecoder(b.bounded), gob.NewEncoder(b.in)
	var report Report
	if err = b.responses.Encode(setup{Limits: l, Temp: b.temp}); err == nil {
		err = b.messages.Decode(&report)
	}
	if err != nil {
		return nil, cmp.Or(ctx.Err(), b.cause())
	}
	if !l.Network {
		// gob decodes an empty list as nil.
		report.Lacks = append([]string{}, report.Lacks...)
		p.report.Store(&report)
	}
	return b, nil
}

// do runs one job. After an error the process must be ended.
func (b *process) do(ctx context.Context, files fs.FS, r request) (message, error) {
	defer context.AfterFunc(ctx, b.kill)()
	type outcome struct {
		result message
		err    error
	}
	done := make(chan outcome, 1)
	// The goroutine outlives ctx where the read of a file hangs.
	go func() {
		result, err := b.exchange(files, r)
		done <- outcome{result, err}
	}()
	var o outcome
	select {
	case <-ctx.Done():
		return message{}, ctx.Err()
	case o = <-done:
	}
	switch {
	case o.err == nil:
		return o.result, nil
	case ctx.Err() != nil:
		return message{}, ctx.Err()
	}
	return message{}, b.cause()
}

// exchange requests a job, responds to its requests for files, and returns its result.
func (b *process) exchange(files fs.FS, r request) (message, error) {
	b.bounded.N = maxResult
	if err := b.responses.Encode(r); err != nil {
		return message{}, err
	}
	for {
		var m message
		if err := b.messages.Decode(&m); err != nil {
			return message{}, err
		}
		if m.Done {
			return m, nil
		}
		if err := b.responses.Encode(respond(&m, files, b.limits.File)); err != nil {
			return message{}, err
		}
	}
}

// cause returns why the process ended. The error holds nothing that the process wrote,
// which may hold any part of the input.
func (b *process) cause() error {
	if b.bounded.N <= 0 {
		return ErrResult
	}
	// A failure to end the process is not the cause.
	_ = b.end()
	text, state := b.stderr.String(), b.cmd.ProcessState
	switch {
	case strings.Contains(text, "out of memory"), strings.Contains(text, "cannot allocate memory"), strings.Contains(text, "stack exceeds"):
		return fmt.Errorf("%w (%d MiB)", ErrMemory, b.limits.Memory>>20)
	case strings.Contains(text, "failed to create new OS thread"), strings.Contains(text, "pthread_create failed"):
		return fmt.Errorf("%w (%d MiB), or the system gives it no more threads", ErrMemory, b.limits.Memory>>20)
	case state != nil && state.UserTime()+state.SystemTime() >= maxCPU:
		return fmt.Errorf("%w: it took more than %s of CPU time", ErrEnded, maxCPU)
	}
	// Go's runtime does not report every failed allocation: it may also crash in other ways.
	if peakMemory(state) >= b.limits.Memory/4*3 {
		return fmt.Errorf("%w (%d MiB)", ErrMemory, b.limits.Memory>>20)
	}
	return fmt.Errorf("%w: %s", ErrEnded, state)
}

// kill kills the process and the programs that it started.
func (b *process) kill() { killGroup(b.cmd.Process) }

// end kills the process and removes its temporary folder.
func (b *process) end() error {
	b.ending.Do(func() {
		_ = b.in.Close()
		b.kill()
		_ = b.cmd.Wait()
		b.endErr = b.clean()
	})
	return b.endErr
}

// clean removes the temporary folder.
func (b *process) clean() error {
	if b.temp == "" {
		return nil
	}
	if err := os.RemoveAll(b.temp); err != nil {
		return fmt.Errorf("remove temporary folder: %w", err)
	}
	return nil
}

// A beginning is a writer that keeps the first maxBeginning bytes. It is safe for
// concurrent use.
type beginning struct {
	mu   sync.Mutex
	text []byte
}

// maxBeginning is in bytes. A Go program that crashes writes the reason before the stacks
// of its goroutines.
const maxBeginning = 64 << 10

// Write implements io.Writer.
func (h *beginning) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if room := maxBeginning - len(h.text); room > 0 {
		h.text = append(h.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// String returns what the writer kept.
func (h *beginning) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}
