package reconcile

import "context"

// A Lock is held while an action is carried out. Unlike a sync.Mutex, it can be waited for until a context ends.
type Lock chan struct{}

// NewLock returns a Lock that is not held.
func NewLock() Lock { return make(Lock, 1) }

// Acquire waits until nothing else holds the lock.
func (l Lock) Acquire() { l <- struct{}{} }

// TryAcquire is Acquire until ctx ends. It reports whether the lock is held.
func (l Lock) TryAcquire(ctx context.Context) bool {
	select {
	case l <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Release lets the next one acquire the lock.
func (l Lock) Release() { <-l }
