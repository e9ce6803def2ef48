package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line, in bytes. At level RequestResponse a line contains an object
// twice, or a whole list of objects.
const maxLine = 16 << 20

// lines splits a reader's content into lines.
type lines struct {
	from *bufio.Reader
	// inside reports that the reader is in the middle of a line whose beginning was not
	// read or was too long. long is the number of lines that were skipped because they
	// were too long.
	inside bool
	long   int
	// cut reports that the content ended in the middle of a line.
	cut  bool
	line []byte
}

// newLines returns the lines of r. With inside, r begins in the middle of a line.
func newLines(r io.Reader, inside bool) *lines {
	return &lines{from: bufio.NewReaderSize(r, 256<<10), inside: inside}
}

// read calls each with each complete line, until r or ctx ends. It may be called again. It returns
// the number of bytes that need not be read again. Text after the last line feed, which may become
// a complete line, must be read again unless it is already too long.
func (l *lines) read(ctx context.Context, each func([]byte)) (done int64, err error) {
	for ctx.Err() == nil {
		piece, err := l.from.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			l.cut = len(l.line)+len(piece) > 0
			return done, l.end(err)
		}
		whole := err == nil
		if !l.inside && (len(l.line) > 0 || !whole) {
			l.line = append(l.line, piece...)
			if !whole && len(l.line) <= maxLine {
				continue
			}
			done, piece = done+int64(len(l.line)), l.line
		} else {
			done += int64(len(piece))
		}
		l.emit(piece, whole, each)
	}
	return done, nil
}

// emit calls each with a line, unless the line is too long, its beginning is missing, or
// it cannot be the event of a write.
func (l *lines) emit(piece []byte, whole bool, each func([]byte)) {
	switch {
	case l.inside, len(piece) > maxLine:
		if !l.inside {
			l.long++
		}
		l.inside = !whole
	case mayBeWrite(piece):
		each(piece)
	}
	l.line = l.line[:0]
}

// mayBeWrite reports whether a line can be the event of a completed write. It is cheaper
// than decoding the line.
func mayBeWrite(line []byte) bool {
	if !bytes.Contains(line, []byte("ResponseComplete")) {
		return false
	}
	for _, verb := range []string{`"patch"`, `"update"`, `"create"`, `"delete"`, `"deletecollection"`} {
		if bytes.Contains(line, []byte(verb)) {
			return true
		}
	}
	return false
}

// end drops an incomplete line, which is read again when it is complete. It returns nil
// for io.EOF.
func (l *lines) end(err error) error {
	l.line = l.line[:0]
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read line: %w", err)
}
