package launch

import (
	"bytes"
	"io"
	"strings"
)

// An excerpt keeps the beginning and the end of what is written to it. The zero excerpt
// keeps nothing.
type excerpt struct {
	// limit is how many bytes are kept.
	limit   int
	head    []byte
	tail    []byte
	dropped bool
}

// Write never fails.
func (e *excerpt) Write(p []byte) (int, error) {
	written := len(p)
	if room := e.limit/2 - len(e.head); room > 0 {
		n := min(room, len(p))
		e.head = append(e.head, p[:n]...)
		p = p[n:]
	}
	keep := e.limit - e.limit/2
	if len(p) > keep {
		p, e.dropped = p[len(p)-keep:], true
	}
	e.tail = append(e.tail, p...)
	// Cutting only now and then keeps the copying small.
	if len(e.tail) > 2*keep {
		e.tail, e.dropped = append([]byte(nil), e.tail[len(e.tail)-keep:]...), true
	}
	return written, nil
}

// String returns the text that was kept. It omits whole lines only, because a part of a line could be a
// part of a secret.
func (e *excerpt) String() string {
	tail := e.tail
	if keep := e.limit - e.limit/2; len(tail) > keep {
		tail, e.dropped = tail[len(tail)-keep:], true
	}
	if !e.dropped {
		return string(e.head) + string(tail)
	}
	head := e.head[:bytes.LastIndexByte(e.head, '\n')+1]
	if i := bytes.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i+1:]
	} else {
		tail = nil
	}
	return strings.ToValidUTF8(string(head)+"…\n"+string(tail), "\uFFFD")
}

// A lineFilter writes whole lines to w and leaves out those of more than limit bytes, not
// counting the line feed. With limit 0 it writes everything.
type lineFilter struct {
	limit   int
	w       io.Writer
	partial []byte
	// skipping is true while the current line is longer than limit.
	skipping bool
}

// Write fails if the writer behind it does.
func (f *lineFilter) Write(p []byte) (int, error) {
	if f.limit == 0 {
		return f.w.Write(p)
	}
	written := len(p)
	for line := range bytes.Lines(p) {
		f.skipping = f.skipping || len(f.partial)+len(bytes.TrimSuffix(line, []byte("\n"))) > f.limit
		if f.skipping {
			f.partial = f.partial[:0]
		} else {
			f.partial = append(f.partial, line...)
		}
		if !bytes.HasSuffix(line, []byte("\n")) {
			continue
		}
		if err := f.end(); err != nil {
			return 0, err
		}
	}
	return written, nil
}

// end writes a last line without a line feed.
func (f *lineFilter) end() error {
	_, err := f.w.Write(f.partial)
	f.partial, f.skipping = f.partial[:0], false
	return err
}
