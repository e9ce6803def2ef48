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
)

// A process is a running box, as its parent sees it.
type process struct {
	limits Limits
	cmd    *exec.Cmd
	in     io.WriteCloser
	// said is what the process writes, and bounded what is left of it to read in
	// this job.
	said    *gob.Decoder
	bounded *io.LimitedReader
	orders  *gob.Encoder
	errs    *head
	// temp is the folder that a box with a network may write to, or "".
	temp   string
	ending sync.Once
	endErr error
}

// inside is set in the environment of a box: a program that is none must not start
// itself again and again.
const inside = "DRIFTD_BOX"

// start starts a process, and waits until it is sealed, or until ctx ends.
func (p *Pool) start(ctx context.Context, l Limits) (_ *process, err error) {
	b := &process{limits: l, errs: &head{}}
	defer func() {
		if err != nil {
			err = fmt.Errorf("start a process for foreign input: %w", err)
		}
	}()
	if os.Getenv(inside) != "" {
		return nil, errors.New("this program is started as a box and does not call Serve")
	}
	env := []string{inside + "=1", "GORACE=" + os.Getenv("GORACE")}
	if l.Network {
		if b.temp, err = os.MkdirTemp("", "driftd-box-"); err != nil {
			return nil, err
		}
		env = append(env, networkEnv(b.temp)...)
	}
	b.cmd = &exec.Cmd{Path: program(), Args: []string{"driftd", Verb}, Env: env, Stderr: b.errs, SysProcAttr: attributes(l),
		// A program that it started may hold the pipes open.
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
	b.said, b.orders = gob.NewDecoder(b.bounded), gob.NewEncoder(b.in)
	var report Report
	if err = b.orders.Encode(setup{Limits: l, Temp: b.temp}); err == nil {
		err = b.said.Decode(&report)
	}
	if err != nil {
		return nil, cmp.Or(ctx.Err(), b.cause())
	}
	if !l.Network {
		// An empty list does not cross a pipe as one.
		report.Lacks = append([]string{}, report.Lacks...)
		p.report.Store(&report)
	}
	return b, nil
}

// do runs one job. After an error the process is of no more use.
func (b *process) do(ctx context.Context, files fs.FS, o order) (word, error) {
	defer context.AfterFunc(ctx, b.kill)()
	type outcome struct {
		said word
		err  error
	}
	talked := make(chan outcome, 1)
	// A file that hangs is left behind.
	go func() {
		w, err := b.talk(files, o)
		talked <- outcome{w, err}
	}()
	var t outcome
	select {
	case <-ctx.Done():
		return word{}, ctx.Err()
	case t = <-talked:
	}
	switch {
	case t.err == nil:
		return t.said, nil
	case ctx.Err() != nil:
		return word{}, ctx.Err()
	}
	return word{}, b.cause()
}

// talk sends an order, and answers what the process asks until it is done.
func (b *process) talk(files fs.FS, o order) (word, error) {
	b.bounded.N = maxResult
	if err := b.orders.Encode(o); err != nil {
		return word{}, err
	}
	for {
		var w word
		if err := b.said.Decode(&w); err != nil {
			return word{}, err
		}
		if w.Done {
			return w, nil
		}
		if err := b.orders.Encode(answerTo(&w, files, b.limits.File)); err != nil {
			return word{}, err
		}
	}
}

// cause returns why the process broke off. Nothing that it wrote is shown: it may hold
// anything of the input.
func (b *process) cause() error {
	if b.bounded.N <= 0 {
		return ErrResult
	}
	// How it ended is the cause, and not a failure to end it.
	_ = b.end()
	text, state := b.errs.String(), b.cmd.ProcessState
	switch {
	case strings.Contains(text, "out of memory"), strings.Contains(text, "cannot allocate memory"), strings.Contains(text, "stack exceeds"):
		return fmt.Errorf("%w (%d MiB)", ErrMemory, b.limits.Memory>>20)
	case strings.Contains(text, "failed to create new OS thread"), strings.Contains(text, "pthread_create failed"):
		return fmt.Errorf("%w (%d MiB), or the system gives it no more threads", ErrMemory, b.limits.Memory>>20)
	case state != nil && state.UserTime()+state.SystemTime() >= maxCPU:
		return fmt.Errorf("%w: it took more than %s of CPU time", ErrEnded, maxCPU)
	}
	// Go's runtime does not bear every refusal of memory, and then ends in other ways.
	if peakMemory(state) >= b.limits.Memory/4*3 {
		return fmt.Errorf("%w (%d MiB)", ErrMemory, b.limits.Memory>>20)
	}
	return fmt.Errorf("%w: %s", ErrEnded, state)
}

// kill ends the process at once, and what it started.
func (b *process) kill() { killGroup(b.cmd.Process) }

// end ends the process, and removes what it wrote.
func (b *process) end() error {
	b.ending.Do(func() {
		// What it still does does not matter.
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
		return fmt.Errorf("remove what was fetched: %w", err)
	}
	return nil
}

// A head keeps the beginning of what is written to it.
type head struct {
	mu   sync.Mutex
	text []byte
}

// maxHead bounds a head, in bytes. The runtime says first why it gives up, and then
// what every goroutine does.
const maxHead = 64 << 10

// Write implements io.Writer.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if room := maxHead - len(h.text); room > 0 {
		h.text = append(h.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// String returns what was kept.
func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}
