package web

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestIndexIsMadeAhead verifies that the first request after a change does not wait, and that
// rebuilding takes at most a hundredth of the time.
func TestIndexIsMadeAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const takes = 250 * time.Millisecond
		news := NewNews()
		var made, troubles atomic.Int64
		c := newCache(func(revision uint64) (*index, error) {
			n := made.Add(1)
			time.Sleep(takes)
			switch n {
			case 2:
				return nil, errors.New("the disk is gone")
			case 3:
				panic("a bug")
			}
			return &index{revision: revision, built: time.Now()}, nil
		}, news, time.Now)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			c.keep(ctx, func(error) { troubles.Add(1) })
			close(done)
		}()
		for range 10 {
			time.Sleep(rest * 2 * takes)
			news.Notify()
		}
		time.Sleep(rest * 2 * takes)
		began := time.Now()
		x, err := c.get(ctx, false)
		if wanted, _ := news.Now(); err != nil || x.revision != wanted || time.Since(began) > 0 {
			t.Errorf("after %v: revision %d, %v; want %d at once", time.Since(began), x.revision, err, wanted)
		}
		if troubles.Load() != 2 {
			t.Errorf("%d troubles were told, want an error and a panic", troubles.Load())
		}
		before := made.Load()
		for range 1000 {
			news.Notify()
			time.Sleep(takes)
		}
		if more := made.Load() - before; more > 1000/rest+1 {
			t.Errorf("made %d times while news came all the time", more)
		}
		stop()
		<-done
	})
}
