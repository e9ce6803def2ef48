package backend

import "sync"

// A once caches a value from its first successful creation until it is forgotten.
type once[T any] struct {
	mu   sync.Mutex
	made *T
}

// get returns the cached value, or creates it.
func (o *once[T]) get(create func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.made != nil {
		return *o.made, nil
	}
	made, err := create()
	if err == nil {
		o.made = &made
	}
	return made, err
}

func (o *once[T]) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.made = nil
}
