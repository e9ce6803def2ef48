// Package box runs work on foreign input in a process of its own, which can neither
// read files, reach the network, nor start programs, and which is ended when it takes
// too much time or memory. The process is driftd's own program. It requests the files
// that a job reads from the parent, one by one. docs/security.md lists what each kernel
// enforces; decision 35 gives the reasons for this design.
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

// Limits bound a box.
type Limits struct {
	// Memory bounds what the process allocates, in bytes, beyond what the program itself
	// needs.
	Memory int64
	// File bounds each file that a job reads, in bytes.
	File int64
	// Program is the absolute path of the program that serves the jobs; "" is driftd's own.
	// It must call Serve when its only argument is Verb.
	Program string
	// Network lets the process reach the network, start programs and write to a
	// temporary folder. It reads the system's own files only.
	Network bool
}

// maxResult bounds what a box returns from one job, in bytes.
const maxResult = 64 << 20

// Why a box was ended.
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

// Do runs a job of Serve in the box with args, and stores its result in reply, a pointer.
// The job can read the given files. It is ended, and its process killed, after half of the
// time that ctx has left when the job begins, so that there is time for other jobs. An
// error of the job itself has the text of that error and wraps nothing.
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

// Limits returns what the box was opened with.
func (b *Box) Limits() Limits { return b.limits }

// Close ends the process. The box may be used again.
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
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
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
