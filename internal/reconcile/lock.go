package reconcile

import "context"

// A Lock is a mutual exclusion lock that is held while an action is carried out. In contrast to a
// sync.Mutex, acquiring it can be bounded by a context.
type Lock chan struct{}

// NewLock returns a Lock that is not held.
func NewLock() Lock { return make(Lock, 1) }

// Acquire waits until the lock is free and acquires it.
func (l Lock) Acquire() { l <- struct{}{} }

// TryAcquire is like Acquire, but gives up when ctx ends. It reports whether it acquired the lock.
func (l Lock) TryAcquire(ctx context.Context) bool {
	select {
	case l <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Release releases the lock, which the caller must hold.
func (l Lock) Release() { <-l }
