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

	"github.com/driftd/driftd/internal/bounded"
)

// maxFirst bounds how much of the end of the log and its rotated files is read the first
// time, in bytes.
const maxFirst = 512 << 20

// A file reads an audit log on disk with one event a line. Each read continues at the end
// of the last one, also after a rotation by renaming or truncation. A line is only read
// twice if the end of the last read cannot be found again. It is safe for concurrent use.
type file struct {
	path string
	keep time.Duration
	// first is maxFirst; tests lower it.
	first int64

	mu sync.Mutex
	// parts are the files to read, the oldest first. The last one is the log itself and is
	// never removed.
	parts []part
	// planned is the time of the last search for parts.
	planned time.Time
}

// A part is one file and the position up to which it was read.
type part struct {
	path string
	info os.FileInfo
	// offset is the position, in bytes: the beginning of a line, or the middle of one if
	// inside is set.
	offset int64
	inside bool
	// cut reports that the part, as far as it was read, ends in the middle of a line.
	cut bool
	// tail is the digest of the bytes before offset (tailOf).
	tail [sha256.Size]byte
	// unpacked is the open reader of a compressed file that was not read to its end. It
	// stays open because a compressed file cannot be read from its middle. file is the
	// file below it; it is closed at the end of unpacked.
	unpacked *lines
	file     *os.File
}

// read calls each with each line that was added since the last call, until ctx ends, and gap if lines
// may be lost before the next one. The next call continues from there. It returns the number of
// lines that were too long. If another call is running, read returns immediately.
func (f *file) read(ctx context.Context, now time.Time, each func([]byte), gap func()) (long int, err error) {
	if !f.mu.TryLock() {
		return 0, nil
	}
	defer f.mu.Unlock()
	if err := f.plan(now, gap); err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		p := &f.parts[0]
		skipped, err := p.read(ctx, each)
		long += skipped
		last := len(f.parts) == 1 || ctx.Err() != nil
		if skipped > 0 || !last && (err != nil || p.cut) {
			gap()
		}
		if errors.Is(err, errRenamed) {
			err = nil
		}
		if last {
			return long, err
		}
		// An unreadable rotated file is skipped.
		f.parts = f.parts[1:]
	}
	return long, nil
}

// plan sets parts to the files that must be read.
func (f *file) plan(now time.Time, gap func()) error {
	log, info, err := open(f.path)
	if err != nil {
		return fmt.Errorf("open audit log: %w", err)
	}
	defer func() { _ = log.Close() }() // it was only read
	current := part{path: f.path, info: info}
	switch last := len(f.parts) - 1; {
	case last < 0:
		f.parts = newest(rotated(f.path, now.Add(-f.keep)), current, f.first)
	case !f.parts[last].continues(log, info):
		waiting := f.beforeRotation()
		if !slices.ContainsFunc(waiting, f.parts[last].isIn) {
			gap()
		}
		waiting = append(waiting, current)
		f.parts = waiting
	}
	f.planned = now
	return nil
}

// beforeRotation returns the parts to read before the new log after a rotation: parts that
// were not read yet, the rest of the former log, and logs that were rotated since then.
func (f *file) beforeRotation() []part {
	last := len(f.parts) - 1
	waiting := slices.Clone(f.parts[:last])
	for _, p := range rotated(f.path, f.planned.Add(-time.Minute)) {
		if !slices.ContainsFunc(waiting, func(w part) bool { return os.SameFile(w.info, p.info) }) {
			waiting = append(waiting, p.resumed(f.parts[last]))
		}
	}
	return waiting
}

// newest returns the newest parts, with at most limit bytes in total. The oldest of them may begin
// in the middle of its file.
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

// continues reports whether the log is still the file that was read: the same file, not
// shorter, and with the same bytes before offset.
func (p *part) continues(log *os.File, info os.FileInfo) bool {
	if !os.SameFile(p.info, info) || info.Size() < p.offset {
		return false
	}
	tail, err := tailOf(log, p.offset)
	return err == nil && (tail == p.tail || p.tail == [sha256.Size]byte{})
}

// isIn reports whether the other part has everything that was read of p: it is the same file, or a
// copy of it.
func (p *part) isIn(other part) bool {
	if os.SameFile(p.info, other.info) {
		return true
	}
	log, info, err := open(other.path)
	if err != nil {
		return false
	}
	defer func() { _ = log.Close() }() // it was only read
	if !os.SameFile(other.info, info) || info.Size() < p.offset {
		return false
	}
	tail, err := tailOf(log, p.offset)
	return err == nil && p.offset > 0 && tail == p.tail
}

// resumed returns the part with the position of known if both are the same file under
// different names.
func (p part) resumed(known part) part {
	if os.SameFile(p.info, known.info) && !p.compressed() {
		p.offset, p.inside, p.tail = known.offset, known.inside, known.tail
	}
	return p
}

func (p *part) compressed() bool { return strings.HasSuffix(p.path, ".gz") }

// errRenamed is the error of a file that was renamed after it was found.
var errRenamed = errors.New("the audit log was renamed")

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
		return 0, errRenamed // its lines are read later under the new name, or lost
	}
	l := newLines(io.NewSectionReader(log, p.offset, info.Size()-p.offset), p.inside)
	n, err := l.read(ctx, each)
	p.offset, p.inside, p.cut = p.offset+n, l.inside, l.cut
	if tail, err := tailOf(log, p.offset); err == nil {
		p.tail = tail
	}
	if err != nil {
		return l.long, fmt.Errorf("read audit log %s: %w", p.path, bounded.Cause(err))
	}
	return l.long, nil
}

// readCompressed reads a compressed file from the position of the last call.
func (p *part) readCompressed(ctx context.Context, each func([]byte)) (long int, err error) {
	if p.unpacked == nil {
		if err := p.unpack(); err != nil || p.unpacked == nil {
			return 0, err
		}
	}
	before := p.unpacked.long
	_, err = p.unpacked.read(ctx, each)
	long, p.cut = p.unpacked.long-before, p.unpacked.cut
	if left := err == nil && ctx.Err() != nil; left {
		return long, nil
	}
	if err = errors.Join(err, p.file.Close()); err != nil {
		err = fmt.Errorf("read rotated audit log: %w", err)
	}
	p.unpacked, p.file = nil, nil
	return long, err
}

// unpack opens a compressed file, unless it was renamed in the meantime.
func (p *part) unpack() error {
	log, info, err := open(p.path)
	if err != nil {
		return fmt.Errorf("open audit log: %w", err)
	}
	if !os.SameFile(p.info, info) {
		return errors.Join(errRenamed, log.Close())
	}
	z, err := gzip.NewReader(log)
	if err != nil {
		return errors.Join(fmt.Errorf("read rotated audit log: %w", err), log.Close())
	}
	p.unpacked, p.file = newLines(io.LimitReader(z, maxFirst), false), log
	return nil
}

// maxTail is the number of bytes before an offset that identify a file.
const maxTail = 256

// tailOf returns a digest of the maxTail bytes before an offset. A digest is used because
// the bytes may hold secrets.
func tailOf(r io.ReaderAt, offset int64) ([sha256.Size]byte, error) {
	text := make([]byte, min(maxTail, offset))
	if _, err := r.ReadAt(text, offset-int64(len(text))); err != nil {
		return [sha256.Size]byte{}, err
	}
	return sha256.Sum256(text), nil
}

// open opens a regular file. It returns an error for other files, since opening a pipe could block.
func open(path string) (*os.File, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, bounded.Cause(err))
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file: set the file of the API server's --audit-log-path", path)
	}
	log, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, bounded.Cause(err))
	}
	if info, err = log.Stat(); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("%s: %w", path, bounded.Cause(err)), log.Close())
	}
	return log, info, nil
}
