package process

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/sourcegraph/conc"
)

// An output is a pipe that a program writes to, and that is copied to a writer.
type output struct {
	read *os.File
	// write is the program's end.
	write *os.File
	// copying ends when all was copied.
	copying *conc.WaitGroup
}

// openOutput opens a pipe and begins to copy it to a writer. An error of the writer goes
// to stop.
func openOutput(to io.Writer, stop context.CancelCauseFunc) (*output, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	o := &output{read, write, conc.NewWaitGroup()}
	o.copying.Go(func() {
		// A program that writes on gets an error.
		defer func() { _ = read.Close() }()
		// The Write of the writer counts: a ReadFrom could go round its limit.
		_, err := io.Copy(struct{ io.Writer }{to}, read)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = copyRest(to, read)
		}
		if err != nil {
			stop(err)
		}
	})
	return o, nil
}

// finish waits until all is copied that the program wrote, which has ended. What holds the
// pipe open can write until the deadline. It panics if the writer did.
func (o *output) finish(deadline time.Time) {
	// It fails if the pipe was read to its end.
	_ = o.read.SetReadDeadline(deadline)
	o.copying.Wait()
}

// maxPipe is the most that a pipe holds, in bytes, unless root allows more.
const maxPipe = 1 << 20

// copyRest copies what a pipe holds and does not wait for more. The reader may be slower
// than a deadline: what the program wrote before it ended must not be lost by that.
func copyRest(to io.Writer, pipe *os.File) error {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return err
	}
	buffer := make([]byte, maxPipe)
	for left := maxPipe; left > 0; {
		n := 0
		var readErr error
		if err := conn.Control(func(fd uintptr) { n, readErr = syscall.Read(int(fd), buffer[:left]) }); err != nil {
			return err
		}
		switch {
		case errors.Is(readErr, syscall.EINTR):
			continue
		case errors.Is(readErr, syscall.EAGAIN):
			return nil
		case readErr != nil || n == 0:
			return readErr
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return err
		}
		left -= n
	}
	return nil
}
