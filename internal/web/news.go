package web

import "sync"

// News tells open pages that something changed. It is safe for concurrent use.
type News struct {
	mu       sync.Mutex
	revision uint64
	changed  chan struct{}
}

// NewNews returns News of which nothing was told yet.
func NewNews() *News { return &News{changed: make(chan struct{})} }

// Tell says that what pages show may have changed. It never blocks.
func (n *News) Tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.revision++
	close(n.changed)
	n.changed = make(chan struct{})
}

// Now returns how often it was told, and a channel that is closed when it is
// told next.
func (n *News) Now() (revision uint64, changed <-chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.revision, n.changed
}
