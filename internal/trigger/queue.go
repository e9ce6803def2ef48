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

// Scan reads sources and declarations now; none of both means everything.
type Scan func(ctx context.Context, sources, declarations []string) error

// Options are what a Queue works with.
type Options struct {
	Scan Scan
	Now  func() time.Time
	Log  *slog.Logger
}

// A Queue takes requests, and makes scans of them. Its methods may be called at
// once; Run only once.
type Queue struct {
	Options
	// wake holds a word when there may be something to do.
	wake chan struct{}

	mu   sync.Mutex
	seen memory
	// pending are all triggers, by name.
	pending map[string]*pending
}

// A pending trigger is one for which a scan may wait.
type pending struct {
	Trigger
	// asked tells that one does.
	asked bool
	// began is when its last scan did.
	began time.Time
	// logged is when a refusal was last logged, by what was answered.
	logged map[int]time.Time
}

// NewQueue returns a queue without triggers.
func NewQueue(o Options) *Queue {
	return &Queue{Options: o, wake: make(chan struct{}, 1), pending: map[string]*pending{}}
}

// Configure puts triggers in the place of those before, which have distinct
// names. What was asked of one that stays is not lost, and what was accepted
// once is still a replay.
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
	q.rouse()
}

// Accept checks a request to the trigger of a name, and sees to it that a scan
// begins soon after. An error is one of Verify, ErrUnknown or ErrReplayed.
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
	case signature != nil && !q.seen.note(name+"/"+string(signature), q.Now()):
		return ErrReplayed
	}
	p.asked = true
	q.rouse()
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

func (q *Queue) rouse() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Run makes the scans that are asked for until ctx ends: never two at once, and
// for no trigger more often than it allows. What is asked for during a scan is
// one more scan after it.
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

// await waits for a word; wait bounds that where it is above zero.
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

// take returns the triggers of which a scan is to begin now, by name. Where none
// is, wait is how long until the first may be; 0 means that none was asked for.
func (q *Queue) take() (due []Trigger, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.Now()
	for _, p := range q.pending {
		if !p.asked {
			continue
		}
		since := now.Sub(p.began)
		if since >= p.MinInterval || since < 0 { // a clock set back
			p.asked, p.began = false, now
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
	q.Log.InfoContext(ctx, "scan triggered", "triggers", names)
	sources, declarations := together(due)
	if err := q.Scan(ctx, sources, declarations); err != nil && ctx.Err() == nil {
		q.Log.ErrorContext(ctx, "triggered scan", "triggers", names, "err", err)
	}
}

// together returns all that triggers read, sorted and once; nothing where one of
// them reads everything.
func together(triggers []Trigger) (sources, declarations []string) {
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
