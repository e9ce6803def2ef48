package access

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// Limits of failed logins. In each rate bucket, burst logins may fail in a row, and then one
// per refill.
const (
	burst      = 10
	refill     = 6 * time.Second
	maxBuckets = 10_000
	// maxWaiting is how many requests may wait for a password comparison. It is larger than
	// the burst of one network.
	maxWaiting = 3 * burst
)

// A bucket holds the number of logins that may still fail.
type bucket struct {
	tokens float64
	at     time.Time
}

// failures limits the rate of failed logins per bucket: one for each network and for each
// known browser. It locks no user out: buckets refill over time, and a successful login takes
// no token.
type failures struct {
	mu      sync.Mutex
	buckets map[string]*bucket
	// overflow is shared by all for whom there is no room, and swept is when full buckets
	// were last removed.
	overflow bucket
	swept    time.Time
}

// take takes a token from the named bucket. If it is empty, take returns how long to wait.
func (f *failures) take(name string, now time.Time) (wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.bucketOf(name, now)
	b.fill(now)
	if b.tokens < 1 {
		return max(time.Duration((1-b.tokens)*float64(refill)), time.Millisecond)
	}
	b.tokens--
	return 0
}

// give returns a token for a login that succeeded or was not attempted.
func (f *failures) give(name string, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.bucketOf(name, now)
	b.fill(now)
	b.tokens = min(burst, b.tokens+1)
}

// bucketOf returns the named bucket and creates it if needed. It removes full buckets if there
// are too many, and returns the shared one if that is not enough.
func (f *failures) bucketOf(name string, now time.Time) *bucket {
	if b, ok := f.buckets[name]; ok {
		return b
	}
	if since := now.Sub(f.swept); len(f.buckets) >= maxBuckets && (since < 0 || since >= refill) {
		f.swept = now
		for other, b := range f.buckets {
			if b.fill(now); b.tokens >= burst {
				delete(f.buckets, other)
			}
		}
	}
	if len(f.buckets) >= maxBuckets {
		return &f.overflow
	}
	b := &bucket{tokens: burst, at: now}
	f.buckets[name] = b
	return b
}

// fill adds the tokens for the time since the last call. A clock that was set back adds none.
func (b *bucket) fill(now time.Time) {
	if b.at.IsZero() {
		b.tokens = burst
	}
	b.tokens = min(burst, b.tokens+max(0, float64(now.Sub(b.at))/float64(refill)))
	b.at = now
}

// A queue limits how many requests run and how many wait. bcrypt is slow by design and must
// not use all processors.
type queue struct{ waiting, working chan struct{} }

// newHashing returns a queue that uses at most half of the processors, and at most two.
func newHashing() queue { return newQueue(min(2, max(1, runtime.GOMAXPROCS(0)/2)), maxWaiting) }

func newQueue(working, waiting int) queue {
	return queue{waiting: make(chan struct{}, working+waiting), working: make(chan struct{}, working)}
}

// enter waits until the caller may run. It returns false if too many wait or ctx ends; else
// the caller must call leave.
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
