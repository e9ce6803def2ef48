package kubernetes

import (
	"context"
	"io"
	"time"
)

// largeEvent is the number of bytes of an event that a stream reads without a turn. There is
// a stream for each kind, and each stream holds the event that it reads.
const largeEvent = 16 << 10

// A queue reads a stream of events. It waits for a turn before it reads the rest of a large
// event, and keeps the turn until leave is called.
type queue struct {
	// ended returns the error that ended the stream. done is closed when the stream ends.
	ended func() error
	done  <-chan struct{}
	r     io.Reader
	turns chan struct{}
	// cancel ends the stream if a turn lasts longer than timeout, because other streams wait
	// for the turn.
	cancel  context.CancelFunc
	timeout time.Duration
	timer   *time.Timer
	// unread is read before r.
	unread []byte
	// read counts the bytes of the current event.
	read int64
	has  bool
}

// newQueue returns a queue that reads from r. cancel must end ctx and the stream.
func newQueue(ctx context.Context, cancel context.CancelFunc, timeout time.Duration, r io.Reader, turns chan struct{}) *queue {
	return &queue{ended: func() error { return context.Cause(ctx) }, done: ctx.Done(), cancel: cancel, timeout: timeout, r: r, turns: turns}
}

// Read implements io.Reader.
func (q *queue) Read(p []byte) (n int, err error) {
	if q.read > largeEvent && !q.has {
		select {
		case q.turns <- struct{}{}:
			q.has = true
			q.timer = time.AfterFunc(q.timeout, q.cancel)
		case <-q.done:
			return 0, q.ended()
		}
	}
	if len(q.unread) > 0 {
		n = copy(p, q.unread)
		q.unread = q.unread[n:]
	} else {
		q.unread = nil
		n, err = q.r.Read(p)
	}
	q.read += int64(n)
	return n, err
}

// leave ends an event. It reports whether the event was large.
func (q *queue) leave() bool {
	had := q.has
	if had {
		q.timer.Stop()
		<-q.turns
	}
	q.read, q.has = 0, false
	return had
}
