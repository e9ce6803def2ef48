package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line, in bytes: at level RequestResponse it holds an object
// twice, or a whole list of them.
const maxLine = 16 << 20

// lines cuts what it reads into lines.
type lines struct {
	from *bufio.Reader
	// inside tells that the next line's beginning is not known, and long how many
	// lines were dropped because they were too long.
	inside bool
	long   int
	line   []byte
}

// newLines returns the lines of r; inside tells that it begins in the middle of
// one.
func newLines(r io.Reader, inside bool) *lines {
	return &lines{from: bufio.NewReaderSize(r, 256<<10), inside: inside}
}

// read hands over each line that has an end, until ctx does; it may be called
// again then. It returns how many bytes are done with: what is after the last end
// may become a line later.
func (l *lines) read(ctx context.Context, each func([]byte)) (done int64, err error) {
	for ctx.Err() == nil {
		piece, err := l.from.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
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
		l.hand(piece, whole, each)
	}
	return done, nil
}

// hand hands over a line, unless it is too long or its beginning is not known.
func (l *lines) hand(piece []byte, whole bool, each func([]byte)) {
	switch {
	case l.inside, len(piece) > maxLine:
		if !l.inside {
			l.long++
		}
		l.inside = !whole
	case mayTell(piece):
		each(piece)
	}
	l.line = l.line[:0]
}

// mayTell tells whether it is worth while to decode a line: whether it can be one
// of a request that changes something, and came to its end.
func mayTell(line []byte) bool {
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

// end forgets a line without an end: it is read again when it has one.
func (l *lines) end(err error) error {
	l.line = l.line[:0]
	if errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("read line: %w", err)
}
