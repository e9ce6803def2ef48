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

// A Job does one thing on foreign input. What it returns, or the text of its error,
// goes to the parent.
type Job func(files fs.FS, args []byte) (result []byte, err error)

// NewJob returns a job of a function. R must hold no map: a process that was taken over
// could claim one of any size, for which the parent would make room.
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

// A setup is what a process is told first.
type setup struct {
	Limits Limits
	// Temp is the folder that it may write to with a network.
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

// Serve is the life of a box: it seals the process that calls it, for good, and runs
// jobs until in ends. It must be called before anything else that could keep a file or
// a connection open. An error says that the two sides do not understand each other.
func Serve(in io.Reader, out io.Writer, jobs map[string]Job) error {
	s := &server{in: gob.NewDecoder(in), out: gob.NewEncoder(out)}
	var told setup
	if err := s.in.Decode(&told); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(told.Limits.Memory / 4 * 3)
	report, err := seal(told)
	if err != nil {
		return err
	}
	if err := s.out.Encode(report); err != nil {
		return fmt.Errorf("write what is sealed: %w", err)
	}
	for {
		var o order
		if err := s.in.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read what to do: %w", err)
		}
		w := word{Done: true}
		if w.Result, err = run(jobs[o.Job], s, o.Args); err != nil {
			w.Error = err.Error()
		}
		if err := s.out.Encode(w); err != nil {
			return fmt.Errorf("write what came of it: %w", err)
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
			err = ErrPanic
		}
	}()
	return job(files, args)
}

// ErrPanic is the error of a job that panics; its text comes from the box.
var ErrPanic = errors.New("crashed on it")

// A server is the parent's files, as a job sees them. Names are those of fs.FS.
type server struct {
	in  *gob.Decoder
	out *gob.Encoder
}

func (s *server) ask(op, name string, content bool) (answer, error) {
	var a answer
	if !fs.ValidPath(name) {
		return a, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	err := s.out.Encode(word{Ask: name, Content: content})
	if err == nil {
		err = s.in.Decode(&a)
	}
	switch {
	case err != nil:
	case a.Missing:
		err = fs.ErrNotExist
	case a.Error != "":
		err = errors.New(a.Error)
	default:
		return a, nil
	}
	return a, &fs.PathError{Op: op, Path: name, Err: err}
}

// Open implements fs.FS. The content of a folder is not shown.
func (s *server) Open(name string) (fs.File, error) {
	a, err := s.ask("open", name, true)
	if err != nil {
		return nil, err
	}
	return &file{bytes.NewReader(a.Content), info{path.Base(name), a.Size, a.Folder}}, nil
}

// Stat implements fs.StatFS.
func (s *server) Stat(name string) (fs.FileInfo, error) {
	a, err := s.ask("stat", name, false)
	if err != nil {
		return nil, err
	}
	return info{path.Base(name), a.Size, a.Folder}, nil
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
