package trigger

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Scan runs a scan of the sources, declarations and objects in the request, or of everything if it lists
// none.
type Scan func(ctx context.Context, r Request) error

// A Request lists the parts that a scan reads. All lists are sorted.
type Request struct {
	Sources, Declarations []string
	// Objects maps the names of other sources to the objects that the scan reads.
	Objects map[string][]model.ObjectName
}

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
	// objects are those that the requests name. whole reports whether one of the requests
	// names none, or they name too many.
	objects map[model.ObjectName]bool
	whole   bool
	// began is when its last scan started.
	began time.Time
	// logged is when a refusal was last logged, by status code.
	logged map[int]time.Time
}

// NewQueue returns a Queue without triggers.
func NewQueue(o Options) *Queue {
	return &Queue{Options: o, wake: make(chan struct{}, 1), pending: map[string]*pending{}}
}

// Configure replaces the triggers, whose names must be distinct. A trigger that existed before keeps its
// waiting scan, and continues to refuse replays of earlier requests.
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

// Accept verifies a request to the named trigger and schedules a scan. It returns ErrUnknown if there is no
// such trigger, ErrReplayed for a repeated request, and the errors of Verify.
func (q *Queue) Accept(name string, header http.Header, body io.Reader) error {
	t, ok := q.trigger(name)
	if !ok {
		return ErrUnknown
	}
	var e event
	if t.names() {
		body = e.tee(body)
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
	object, named := e.object()
	if p.add(object, named) {
		q.Log.Info("triggered scan reads whole sources: too many objects are named", "trigger", name, "more_than", maxObjects)
	}
	q.notify()
	return nil
}

// add adds a request, and the object that it names if named is set. It reports whether that is
// the first object too many.
func (p *pending) add(object model.ObjectName, named bool) (tooMany bool) {
	if !p.requested {
		p.objects, p.whole = map[model.ObjectName]bool{}, false
	}
	p.requested = true
	if p.whole {
		return false
	}
	p.objects[object] = true
	tooMany = len(p.objects) > maxObjects
	p.whole = !named || tooMany
	return tooMany
}

// request returns what the waiting scan of the trigger reads.
func (p *pending) request() Request {
	r := Request{Sources: p.Sources, Declarations: p.Declarations}
	if p.whole {
		return r
	}
	names := slices.Collect(maps.Keys(p.objects))
	r.Sources, r.Objects = nil, map[string][]model.ObjectName{}
	for _, source := range p.Sources {
		r.Objects[source] = names
	}
	return r
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
func (q *Queue) take() (due []dueTrigger, wait time.Duration) {
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
			due = append(due, dueTrigger{p.Name, p.request()})
		} else if left := p.MinInterval - since; wait == 0 || left < wait {
			wait = left
		}
	}
	slices.SortFunc(due, func(a, b dueTrigger) int { return strings.Compare(a.name, b.name) })
	return due, wait
}

// A dueTrigger is a trigger whose scan is due.
type dueTrigger struct {
	name string
	Request
}

func (q *Queue) scan(ctx context.Context, due []dueTrigger) {
	names := make([]string, len(due))
	for i, t := range due {
		names[i] = t.name
	}
	q.Log.InfoContext(ctx, "triggered scan starts", "triggers", names)
	if err := q.Scan(ctx, union(due)); err != nil && ctx.Err() == nil {
		q.Log.ErrorContext(ctx, "triggered scan failed", "triggers", names, "err", err)
	}
}

// union returns what the triggers read, sorted and without duplicates. It returns the zero
// Request if one of them reads everything.
func union(due []dueTrigger) Request {
	var all Request
	objects := map[string][]model.ObjectName{}
	for _, t := range due {
		if len(t.Sources)+len(t.Declarations)+len(t.Objects) == 0 {
			return Request{}
		}
		all.Sources, all.Declarations = append(all.Sources, t.Sources...), append(all.Declarations, t.Declarations...)
		for source, names := range t.Objects {
			objects[source] = append(objects[source], names...) // a copy: sources of one trigger share the names
		}
	}
	slices.Sort(all.Sources)
	slices.Sort(all.Declarations)
	all.Sources, all.Declarations = slices.Compact(all.Sources), slices.Compact(all.Declarations)
	for source, names := range objects {
		if slices.Contains(all.Sources, source) {
			delete(objects, source)
			continue
		}
		slices.SortFunc(names, func(a, b model.ObjectName) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.ID, b.ID)) })
		objects[source] = slices.Compact(names)
	}
	if len(objects) > 0 {
		all.Objects = objects
	}
	return all
}
