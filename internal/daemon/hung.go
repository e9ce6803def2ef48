package daemon

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sourcegraph/conc/panics"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/printable"
)

// calls runs collectors and loaders. It abandons a call that does not return when its
// context ends: a read of a hung file system (NFS) cannot be interrupted. It is safe for
// concurrent use.
type calls struct {
	// memory bounds what all calls take; nil bounds nothing.
	memory *budget.Total

	mu sync.Mutex
	// abandoned are the abandoned calls that have not returned yet.
	abandoned map[*call]bool
}

// A call is one call of a source's collector or a declaration's loader.
type call struct {
	of       string
	since    time.Time
	returned bool
}

// How long a call may take after its context has ended. After its own timeout it may
// still have to end a program such as Terraform. When driftd stops, or the client of a
// request has disconnected, there is less time.
const (
	hungAfter   = 30 * time.Second
	stoppedWait = stopTimeout - time.Second
)

// A hungError reports an abandoned call.
type hungError struct{ problem string }

// Error implements error.
func (e *hungError) Error() string { return e.problem + ": is its file system hung?" }

// A panicError reports a call that panicked.
type panicError struct{ recovered *panics.Recovered }

// newPanicError returns the error of a panic, of the goroutine where it began.
func newPanicError(r *panics.Recovered) *panicError {
	for {
		inner, ok := r.Value.(*panics.Recovered)
		if !ok {
			return &panicError{r}
		}
		r = inner
	}
}

// Error implements error.
func (e *panicError) Error() string {
	return fmt.Sprintf("driftd panicked, which is a bug in driftd: report it with the stack in its log (%s)", printable.Text(fmt.Sprint(e.recovered.Value)))
}

// A task describes one call of a collector or loader, with its limits.
type task struct {
	// of names what is read ("source pve"): while an abandoned call of it has not returned,
	// later ones fail. what names the call in messages; "" stands for of.
	of, what string
	// timeout bounds the time, memory the bytes; zero means no bound.
	timeout time.Duration
	memory  int64
}

// callBounded returns the result of f within the bounds of a task. A panic of f is an error. If f
// has not returned some time after the end of its context, callBounded abandons it and returns a
// *hungError. Until f returns, later calls of the same source or declaration return a
// *hungError at once.
func callBounded[T any](parent context.Context, c *calls, t task, now func() time.Time, f func(context.Context) (T, error)) (T, error) {
	return budget.Run(c.memory.Scope(parent, t.memory), func(parent context.Context) (T, error) {
		ctx, cancel := withTimeout(parent, t.timeout, cmp.Or(t.what, t.of))
		defer cancel()
		return supervise(parent, ctx, c, t.of, now, func(ctx context.Context) (T, error) {
			value, err := f(ctx)
			return value, httpclient.Because(ctx, err)
		})
	})
}

// supervise is run without bounds of its own: ctx ends by itself, and parent with it.
func supervise[T any](parent, ctx context.Context, c *calls, of string, now func() time.Time, f func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	this := &call{of: of, since: now()}
	if err := c.hung(of); err != nil {
		var none T
		return none, err
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		if panicked := panics.Try(func() { o.value, o.err = f(ctx) }); panicked != nil {
			o.err = newPanicError(panicked)
		}
		c.end(this)
		done <- o
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	late := time.NewTimer(hungAfter)
	defer late.Stop()
	for stopped := parent.Done(); ; {
		select {
		case o := <-done:
			return o.value, o.err
		case <-stopped:
			stopped = nil
			late.Reset(stoppedWait)
		case <-late.C:
			if c.abandon(this) {
				var none T
				return none, &hungError{fmt.Sprintf("did not return within %s", now().Sub(this.since).Round(time.Second))}
			}
			o := <-done
			return o.value, o.err
		}
	}
}

// hung returns an error if a call of the same source or declaration was abandoned and has
// not returned.
func (c *calls) hung(of string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var since time.Time
	for left := range c.abandoned {
		if left.of == of && (since.IsZero() || left.since.Before(since)) {
			since = left.since
		}
	}
	if since.IsZero() {
		return nil
	}
	return &hungError{fmt.Sprintf("not read again: the read that began at %s has not returned", since.UTC().Format(time.RFC3339))}
}

// abandon records a call as abandoned. It returns false if the call has returned meanwhile.
func (c *calls) abandon(this *call) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if this.returned {
		return false
	}
	if c.abandoned == nil {
		c.abandoned = map[*call]bool{}
	}
	c.abandoned[this] = true
	return true
}

func (c *calls) end(this *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	this.returned = true
	delete(c.abandoned, this)
}
