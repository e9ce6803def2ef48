package web

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A cache keeps what pages are made of while nothing changes: it is made once
// for all who look, when somebody looks or ahead of that, and not more often than
// once in pause.
type cache struct {
	make func(revision uint64) (*index, error)
	news *News
	now  func() time.Time

	mu      sync.Mutex
	current *index
	// took is how long it took to make it.
	took time.Duration
	// making is closed when what is being made is there; nil while nothing is.
	making chan struct{}
}

// What changes is made anew after pause at the earliest, or after patience times
// what it took to make, where that is less; after longest also what nobody told of.
// While that goes on, what there was serves, up to soon.
const (
	pause    = time.Second
	patience = 10
	soon     = 5 * time.Second
	longest  = time.Minute
)

func newCache(build func(uint64) (*index, error), news *News, now func() time.Time) *cache {
	return &cache{make: build, news: news, now: now}
}

// get returns what pages are made of, no older than pause. Fresh wants it as it
// is now, and waits for that.
func (c *cache) get(ctx context.Context, fresh bool) (*index, error) {
	wanted, _ := c.news.Now()
	for {
		found, wait, err := c.look(wanted, fresh)
		if found != nil || err != nil {
			return found, err
		}
		if err := wait(ctx); err != nil {
			return nil, err
		}
	}
}

// look returns what there is, or how to wait for it.
func (c *cache) look(wanted uint64, fresh bool) (*index, func(context.Context) error, error) {
	c.mu.Lock()
	age := longest
	if c.current != nil {
		age = c.now().Sub(c.current.built)
	}
	pause := min(pause, patience*c.took)
	switch {
	case c.current != nil && age < longest && (c.current.revision >= wanted || age < pause && !fresh):
		defer c.mu.Unlock()
		return c.current, nil, nil
	case c.making != nil && !fresh && age < soon:
		defer c.mu.Unlock()
		return c.current, nil, nil
	case c.making != nil:
		defer c.mu.Unlock()
		return nil, until(c.making), nil
	case age < pause:
		defer c.mu.Unlock()
		return nil, sleep(pause - max(age, 0)), nil
	}
	c.making = make(chan struct{})
	c.mu.Unlock()
	made, err := c.renew()
	return made, nil, err
}

// renew makes anew what there is. Whatever comes of it, others may try again.
func (c *cache) renew() (made *index, err error) {
	began := c.now()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.took = c.now().Sub(began)
		if made != nil && err == nil {
			c.current = made
		}
		close(c.making)
		c.making = nil
	}()
	revision, _ := c.news.Now()
	return c.make(revision)
}

// rest is how much longer than making it took nothing is made ahead.
const rest = 100

// keep makes ahead what pages are made of, each time that something changes, until
// ctx ends; troubled hears why it could not.
func (c *cache) keep(ctx context.Context, troubled func(error)) {
	for ctx.Err() == nil {
		_, changed := c.news.Now()
		began := c.now()
		if err := c.ahead(ctx); err != nil {
			troubled(err)
		}
		if sleep(max(pause, rest*c.now().Sub(began)))(ctx) != nil {
			return
		}
		timer := time.NewTimer(longest)
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// ahead is get, where a panic is an error like any other.
func (c *cache) ahead(ctx context.Context) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("prepare pages: %v", cause)
		}
	}()
	_, err = c.get(ctx, false)
	return err
}

func until(done <-chan struct{}) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func sleep(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
