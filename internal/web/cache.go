package web

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A cache holds the index until something changes. The index is built once for all visitors, on
// request or ahead of it, and at most once per pause.
type cache struct {
	make func(revision uint64) (*index, error)
	news *News
	now  func() time.Time

	mu      sync.Mutex
	current *index
	// took is the duration of the last build.
	took time.Duration
	// making is closed when the running build ends; nil if none is running.
	making chan struct{}
}

// After a change the index is rebuilt after pause at the earliest, or after patience times the
// duration of the last build if that is shorter. Without a notification it is rebuilt after
// longest. During a rebuild the old index is served until it is soon old.
const (
	pause    = time.Second
	patience = 10
	soon     = 5 * time.Second
	longest  = time.Minute
)

func newCache(build func(uint64) (*index, error), news *News, now func() time.Time) *cache {
	return &cache{make: build, news: news, now: now}
}

// get returns an index that is at most pause old. With fresh it waits for an index that includes
// all changes until now.
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

// look returns the current index, or a function that waits for the next one.
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

// renew rebuilds the index. It ends the running build even after an error, so that a later call can
// retry.
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

// rest is the minimum pause between builds ahead of requests, as a multiple of the duration of a
// build.
const rest = 100

// keep rebuilds the index after each change until ctx ends. It passes errors to troubled.
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

// ahead calls get and returns a panic as an error.
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
