package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// maxStderr is how much of a program's stderr is passed on, half from its beginning and
// half from its end.
const maxStderr = 64 << 10

// An output is what a guarded program writes to: two pipes, which the guard copies to its
// own stdout and stderr.
type output struct {
	// stdout and stderr are the program's ends.
	stdout, stderr *os.File
	// out and errs are the guard's ends.
	out, errs *os.File
	// full is closed when the program has printed too much.
	full chan struct{}
	// printed is what the program wrote to stderr.
	printed excerpt
}

func (l Launch) openOutput() (*output, error) {
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	errs, stderr, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &output{stdout: stdout, stderr: stderr, out: out, errs: errs, full: make(chan struct{}), printed: excerpt{limit: maxStderr}}, nil
}

// copy begins to copy, and closes the program's ends in this process.
func (o *output) copy(l Launch) *sync.WaitGroup {
	_, _ = o.stdout.Close(), o.stderr.Close()
	copying := &sync.WaitGroup{}
	copying.Go(func() { o.copyStdout(l) })
	copying.Go(func() { _, _ = io.Copy(&o.printed, o.errs) })
	return copying
}

func (o *output) copyStdout(l Launch) {
	var from io.Reader = o.out
	if l.Output > 0 {
		from = io.LimitReader(o.out, l.Output)
	}
	to := &lineFilter{limit: l.Line, w: os.Stdout}
	_, err := io.Copy(to, from)
	err = errors.Join(err, to.end())
	// One more byte exceeds the limit, unless the copy ended because of a failed write.
	if n, _ := o.out.Read(make([]byte, 1)); n > 0 && err == nil {
		close(o.full)
	}
	_, _ = io.Copy(io.Discard, o.out)
}

// exceeded reports whether the program has printed too much. It is final after finish.
func (o *output) exceeded() bool {
	select {
	case <-o.full:
		return true
	default:
		return false
	}
}

// finish waits until all is copied. A process that could not be killed may hold the pipes
// open: then it does not wait.
func (o *output) finish(copying *sync.WaitGroup, killed bool) {
	if !killed {
		_ = errors.Join(o.out.SetReadDeadline(time.Now()), o.errs.SetReadDeadline(time.Now()))
	}
	copying.Wait()
	fmt.Fprint(os.Stderr, o.printed.String())
}
