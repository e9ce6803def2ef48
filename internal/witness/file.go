package witness

import (
	"bufio"
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

const (
	// maxRead bounds what is read of a file, from its end, in bytes.
	maxRead = 32 << 20
	// maxNote bounds a signed note, in bytes.
	maxNote = 64 << 10
)

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
func (f *file) Publish(ctx context.Context, h audit.Head, begun bool) error {
	_, err := use(ctx, f, func(context.Context) (struct{}, error) { return struct{}{}, f.add(h.Note, begun) })
	if err != nil {
		return fmt.Errorf("append to %s: %w", f.path, err)
	}
	return nil
}

// Heads implements Witness.
func (f *file) Heads(ctx context.Context, parse Parse) ([]audit.Head, error) {
	r, err := use(ctx, f, func(ctx context.Context) (reading, error) { return f.read(ctx, parse) })
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.path, err)
	}
	return r.result()
}

// use calls fn while no other call uses the file. It returns when the context or the timeout ends.
func use[T any](ctx context.Context, f *file, fn func(context.Context) (T, error)) (T, error) {
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
			return fn(ctx)
		})
	})
}

func (f *file) add(note []byte, begun bool) (err error) {
	was, statErr := os.Stat(f.path)
	isNew := errors.Is(statErr, fs.ErrNotExist)
	if begun && (isNew || statErr == nil && was.Size() == 0) {
		return errEmptied
	}
	to, err := f.open(os.O_WRONLY | os.O_APPEND | os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	record := "\n" + beginLine + "\n" + strings.TrimSuffix(string(note), "\n") + "\n" + endLine + "\n"
	if _, err := to.WriteString(record); err != nil {
		return bounded.Cause(err)
	}
	if err := to.Sync(); err != nil {
		return bounded.Cause(err)
	}
	if isNew {
		return syncFolder(filepath.Dir(f.path))
	}
	return nil
}

// syncFolder makes a new file in a folder survive a power failure.
func syncFolder(dir string) (err error) {
	d, err := os.Open(dir)
	if err != nil {
		return bounded.Cause(err)
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	// Some network file systems cannot sync folders.
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return bounded.Cause(err)
	}
	return nil
}

// open opens the file. It refuses what is no regular file, and in a folder in which everyone can
// create files also a symbolic link.
func (f *file) open(flags int) (*os.File, error) {
	if dir, err := os.Stat(filepath.Dir(f.path)); err == nil && dir.Mode()&0o002 != 0 {
		flags |= syscall.O_NOFOLLOW
	}
	opened, err := bounded.OpenRegular(f.path, flags, 0o600)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return nil, errors.New("it is a symbolic link in a folder that every user can write to: name its target")
	case errors.Is(err, bounded.ErrNotRegular):
		return nil, errors.New("it is not a regular file: name a file that driftd can append to")
	case err != nil:
		return nil, bounded.Cause(err)
	}
	return opened, nil
}

func (f *file) read(ctx context.Context, parse Parse) (r reading, err error) {
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
		return reading{}, bounded.Cause(err)
	}
	skipped := max(0, info.Size()-maxRead)
	s := scanner{parse: parse, place: f.path, isCut: skipped > 0}
	if skipped > 0 {
		s.place += fmt.Sprintf(", in its last %d MiB", maxRead>>20)
		s.older = fmt.Sprintf("%s: its first %d bytes were not read, and heads in them were not compared: name another file in audit.witness, and keep this one", f.path, skipped)
	}
	if err := s.scan(ctx, io.NewSectionReader(from, skipped, maxRead)); err != nil {
		return reading{}, bounded.Cause(err)
	}
	return s.reading, nil
}

// A scanner splits the content of a file into records.
type scanner struct {
	reading

	parse Parse
	// place names the content in errors.
	place string
	// isCut reports whether the content begins within a file, and no record began so far.
	isCut bool
	// number is the number of the line that is read. isStray reports whether the text since the last
	// record was reported.
	number  int
	isStray bool
	// start is the number of the line after the begin line of the record that is read; 0 outside
	// of records.
	start int
	note  []byte
}

// scan reads records. Text before the first one is no error if the content is cut there, nor is a
// last one that is not complete.
func (s *scanner) scan(ctx context.Context, content io.Reader) error {
	lines := bufio.NewReaderSize(content, maxNote)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			s.number++
			s.line(string(bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))))
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
}

// line reads a line without its end. Of one that is longer than a record can be, text is the begin.
func (s *scanner) line(text string) {
	switch {
	case text == beginLine:
		if s.start > 0 {
			s.incomplete()
		}
		s.start, s.note, s.isCut, s.isStray = s.number+1, nil, false, false
	case text == endLine && s.start > 0:
		s.record()
		s.start, s.isStray = 0, false
	case s.start > 0 && len(s.note)+len(text) < maxNote:
		s.note = append(append(s.note, text...), '\n')
	case s.start > 0:
		s.incomplete()
		s.start, s.isStray = 0, true
	case s.isCut || text == "" || s.isStray:
	default:
		s.isStray = true
		s.fail("%s, line %d: not a record of a head", s.place, s.number)
	}
}

func (s *scanner) incomplete() {
	s.fail("%s, line %d: the record is not complete", s.place, s.start-1)
}

func (s *scanner) record() {
	if err := s.add(s.note, s.parse); err != nil {
		s.refuse("%s, line %d: %v", s.place, s.start, err)
	}
}
