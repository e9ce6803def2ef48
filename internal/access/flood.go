package access

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Bounds of what fails. Ten logins may fail in a row in one lane, and then one
// every six seconds.
const (
	burst    = 10
	refill   = 6 * time.Second
	maxLanes = 10_000
	// maxWaiting is how many wait for a password to be compared: more than one
	// network's burst.
	maxWaiting = 3 * burst
)

// A bucket holds what may still fail.
type bucket struct {
	tokens float64
	at     time.Time
}

// failures bound how often logins may fail in one lane: from one network, or by
// one browser that is known. Nobody is locked out: a bucket fills up again by
// itself, and what succeeds costs nothing.
type failures struct {
	mu      sync.Mutex
	buckets map[string]*bucket
	// rest is shared by all for whom there is no room, and swept is when room was
	// last made.
	rest  bucket
	swept time.Time
}

// take takes a try from a lane, or says how long to wait for the next one.
func (f *failures) take(lane string, now time.Time) (wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.bucketOf(lane, now)
	b.fill(now)
	if b.tokens < 1 {
		return max(time.Duration((1-b.tokens)*float64(refill)), time.Millisecond)
	}
	b.tokens--
	return 0
}

// give gives a try back that was none, or that succeeded.
func (f *failures) give(lane string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.bucketOf(lane, now)
	b.fill(now)
	b.tokens = min(burst, b.tokens+1)
}

func (f *failures) bucketOf(lane string, now time.Time) *bucket {
	if b, ok := f.buckets[lane]; ok {
		return b
	}
	if since := now.Sub(f.swept); len(f.buckets) >= maxLanes && (since < 0 || since >= refill) {
		f.swept = now
		for other, b := range f.buckets {
			if b.fill(now); b.tokens >= burst {
				delete(f.buckets, other)
			}
		}
	}
	if len(f.buckets) >= maxLanes {
		return &f.rest
	}
	b := &bucket{tokens: burst, at: now}
	f.buckets[lane] = b
	return b
}

// fill adds what has come in since the last look. A clock that was set back adds
// nothing.
func (b *bucket) fill(now time.Time) {
	if b.at.IsZero() {
		b.tokens = burst
	}
	b.tokens = min(burst, b.tokens+max(0, float64(now.Sub(b.at))/float64(refill)))
	b.at = now
}

// A queue lets few work at once and few wait: comparing passwords is made to be
// slow, and must not take the machine.
type queue struct{ waiting, working chan struct{} }

// newHashing returns a queue that leaves half of the processors to others, and
// takes two at most.
func newHashing() queue { return newQueue(min(2, max(1, runtime.GOMAXPROCS(0)/2)), maxWaiting) }

func newQueue(working, waiting int) queue {
	return queue{waiting: make(chan struct{}, working+waiting), working: make(chan struct{}, working)}
}

// enter waits for a turn; ok is false where too many wait, or ctx ends. Whoever
// has entered leaves.
func (q queue) enter(ctx context.Context) (ok bool) {
	select {
	case q.waiting <- struct{}{}:
	default:
		return false
	}
	select {
	case q.working <- struct{}{}:
		return true
	case <-ctx.Done():
		<-q.waiting
		return false
	}
}

func (q queue) leave() {
	<-q.working
	<-q.waiting
}
