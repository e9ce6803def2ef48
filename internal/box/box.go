// Package box runs work on foreign input in a process of its own, which can neither
// read files, reach the network, nor start programs, and which is ended when it takes
// too much time or memory. The process is driftd's own program; what it may read is
// asked of the parent, file by file. docs/security.md says what is promised on which
// kernel, and decision 35 why it is built this way.
package box

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// Verb is the argument with which driftd's own program is started to be a box: it must
// call Serve then.
const Verb = "box"

// Limits bound a box.
type Limits struct {
	// Memory is how many bytes the process may take beside those that the program
	// itself needs.
	Memory int64
	// File is the largest file, in bytes, that it is given.
	File int64
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

// A Box runs jobs, one at a time. It starts its process for the first one, and again
// after one that it had to end. It is not safe for concurrent use.
type Box struct {
	pool    *Pool
	limits  Limits
	process *process
}

// Do runs a job of Serve's in the box: it hands over args and fills reply, a pointer.
// The job sees the given files. It has half of the time that ctx has left when it begins,
// so that one that does not end leaves time for others; then its process is killed.
// Errors of the job itself come back as text.
func (b *Box) Do(ctx context.Context, files fs.FS, job string, args, reply any) error {
	order := order{Job: job}
	var err error
	if order.Args, err = encode(args); err != nil {
		return err
	}
	leave, err := b.pool.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	limited, limit, cancel := withinHalf(ctx)
	defer cancel()
	result, err := b.run(limited, files, order)
	switch {
	case err != nil && ctx.Err() == nil && limited.Err() != nil:
		return fmt.Errorf("%w within %s", ErrTime, limit.Round(time.Millisecond))
	case err != nil:
		return err
	case result.Error != "":
		return errors.New(result.Error)
	}
	return decode(result.Result, reply)
}

// run starts the process if there is none, and has it do what is ordered.
func (b *Box) run(ctx context.Context, files fs.FS, o order) (result word, err error) {
	if b.process == nil {
		if b.process, err = b.pool.start(ctx, b.limits); err != nil {
			return word{}, err
		}
	}
	if result, err = b.process.do(ctx, files, o); err != nil {
		return word{}, errors.Join(err, b.Close())
	}
	return result, nil
}

// withinHalf returns a context that ends after half of the time that is left.
func withinHalf(ctx context.Context) (_ context.Context, limit time.Duration, cancel context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if !bounded {
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

// An order is what the parent asks of the process: one job.
type order struct {
	Job  string
	Args []byte
}

// A word is what the process says: it asks for a file, or its job is done.
type word struct {
	// Ask is the name of a file or folder; Content asks for a file's content.
	Ask     string
	Content bool

	Done   bool
	Result []byte
	Error  string
}

// An answer says what the parent has at a name.
type answer struct {
	Missing, Folder bool
	Size            int64
	Content         []byte
	Error           string
}

// answerTo looks at what a word asks for. limit bounds the content of a file. A process
// that was taken over may ask for any name: none but those of fs.FS reaches files.
func answerTo(w *word, files fs.FS, limit int64) answer {
	if !fs.ValidPath(w.Ask) {
		return refusal(fs.ErrInvalid)
	}
	info, err := fs.Stat(files, w.Ask)
	if err != nil {
		return refusal(err)
	}
	a := answer{Folder: info.IsDir(), Size: info.Size()}
	if !w.Content || a.Folder {
		return a
	}
	if a.Size > limit {
		return answer{Error: fmt.Sprintf("larger than %d bytes; raise max_file_size", limit)}
	}
	if a.Content, err = read(files, w.Ask, limit); err != nil {
		return refusal(err)
	}
	return a
}

func read(files fs.FS, name string, limit int64) (content []byte, err error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("larger than %d bytes; raise max_file_size", limit)
	}
	return content, err
}

// refusal returns the error of a file system as an answer, without paths of the disk.
func refusal(err error) answer {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return answer{Missing: errors.Is(err, fs.ErrNotExist), Error: err.Error()}
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return nil, fmt.Errorf("write for the box: %w", err)
	}
	return b.Bytes(), nil
}

func decode(data []byte, into any) error {
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(into); err != nil {
		return fmt.Errorf("read from the box: %w", err)
	}
	return nil
}
