// Package budget bounds the memory of reads of foreign systems. It depends on the answers of
// a server or the content of a repository: a few megabytes of JSON may become gigabytes of
// values.
//
// A look counts what it reads before it decodes it, by what decoding that text takes at
// most. A look that needs more than its limit ends with an error. When all together need
// more than their total, the largest one ends and is tried again, with preference.
package budget

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/semaphore"
)

// An Exceeded reports that a look needs more memory than it may have.
type Exceeded struct {
	// Limit is the limit that was exceeded, in bytes: that of the read or, if Shared is set, that of all
	// reads together.
	Limit  int64
	Shared bool
}

// Error returns the limit that was exceeded, and the setting that raises it.
func (e *Exceeded) Error() string {
	if e.Shared {
		return fmt.Sprintf("it needs the largest part of what all sources and declarations together need, which is more than %s of memory: read less of it, or raise max_memory at the top of the configuration", humanize.IBytes(uint64(e.Limit)))
	}
	return fmt.Sprintf("it needs more than %s of memory: read less of it, or raise its max_memory", humanize.IBytes(uint64(e.Limit)))
}

// A Total bounds the memory of all looks and of what they leave behind. It is safe for
// concurrent use; a nil Total bounds nothing.
type Total struct {
	limit int64
	// preference is held by the one look that is tried again.
	preference *semaphore.Weighted

	mu      sync.Mutex
	held    int64
	running map[*look]bool
	kept    map[string]int64
}

// preferenceWait is how long a look waits to be tried again, while another one is.
const preferenceWait = time.Minute

// NewTotal returns a Total with a limit in bytes.
func NewTotal(limit int64) *Total {
	return &Total{limit: limit, preference: semaphore.NewWeighted(1), running: map[*look]bool{}, kept: map[string]int64{}}
}

// Keep records the memory of the retained result of the last read with the given name, in bytes.
func (t *Total) Keep(name string, bytes int64) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held += bytes - t.kept[name]
	t.kept[name] = bytes
}

// A look counts the memory of one look. The mutex of its total guards what follows it.
type look struct {
	total  *Total
	limit  int64
	cancel context.CancelCauseFunc
	// preferred looks end only if they do not fit into the memory that is not kept.
	preferred bool

	held  int64
	ended bool
	err   error
}

// A part is a part of a look.
type part struct {
	look *look
	// held is what it took since it was settled last. The mutex of the total guards it.
	held int64
}

type (
	partKey  struct{}
	scopeKey struct{}
)

// A scope is what looks are begun with.
type scope struct {
	total *Total
	limit int64
}

// Scope returns a context for reads that use at most limit bytes each.
func (t *Total) Scope(ctx context.Context, limit int64) context.Context {
	if t == nil || limit <= 0 {
		return ctx
	}
	return context.WithValue(ctx, scopeKey{}, scope{t, limit})
}

// Fits returns an *Exceeded if the result of a read is larger than the limit of the scope of ctx.
func Fits(ctx context.Context, bytes int64) error {
	if s, ok := ctx.Value(scopeKey{}).(scope); ok && bytes > s.limit {
		return &Exceeded{Limit: s.limit}
	}
	return nil
}

// Limit returns the maximum memory of a read in the scope of ctx, in bytes. It returns most if ctx has no
// scope.
func Limit(ctx context.Context, most int64) int64 {
	if s, ok := ctx.Value(scopeKey{}).(scope); ok {
		return min(s.limit, most)
	}
	return most
}

// Run calls f as one look, whose memory is counted through the context that f gets. A
// look that was ended because all looks together needed too much is run a second time:
// then it is others that end. That is one look at a time, and others wait for a minute at
// most. In a context without a scope nothing is counted.
func Run[T any](ctx context.Context, f func(context.Context) (T, error)) (T, error) {
	s, ok := ctx.Value(scopeKey{}).(scope)
	if !ok {
		return f(ctx)
	}
	value, err := attempt(ctx, s, false, f)
	if exceeded, ok := errors.AsType[*Exceeded](err); !ok || !exceeded.Shared {
		return value, err
	}
	wait, cancel := context.WithTimeout(ctx, preferenceWait)
	defer cancel()
	if s.total.preference.Acquire(wait, 1) != nil {
		return value, err
	}
	defer s.total.preference.Release(1)
	return attempt(ctx, s, true, f)
}

// attempt runs one look.
func attempt[T any](ctx context.Context, s scope, preferred bool, f func(context.Context) (T, error)) (value T, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := s.total.begin(&look{total: s.total, limit: s.limit, cancel: cancel, preferred: preferred})
	value, err = f(context.WithValue(ctx, partKey{}, &part{look: l}))
	if exceeded := l.end(); exceeded != nil {
		var none T
		return none, exceeded
	}
	return value, err
}

func (t *Total) begin(l *look) *look {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running[l] = true
	return l
}

// end returns the memory of a look, and the error that ended it.
func (l *look) end() error {
	t := l.total
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held -= l.held
	l.held, l.ended = 0, true
	delete(t.running, l)
	return l.err
}

// Take counts n bytes that the look of the context is about to take until its end. It
// fails with an *Exceeded if that is too much, and if the look has ended.
func Take(ctx context.Context, n int64) error { return of(ctx).take(n) }

// Part returns a context for a part of the look of ctx, such as a page of a list, and a
// function that settles it: of what the part took since it began, or was settled last,
// only kept bytes count until the end of the look.
func Part(ctx context.Context) (_ context.Context, settle func(kept int64)) {
	whole := of(ctx)
	if whole == nil {
		return ctx, func(int64) {}
	}
	p := &part{look: whole.look}
	return context.WithValue(ctx, partKey{}, p), func(kept int64) { p.settle(kept) }
}

// of returns the part of a look that a context is of; nil without one.
func of(ctx context.Context) *part {
	p, _ := ctx.Value(partKey{}).(*part)
	return p
}

func (p *part) take(n int64) error {
	if p == nil {
		return nil
	}
	l, t := p.look, p.look.total
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.ended {
		return errEnded
	}
	p.held += n
	l.add(n)
	return l.err
}

// add counts n bytes more, or less.
func (l *look) add(n int64) {
	t := l.total
	l.held += n
	t.held += n
	switch {
	case l.held > l.limit:
		l.stop(&Exceeded{Limit: l.limit})
	case t.held > t.limit:
		t.excess().stop(&Exceeded{Limit: t.limit, Shared: true})
	}
}

// errEnded is what a look gets that goes on after it was given up.
var errEnded = errors.New("the look has ended")

func (p *part) settle(kept int64) {
	t := p.look.total
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.look.ended {
		return
	}
	p.look.add(kept - p.held)
	p.held = 0
}

// stop ends a look for want of memory.
func (l *look) stop(err *Exceeded) {
	if l.err == nil {
		l.err = err
		l.cancel(err)
	}
}

// excess returns the look that has to end because all together hold too much: the
// preferred one if it does not fit into the memory that is not kept, or else the largest of
// the others.
func (t *Total) excess() *look {
	var largest, preferred *look
	for l := range t.running {
		switch {
		case l.preferred:
			preferred = l
		case largest == nil || l.held > largest.held:
			largest = l
		}
	}
	if preferred == nil {
		return largest
	}
	needed := preferred.held
	for _, bytes := range t.kept {
		needed += bytes
	}
	if largest == nil || needed > t.limit {
		return preferred
	}
	return largest
}
