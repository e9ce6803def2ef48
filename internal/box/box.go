// Package box runs work on untrusted input in a separate process, which cannot read files, use the network,
// or start programs, and which is killed if it exceeds its time or memory limit. The process runs driftd's
// own program. It requests the files that a job reads from the parent, one by one. docs/security.md lists
// the restrictions that each kernel enforces; decision 35 gives the reasons for this design.
package box

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/budget"
)

// Verb is the argument that starts a program as a box. The program must then call Serve.
const Verb = "box"

// Limits are the limits of a box.
type Limits struct {
	// Memory is the maximum memory that the process allocates, in bytes, in addition to that of the program
	// itself.
	Memory int64
	// File is the maximum size of each file that a job reads, in bytes.
	File int64
	// Program is the absolute path of the program that serves the jobs; "" is driftd's own.
	// It must call Serve when its only argument is Verb.
	Program string
	// Network allows the process to use the network, to start programs, and to write to a temporary folder.
	// It can read only files of the system.
	Network bool
}

// maxResult bounds what a box returns from one job, in bytes.
const maxResult = 64 << 20

// The reasons why a box was stopped.
var (
	ErrMemory = errors.New("needs more memory than it may take")
	ErrResult = fmt.Errorf("makes more than %d MiB", maxResult>>20)
	ErrEnded  = errors.New("ended early")
	ErrTime   = errors.New("did not finish")
)

// A Box runs jobs, one at a time. It starts its process for the first one, and a new
// process after a job that was ended. It is not safe for concurrent use.
type Box struct {
	pool    *Pool
	limits  Limits
	process *process
}

// Do runs a job of Serve in the box with args, and stores its result in reply, which must be a pointer. The
// job can read files. If it takes longer than half of the time that ctx has left when the job begins, its
// process is killed, so that there is time for other jobs. An error of the job has the text of the original
// error and wraps nothing.
func (b *Box) Do(ctx context.Context, files fs.FS, job string, args, reply any) error {
	request := request{Job: job}
	var err error
	if request.Args, err = encode(args); err != nil {
		return err
	}
	leave, err := b.pool.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	limited, limit, cancel := withinHalf(ctx)
	defer cancel()
	result, err := b.run(limited, files, request)
	switch {
	// On a busy system the rest of the time may be over, too, before the process is ended.
	case err != nil && errors.Is(limited.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%w within %s", ErrTime, limit.Round(time.Millisecond))
	case err != nil:
		return err
	case result.Error != "":
		return errors.New(result.Error)
	}
	return decodeCounted(ctx, result.Result, reply)
}

// run starts the process if there is none, and runs the requested job in it.
func (b *Box) run(ctx context.Context, files fs.FS, r request) (result message, err error) {
	if b.process == nil {
		if b.process, err = b.pool.start(ctx, b.limits); err != nil {
			return message{}, err
		}
	}
	if result, err = b.process.do(ctx, files, r); err != nil {
		return message{}, errors.Join(err, b.Close())
	}
	return result, nil
}

// withinHalf returns a context that ends after half of the time that is left.
func withinHalf(ctx context.Context) (_ context.Context, limit time.Duration, cancel context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		ctx, cancel = context.WithCancel(ctx)
		return ctx, 0, cancel
	}
	limit = max(time.Until(deadline)/2, 0)
	ctx, cancel = context.WithTimeout(ctx, limit)
	return ctx, limit, cancel
}

// Limits returns the limits of the box.
func (b *Box) Limits() Limits { return b.limits }

// Close stops the process. The box may be used again.
func (b *Box) Close() error {
	if b.process == nil {
		return nil
	}
	p := b.process
	b.process = nil
	return p.end()
}

// A request asks a process to run a job.
type request struct {
	Job  string
	Args []byte
}

// A message comes from a process: it requests a file, or has the result of a job.
type message struct {
	// File is the name of a file or folder; Content requests the content of a file too.
	File    string
	Content bool

	Done   bool
	Result []byte
	Error  string
}

// A fileResponse is the response of the parent to the request for a file.
type fileResponse struct {
	Missing, Folder bool
	Size            int64
	Content         []byte
	Error           string
}

// respond returns the file that a message requests. limit bounds its content. A process
// that was taken over may request any name: none but those of fs.FS reaches files.
func respond(m *message, files fs.FS, limit int64) fileResponse {
	if !fs.ValidPath(m.File) {
		return fileError(fs.ErrInvalid)
	}
	info, err := fs.Stat(files, m.File)
	if err != nil {
		return fileError(err)
	}
	r := fileResponse{Folder: info.IsDir(), Size: info.Size()}
	if !m.Content || r.Folder {
		return r
	}
	if r.Size > limit {
		err = bounded.ErrTooLarge
	} else {
		r.Content, err = bounded.ReadFile(files, m.File, limit)
	}
	switch {
	case errors.Is(err, bounded.ErrTooLarge):
		return fileResponse{Error: fmt.Sprintf("larger than %d bytes; raise max_file_size", limit)}
	case err != nil:
		return fileError(err)
	}
	return r
}

// fileError returns the response for an error of a file system, without paths of the disk.
func fileError(err error) fileResponse {
	err = bounded.Cause(err)
	return fileResponse{Missing: errors.Is(err, fs.ErrNotExist), Error: err.Error()}
}

func encode(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write for the box: %w", err)
	}
	return text, nil
}

func decode(data []byte, into any) error {
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read from the box: %w", err)
	}
	return nil
}

// decodeCounted decodes a result if the look of ctx may take the memory for it: a process
// that was taken over may return many small values. Until the end of the look, what the
// caller keeps of it is for the caller to count.
func decodeCounted(ctx context.Context, data []byte, into any) error {
	ctx, settle := budget.Part(ctx)
	defer settle(0)
	if _, err := budget.Writer(ctx, io.Discard).Write(data); err != nil {
		return fmt.Errorf("read from the box: %w", err)
	}
	return decode(data, into)
}
