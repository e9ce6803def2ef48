package kubernetes

import (
	"context"
	"io"
	"time"
)

// largeEvent is how much of an event a stream reads without a turn, in bytes. There
// are as many streams as kinds, and each of them holds the event that it reads.
const largeEvent = 16 << 10

// A queue reads a stream of events. It waits for a turn before it reads on in an
// event that is large, and keeps the turn until the event is done with.
type queue struct {
	// ended returns why the stream has ended, and done is closed when it has.
	ended func() error
	done  <-chan struct{}
	r     io.Reader
	turns chan struct{}
	// cancel ends the stream where a turn lasts longer than timeout: others wait.
	cancel  context.CancelFunc
	timeout time.Duration
	late    *time.Timer
	// unread is what is read before r.
	unread []byte
	// read counts the bytes of the present event.
	read int64
	has  bool
}

// newQueue returns the queue of a stream that cancel ends.
func newQueue(ctx context.Context, cancel context.CancelFunc, timeout time.Duration, r io.Reader, turns chan struct{}) *queue {
	return &queue{ended: func() error { return context.Cause(ctx) }, done: ctx.Done(), cancel: cancel, timeout: timeout, r: r, turns: turns}
}

// Read implements io.Reader.
func (q *queue) Read(p []byte) (n int, err error) {
	if q.read > largeEvent && !q.has {
		select {
		case q.turns <- struct{}{}:
			q.has = true
			q.late = time.AfterFunc(q.timeout, q.cancel)
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
		q.late.Stop()
		<-q.turns
	}
	q.read, q.has = 0, false
	return had
}
