package process

import (
	"bytes"
	"errors"
	"strings"
)

// An Excerpt keeps the beginning and the end of what is written to it, and
// takes any amount. The zero Excerpt keeps nothing.
type Excerpt struct {
	// Limit is how many bytes are kept.
	Limit   int
	head    []byte
	tail    []byte
	dropped bool
}

// Write never fails.
func (e *Excerpt) Write(p []byte) (int, error) {
	written := len(p)
	if room := e.Limit/2 - len(e.head); room > 0 {
		n := min(room, len(p))
		e.head = append(e.head, p[:n]...)
		p = p[n:]
	}
	keep := e.Limit - e.Limit/2
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

// String returns what was kept. Where something is missing, whole lines are:
// half a line could be half a secret.
func (e *Excerpt) String() string {
	tail := e.tail
	if keep := e.Limit - e.Limit/2; len(tail) > keep {
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

// A Lines hands each line that is written to it to Line; lines that are longer
// than Limit are dropped whole.
type Lines struct {
	Limit int
	// Line gets a line without its end. It must not keep it.
	Line    func([]byte)
	partial []byte
	// skipping tells that the current line was too long.
	skipping bool
}

// Write never fails.
func (l *Lines) Write(p []byte) (int, error) {
	written := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.keep(p)
			return written, nil
		}
		l.keep(p[:i])
		l.flush()
		p = p[i+1:]
	}
}

func (l *Lines) keep(p []byte) {
	if l.skipping = l.skipping || len(l.partial)+len(p) > l.Limit; l.skipping {
		l.partial = l.partial[:0]
		return
	}
	l.partial = append(l.partial, p...)
}

func (l *Lines) flush() {
	if !l.skipping && len(l.partial) > 0 {
		l.Line(l.partial)
	}
	l.partial, l.skipping = l.partial[:0], false
}

// Close hands out a last line that has no end.
func (l *Lines) Close() { l.flush() }

// ErrTooMuch is the error of a Buffer that is full.
var ErrTooMuch = errors.New("the output is too large")

// A Buffer holds up to Limit bytes; more is an error.
type Buffer struct {
	Limit int
	// Embedded, its ReadFrom would go round the limit.
	content bytes.Buffer
}

// Write fails with ErrTooMuch when p does not fit.
func (b *Buffer) Write(p []byte) (int, error) {
	if b.content.Len()+len(p) > b.Limit {
		return 0, ErrTooMuch
	}
	return b.content.Write(p)
}

// Bytes returns what was written; it may be called once all was.
func (b *Buffer) Bytes() []byte { return b.content.Bytes() }
