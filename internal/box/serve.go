package box

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime/debug"
	"time"
)

// A Job processes foreign input. Its result, or the text of its error, is sent to the
// parent.
type Job func(files fs.FS, args []byte) (result []byte, err error)

// NewJob returns a job of a function. A and R are encoded as JSON, whose memory the parent
// counts before it decodes it.
func NewJob[A, R any](f func(fs.FS, A) (R, error)) Job {
	return func(files fs.FS, data []byte) ([]byte, error) {
		var args A
		if err := decode(data, &args); err != nil {
			return nil, err
		}
		result, err := f(files, args)
		if err != nil {
			return nil, err
		}
		return encode(result)
	}
}

// A setup is the first message to a process.
type setup struct {
	Limits Limits
	// Temp is the folder that a process with a network may write to.
	Temp string
}

const (
	// minMemory is what a process needs to run at all, in bytes.
	minMemory = 64 << 20
	// maxCPU bounds the CPU time of a process in its life.
	maxCPU = 10 * time.Minute
	// maxStack bounds a recursion, in bytes.
	maxStack = 64 << 20
)

// Serve irrevocably restricts the calling process, and runs the jobs that the parent requests until in
// ends. It must be called before any code that could keep a file or a connection open. It returns an error
// if the process cannot be restricted, or if a message cannot be read or written.
func Serve(in io.Reader, out io.Writer, jobs map[string]Job) error {
	s := &server{in: gob.NewDecoder(in), out: gob.NewEncoder(out)}
	var settings setup
	if err := s.in.Decode(&settings); err != nil {
		return fmt.Errorf("read setup: %w", err)
	}
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(settings.Limits.Memory / 4 * 3)
	report, err := seal(settings)
	if err != nil {
		return err
	}
	if err := s.out.Encode(report); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	for {
		var r request
		if err := s.in.Decode(&r); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read request: %w", err)
		}
		m := message{Done: true}
		if m.Result, err = run(jobs[r.Job], s, r.Args); err != nil {
			m.Error = err.Error()
		}
		if err := s.out.Encode(m); err != nil {
			return fmt.Errorf("write result: %w", err)
		}
	}
}

// run runs a job. A panic is an error: the input broke some library.
func run(job Job, files fs.FS, args []byte) (result []byte, err error) {
	if job == nil {
		return nil, errors.New("no such job")
	}
	defer func() {
		if recover() != nil {
			err = errPanic
		}
	}()
	return job(files, args)
}

// errPanic is the error of a job that panics.
var errPanic = errors.New("crashed on it")

// A server is the file system of a job: it requests each file from the parent.
type server struct {
	in  *gob.Decoder
	out *gob.Encoder
}

func (s *server) file(op, name string, content bool) (fileResponse, error) {
	var r fileResponse
	if !fs.ValidPath(name) {
		return r, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	err := s.out.Encode(message{File: name, Content: content})
	if err == nil {
		err = s.in.Decode(&r)
	}
	switch {
	case err != nil:
	case r.Missing:
		err = fs.ErrNotExist
	case r.Error != "":
		err = errors.New(r.Error)
	default:
		return r, nil
	}
	return r, &fs.PathError{Op: op, Path: name, Err: err}
}

// Open implements fs.FS. The entries of a folder cannot be read.
func (s *server) Open(name string) (fs.File, error) {
	r, err := s.file("open", name, true)
	if err != nil {
		return nil, err
	}
	return &file{bytes.NewReader(r.Content), info{path.Base(name), r.Size, r.Folder}}, nil
}

// Stat implements fs.StatFS.
func (s *server) Stat(name string) (fs.FileInfo, error) {
	r, err := s.file("stat", name, false)
	if err != nil {
		return nil, err
	}
	return info{path.Base(name), r.Size, r.Folder}, nil
}

type file struct {
	*bytes.Reader
	info info
}

// Stat implements fs.File.
func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close implements fs.File.
func (f *file) Close() error { return nil }

type info struct {
	name   string
	size   int64
	folder bool
}

// Name implements fs.FileInfo.
func (i info) Name() string { return i.name }

// Size implements fs.FileInfo.
func (i info) Size() int64 { return i.size }

// Mode implements fs.FileInfo.
func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// ModTime implements fs.FileInfo: it is not known.
func (i info) ModTime() time.Time { return time.Time{} }

// IsDir implements fs.FileInfo.
func (i info) IsDir() bool { return i.folder }

// Sys implements fs.FileInfo.
func (i info) Sys() any { return nil }
