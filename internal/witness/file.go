package witness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared/await"
)

// A record of a file is a signed note between two lines. No line of a head equals one of them: an
// origin has no spaces. A record is written after a line break, so that bytes that were appended
// before it, such as the start of an interrupted record, do not hide it.
const (
	beginLine = "-----BEGIN DRIFTD AUDIT HEAD-----"
	endLine   = "-----END DRIFTD AUDIT HEAD-----"
)

// maxRead bounds what is read of a file, from its end, in bytes.
const maxRead = 4 << 20

// A file appends heads to a file. It never truncates, so that the file can be append-only
// (chattr +a).
type file struct {
	path string
	env  Env
	// free has an element while no call uses the file. A call on a file system that does not
	// respond cannot be ended; a later call does not start another one.
	free chan struct{}
}

func newFile(path string, env Env) *file {
	f := &file{path, env, make(chan struct{}, 1)}
	f.free <- struct{}{}
	return f
}

// Name implements Witness.
func (f *file) Name() string { return "the file " + f.path }

// Publish implements Witness.
func (f *file) Publish(ctx context.Context, h audit.Head) error {
	_, err := use(ctx, f, func() (struct{}, error) { return struct{}{}, f.add(h.Note) })
	if err != nil {
		return fmt.Errorf("append to %s: %w", f.path, err)
	}
	return nil
}

// Heads implements Witness.
func (f *file) Heads(ctx context.Context, parse Parse) ([]audit.Head, error) {
	r, err := use(ctx, f, func() (reading, error) { return f.read(parse) })
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.path, err)
	}
	return r.result()
}

// use calls fn while no other call uses the file. It returns when the context or the timeout ends.
func use[T any](ctx context.Context, f *file, fn func() (T, error)) (T, error) {
	return await.Within(ctx, f.env.Timeout, func(ctx context.Context) (none T, err error) {
		if err := ctx.Err(); err != nil {
			return none, err
		}
		select {
		case <-f.free:
		case <-ctx.Done():
			return none, fmt.Errorf("its file system does not respond: %w", ctx.Err())
		}
		return await.Call(ctx, func() (T, error) {
			defer func() { f.free <- struct{}{} }()
			return fn()
		})
	})
}

func (f *file) add(note []byte) (err error) {
	_, statErr := os.Stat(f.path)
	to, err := f.open(os.O_WRONLY | os.O_APPEND | os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	record := "\n" + beginLine + "\n" + strings.TrimSuffix(string(note), "\n") + "\n" + endLine + "\n"
	if _, err := to.WriteString(record); err != nil {
		return cause(err)
	}
	if err := to.Sync(); err != nil {
		return cause(err)
	}
	if errors.Is(statErr, fs.ErrNotExist) {
		return syncFolder(filepath.Dir(f.path))
	}
	return nil
}

// syncFolder makes a new file in a folder survive a power failure.
func syncFolder(dir string) (err error) {
	d, err := os.Open(dir)
	if err != nil {
		return cause(err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	// Some network file systems cannot sync folders.
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return cause(err)
	}
	return nil
}

// open opens the file. It refuses what is no regular file, and in a folder in which everyone can
// create files also a symbolic link.
func (f *file) open(flags int) (*os.File, error) {
	if info, err := os.Stat(f.path); err == nil && !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	if dir, err := os.Stat(filepath.Dir(f.path)); err == nil && dir.Mode()&0o002 != 0 {
		flags |= syscall.O_NOFOLLOW
	}
	// Opening a named pipe would wait for its other end.
	opened, err := os.OpenFile(f.path, flags|syscall.O_NONBLOCK, 0o600)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return nil, errors.New("it is a symbolic link in a folder that every user can write to: name its target")
	case err != nil:
		return nil, cause(err)
	}
	info, err := opened.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, errors.Join(cause(err), opened.Close())
	}
	return opened, nil
}

var errNotRegular = errors.New("it is not a regular file: name a file that driftd can append to")

// cause returns an error of the file system without the path, which the caller adds.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func (f *file) read(parse Parse) (r reading, err error) {
	from, err := f.open(os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return reading{}, nil
	}
	if err != nil {
		return reading{}, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	info, err := from.Stat()
	if err != nil {
		return reading{}, cause(err)
	}
	skipped := max(0, info.Size()-maxRead)
	content, err := bounded.ReadAll(io.NewSectionReader(from, skipped, min(info.Size(), maxRead)), maxRead)
	if err != nil {
		return reading{}, cause(err)
	}
	s := scanner{reading: reading{}, parse: parse, place: f.path}
	if skipped > 0 {
		s.place += ", in its last 4 MiB"
	}
	s.scan(content, skipped > 0)
	return s.reading, nil
}

// A scanner splits the content of a file into records.
type scanner struct {
	reading

	parse Parse
	// place names the content in errors.
	place string
	// start is the number of the line after the begin line of the record that is read; 0 outside
	// of records.
	start int
	note  []byte
}

// scan reads records. Text before the first one is no error if the content is cut there, nor is a
// last one that is not complete.
func (s *scanner) scan(content []byte, isCut bool) {
	number := 0
	stray := 0
	for line := range bytes.Lines(content) {
		number++
		switch text := string(bytes.TrimRight(line, "\r\n")); {
		case text == beginLine:
			if s.start > 0 {
				s.fail("%s, line %d: the record is not complete", s.place, s.start-1)
			}
			s.start, s.note, isCut, stray = number+1, nil, false, 0
		case text == endLine && s.start > 0:
			s.record()
			s.start, stray = 0, 0
		case s.start > 0:
			s.note = append(s.note, line...)
		case isCut || text == "" || stray > 0:
		default:
			stray = number
			s.fail("%s, line %d: not a record of a head", s.place, number)
		}
	}
}

func (s *scanner) record() {
	head, err := s.parse(bytes.Clone(s.note))
	if err != nil {
		s.fail("%s, line %d: %w", s.place, s.start, err)
		return
	}
	s.heads = append(s.heads, head)
}
