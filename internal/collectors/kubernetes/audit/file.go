package audit

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxFirst is how much of the log and of its rotated files is read the first
// time, in bytes: the newest.
const maxFirst = 512 << 20

// A file is an audit log on disk, of one event a line, which is read on where it
// was left. It bears rotation, by renaming and by truncation, and reads no line
// twice unless it must. It is safe for concurrent use.
type file struct {
	path string
	keep time.Duration
	// first is maxFirst, unless a test has another.
	first int64

	mu sync.Mutex
	// parts are what is to be read, the oldest first; the last one is the log
	// itself, and stays.
	parts []part
	// planned is when parts were last looked for.
	planned time.Time
}

// A part is one file, and how far it was read.
type part struct {
	path string
	info os.FileInfo
	// offset is where a line begins, unless inside tells that it is inside one
	// that is too long.
	offset int64
	inside bool
	// tail is a digest of what is before offset.
	tail [sha256.Size]byte
	// unpacked is the content of a compressed file that was not read to its end,
	// in which nobody can begin in the middle; file is closed there.
	unpacked *lines
	file     *os.File
}

// read hands over each line that was added since the last call, until ctx ends;
// the next call goes on there. Long is how many lines were too long.
func (f *file) read(ctx context.Context, now time.Time, each func([]byte)) (long int, err error) {
	if !f.mu.TryLock() {
		return 0, nil // somebody else is reading it just now
	}
	defer f.mu.Unlock()
	if err := f.plan(now); err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		p := &f.parts[0]
		skipped, err := p.read(ctx, each)
		long += skipped
		if len(f.parts) == 1 || ctx.Err() != nil {
			return long, err
		}
		// A rotated file that cannot be read any more holds up nothing.
		f.parts = f.parts[1:]
	}
	return long, nil
}

// plan finds out which files are to be read.
func (f *file) plan(now time.Time) error {
	log, info, err := open(f.path)
	if err != nil {
		return fmt.Errorf("open audit log: %w", err)
	}
	defer func() { _ = log.Close() }() // it was only read
	current := part{path: f.path, info: info}
	switch last := len(f.parts) - 1; {
	case last < 0:
		f.parts = newest(rotated(f.path, now.Add(-f.keep)), current, f.first)
	case !f.parts[last].goesOn(log, info):
		f.parts = append(f.turnedOver(), current)
	}
	f.planned = now
	return nil
}

// turnedOver returns what is to be read before a log that is another file now:
// what was not read yet, the rest of the file that it was, and what came between.
func (f *file) turnedOver() []part {
	last := len(f.parts) - 1
	waiting := slices.Clone(f.parts[:last])
	for _, p := range rotated(f.path, f.planned.Add(-time.Minute)) {
		if !slices.ContainsFunc(waiting, func(w part) bool { return os.SameFile(w.info, p.info) }) {
			waiting = append(waiting, p.resumed(f.parts[last]))
		}
	}
	return waiting
}

// newest drops what is beyond the limit, from the oldest on; a file that lies
// across it is read from its middle on.
func newest(older []part, current part, limit int64) []part {
	all := slices.Concat(older, []part{current})
	for i := len(all) - 1; i >= 0; i-- {
		size := all[i].info.Size()
		if size <= limit || all[i].compressed() {
			limit -= min(size, limit)
			continue
		}
		if limit == 0 {
			return all[i+1:]
		}
		all[i].offset, all[i].inside = size-limit, true
		return all[i:]
	}
	return all
}

// goesOn tells whether the log is still the file that was read, and more.
func (p *part) goesOn(log *os.File, info os.FileInfo) bool {
	if !os.SameFile(p.info, info) || info.Size() < p.offset {
		return false
	}
	tail, err := tailOf(log, p.offset)
	return err == nil && (tail == p.tail || p.tail == [sha256.Size]byte{})
}

// resumed goes on where the same file was left under another name.
func (p part) resumed(known part) part {
	if os.SameFile(p.info, known.info) && !p.compressed() {
		p.offset, p.inside, p.tail = known.offset, known.inside, known.tail
	}
	return p
}

func (p *part) compressed() bool { return strings.HasSuffix(p.path, ".gz") }

// read reads the part to its end, or until ctx ends.
func (p *part) read(ctx context.Context, each func([]byte)) (long int, err error) {
	if p.compressed() {
		return p.readCompressed(ctx, each)
	}
	log, info, err := open(p.path)
	if err != nil {
		return 0, fmt.Errorf("open audit log: %w", err)
	}
	defer func() { _ = log.Close() }() // it was only read
	if !os.SameFile(p.info, info) {
		return 0, nil // it was renamed again; what it held is lost, or read later
	}
	l := newLines(io.NewSectionReader(log, p.offset, info.Size()-p.offset), p.inside)
	n, err := l.read(ctx, each)
	p.offset, p.inside = p.offset+n, l.inside
	if tail, err := tailOf(log, p.offset); err == nil {
		p.tail = tail
	}
	if err != nil {
		return l.long, fmt.Errorf("read audit log %s: %w", p.path, cause(err))
	}
	return l.long, nil
}

// readCompressed reads a rotated file that was compressed, and goes on where it
// was left.
func (p *part) readCompressed(ctx context.Context, each func([]byte)) (long int, err error) {
	if p.unpacked == nil {
		if err := p.unpack(); err != nil || p.unpacked == nil {
			return 0, err
		}
	}
	before := p.unpacked.long
	_, err = p.unpacked.read(ctx, each)
	long = p.unpacked.long - before
	if left := err == nil && ctx.Err() != nil; left {
		return long, nil
	}
	if err = errors.Join(err, p.file.Close()); err != nil {
		err = fmt.Errorf("read rotated audit log: %w", err)
	}
	p.unpacked, p.file = nil, nil
	return long, err
}

// unpack begins to read a compressed file, unless it was renamed again.
func (p *part) unpack() error {
	log, info, err := open(p.path)
	if err != nil {
		return fmt.Errorf("open audit log: %w", err)
	}
	if !os.SameFile(p.info, info) {
		return log.Close()
	}
	z, err := gzip.NewReader(log)
	if err != nil {
		return errors.Join(fmt.Errorf("read rotated audit log: %w", err), log.Close())
	}
	p.unpacked, p.file = newLines(io.LimitReader(z, maxFirst), false), log
	return nil
}

// maxTail is how much before an offset shows that the file is still the same.
const maxTail = 256

// tailOf digests what is before an offset. What is kept tells nothing of it.
func tailOf(r io.ReaderAt, offset int64) ([sha256.Size]byte, error) {
	text := make([]byte, min(maxTail, offset))
	if _, err := r.ReadAt(text, offset-int64(len(text))); err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256(text), nil
}

// open opens a regular file; nothing else is waited for.
func open(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is no file: name the file of --audit-log-path", path)
	}
	log, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, cause(err))
	}
	if info, err = log.Stat(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, cause(err)), log.Close())
	}
	return log, info, nil
}

// cause takes the path off an error of the file system, which is said once.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
