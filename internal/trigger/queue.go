package trigger

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Scan reads the named sources and declarations now, or everything if both lists are empty.
type Scan func(ctx context.Context, sources, declarations []string) error

// Options are the dependencies of a Queue.
type Options struct {
	Scan Scan
	Now  func() time.Time
	Log  *slog.Logger
}

// A Queue accepts requests to triggers and runs the scans for them. Its methods may be called
// concurrently; Run must be called once.
type Queue struct {
	Options
	// wake holds a value if a scan may be due.
	wake chan struct{}

	mu   sync.Mutex
	seen replayCache
	// pending holds all triggers, by name.
	pending map[string]*pending
}

// pending is a trigger and its state.
type pending struct {
	Trigger
	// requested reports whether a scan is waiting.
	requested bool
	// began is when its last scan started.
	began time.Time
	// logged is when a refusal was last logged, by status code.
	logged map[int]time.Time
}

// NewQueue returns a queue without triggers.
func NewQueue(o Options) *Queue {
	return &Queue{Options: o, wake: make(chan struct{}, 1), pending: map[string]*pending{}}
}

// Configure replaces the triggers, whose names must be distinct. A trigger that stays keeps
// its waiting scan, and requests accepted before are still refused as replays.
func (q *Queue) Configure(triggers []Trigger) {
	q.mu.Lock()
	defer q.mu.Unlock()
	next := make(map[string]*pending, len(triggers))
	for _, t := range triggers {
		p, ok := q.pending[t.Name]
		if !ok {
			p = &pending{logged: map[int]time.Time{}}
		}
		p.Trigger = t
		next[t.Name] = p
	}
	q.pending = next
	q.notify()
}

// Accept verifies a request to the named trigger and schedules a scan. The error is
// ErrUnknown, ErrReplayed or one of Verify.
func (q *Queue) Accept(name string, header http.Header, body io.Reader) error {
	t, ok := q.trigger(name)
	if !ok {
		return ErrUnknown
	}
	signature, err := t.Verify(header, body, q.Now())
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	p, ok := q.pending[name]
	switch {
	case !ok:
		return ErrUnknown
	case signature != nil && !q.seen.add(name+"/"+string(signature), q.Now()):
		return ErrReplayed
	}
	p.requested = true
	q.notify()
	return nil
}

func (q *Queue) trigger(name string) (Trigger, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p, ok := q.pending[name]; ok {
		return p.Trigger, true
	}
	return Trigger{}, false
}

// notify wakes Run.
func (q *Queue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Run runs the requested scans until ctx ends: one at a time, and each trigger at most once
// per MinInterval. Requests that arrive during a scan are combined into one scan after it.
func (q *Queue) Run(ctx context.Context) {
	for ctx.Err() == nil {
		due, wait := q.take()
		if len(due) > 0 {
			q.scan(ctx, due)
			continue
		}
		q.await(ctx, wait)
	}
}

// await blocks until ctx ends or a scan is requested, and no longer than wait if it is above 0.
func (q *Queue) await(ctx context.Context, wait time.Duration) {
	var later <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		later = timer.C
	}
	select {
	case <-ctx.Done():
	case <-q.wake:
	case <-later:
	}
}

// take returns the triggers whose scan is due, sorted by name, and marks them as started. If
// none is due, wait is the time until the first will be, or 0 if no scan is requested.
func (q *Queue) take() (due []Trigger, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.Now()
	for _, p := range q.pending {
		if !p.requested {
			continue
		}
		since := now.Sub(p.began)
		if since >= p.MinInterval || since < 0 { // the clock was set back
			p.requested, p.began = false, now
			due = append(due, p.Trigger)
		} else if left := p.MinInterval - since; wait == 0 || left < wait {
			wait = left
		}
	}
	slices.SortFunc(due, func(a, b Trigger) int { return strings.Compare(a.Name, b.Name) })
	return due, wait
}

func (q *Queue) scan(ctx context.Context, due []Trigger) {
	names := make([]string, len(due))
	for i, t := range due {
		names[i] = t.Name
	}
	q.Log.InfoContext(ctx, "triggered scan starts", "triggers", names)
	sources, declarations := union(due)
	if err := q.Scan(ctx, sources, declarations); err != nil && ctx.Err() == nil {
		q.Log.ErrorContext(ctx, "triggered scan failed", "triggers", names, "err", err)
	}
}

// union returns the sources and declarations that the triggers read, sorted and without
// duplicates. It returns nil for both if one of the triggers reads everything.
func union(triggers []Trigger) (sources, declarations []string) {
	for _, t := range triggers {
		if len(t.Sources)+len(t.Declarations) == 0 {
			return nil, nil
		}
		sources, declarations = append(sources, t.Sources...), append(declarations, t.Declarations...)
	}
	slices.Sort(sources)
	slices.Sort(declarations)
	return slices.Compact(sources), slices.Compact(declarations)
}
