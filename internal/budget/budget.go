// Package budget bounds the memory of reads of other systems and of repositories, whose content decides how
// much memory a read needs: a few megabytes of JSON can become gigabytes of values.
//
// A read counts each text before it decodes it, by the most memory that the decoded text can take. A read that
// needs more than its limit ends with an error. If all reads together need more than the total, the largest one
// ends and is tried again, with preference.
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

// An Exceeded is the error of a read that needs more memory than its limit or, with others, than the total.
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

// A Total bounds the memory of all reads and of their retained results. It is safe for concurrent use. A nil
// Total bounds nothing.
type Total struct {
	limit int64
	// preference is held by the read that is tried again.
	preference *semaphore.Weighted

	mu      sync.Mutex
	held    int64
	running map[*reading]bool
	kept    map[string]int64
}

// preferenceWait bounds the time that a read waits while another one is tried again.
const preferenceWait = time.Minute

// NewTotal returns a Total with a limit in bytes.
func NewTotal(limit int64) *Total {
	return &Total{limit: limit, preference: semaphore.NewWeighted(1), running: map[*reading]bool{}, kept: map[string]int64{}}
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

// A reading is the memory of one read. The mutex of its total guards held, ended and err.
type reading struct {
	total  *Total
	limit  int64
	cancel context.CancelCauseFunc
	// preferred reports whether it ends only if it does not fit into the memory besides the retained results.
	preferred bool

	held  int64
	ended bool
	err   error
}

// A part is a part of a read whose memory is settled by itself.
type part struct {
	of *reading
	// held is the memory in bytes that it took since it was last settled. The mutex of the total guards it.
	held int64
}

type (
	partKey  struct{}
	scopeKey struct{}
)

// A scope has the limits of reads.
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

// Run calls f as one read, whose memory is counted by means of the context that f gets. It calls f a second
// time if the read ended because all reads together needed too much; others end in its place then. Only one
// read at a time is tried again, and the next one waits at most a minute for it. In a context without a scope,
// nothing is counted.
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

// attempt calls f once.
func attempt[T any](ctx context.Context, s scope, preferred bool, f func(context.Context) (T, error)) (value T, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := s.total.begin(&reading{total: s.total, limit: s.limit, cancel: cancel, preferred: preferred})
	value, err = f(context.WithValue(ctx, partKey{}, &part{of: r}))
	if exceeded := r.end(); exceeded != nil {
		var none T
		return none, exceeded
	}
	return value, err
}

func (t *Total) begin(r *reading) *reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running[r] = true
	return r
}

// end releases the memory of a read. It returns the error that ended the read early; nil if none did.
func (r *reading) end() error {
	t := r.total
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held -= r.held
	r.held, r.ended = 0, true
	delete(t.running, r)
	return r.err
}

// Take counts n bytes that the read of the context is about to use until its end. It returns an *Exceeded if a
// limit is exceeded, and another error if the read has ended.
func Take(ctx context.Context, n int64) error { return of(ctx).take(n) }

// Part returns a context for a part of the read of ctx, such as a page of a list, and a function that settles
// it: of the memory that the part took since it began or was last settled, only kept bytes count until the end
// of the read.
func Part(ctx context.Context) (_ context.Context, settle func(kept int64)) {
	whole := of(ctx)
	if whole == nil {
		return ctx, func(int64) {}
	}
	p := &part{of: whole.of}
	return context.WithValue(ctx, partKey{}, p), func(kept int64) { p.settle(kept) }
}

// of returns the part of a read that has the context; nil if there is none.
func of(ctx context.Context) *part {
	p, _ := ctx.Value(partKey{}).(*part)
	return p
}

func (p *part) take(n int64) error {
	if p == nil {
		return nil
	}
	r, t := p.of, p.of.total
	t.mu.Lock()
	defer t.mu.Unlock()
	if r.ended {
		return errEnded
	}
	p.held += n
	r.add(n)
	return r.err
}

// add counts n further bytes, or fewer if n is negative, and ends a read if a limit is exceeded.
func (r *reading) add(n int64) {
	t := r.total
	r.held += n
	t.held += n
	switch {
	case r.held > r.limit:
		r.stop(&Exceeded{Limit: r.limit})
	case t.held > t.limit:
		t.excess().stop(&Exceeded{Limit: t.limit, Shared: true})
	}
}

// errEnded is the error of a read that continues after its end.
var errEnded = errors.New("the read has ended")

func (p *part) settle(kept int64) {
	t := p.of.total
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.of.ended {
		return
	}
	p.of.add(kept - p.held)
	p.held = 0
}

// stop ends a read with an error. The first error counts.
func (r *reading) stop(err *Exceeded) {
	if r.err == nil {
		r.err = err
		r.cancel(err)
	}
}

// excess returns the read that has to end if all reads together use too much: the preferred one if it does not
// fit into the memory besides the retained results, and otherwise the largest of the others.
func (t *Total) excess() *reading {
	var largest, preferred *reading
	for r := range t.running {
		switch {
		case r.preferred:
			preferred = r
		case largest == nil || r.held > largest.held:
			largest = r
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
