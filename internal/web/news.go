package web

import "sync"

// News notifies open pages of changes. It is safe for concurrent use.
type News struct {
	mu       sync.Mutex
	revision uint64
	changed  chan struct{}
}

// NewNews returns News at revision 0.
func NewNews() *News { return &News{changed: make(chan struct{})} }

// Notify reports that the content of pages may have changed. It never blocks.
func (n *News) Notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.revision++
	close(n.changed)
	n.changed = make(chan struct{})
}

// Now returns the revision, which is the number of changes, and a channel that the next change
// closes.
func (n *News) Now() (revision uint64, changed <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.revision, n.changed
}
