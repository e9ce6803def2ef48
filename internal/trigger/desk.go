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

// Options are what a Desk works with.
type Options struct {
	Scan Scan
	Now  func() time.Time
	Log  *slog.Logger
}

// A Desk takes requests, and makes scans of them. Its methods may be called at
// once; Run only once.
type Desk struct {
	Options
	// wake holds a word when there may be something to do.
	wake chan struct{}

	mu    sync.Mutex
	seen  memory
	posts map[string]*post
}

// A post is one trigger, and what was asked of it.
type post struct {
	Trigger
	asked bool
	// began is when its last scan did, and grumbled when a refusal was last
	// logged.
	began, grumbled time.Time
}

// NewDesk returns a desk without triggers.
func NewDesk(o Options) *Desk {
	return &Desk{Options: o, wake: make(chan struct{}, 1), posts: map[string]*post{}}
}

// Configure puts triggers in the place of those before, which have distinct
// names. What was asked of one that stays is not lost, and what was accepted
// once is still a replay.
func (d *Desk) Configure(triggers []Trigger) {
	d.mu.Lock()
	defer d.mu.Unlock()
	posts := make(map[string]*post, len(triggers))
	for _, t := range triggers {
		p, ok := d.posts[t.Name]
		if !ok {
			p = &post{}
		}
		p.Trigger = t
		posts[t.Name] = p
	}
	d.posts = posts
	d.nudge()
}

// Accept checks a request to the trigger of a name, and sees to it that a scan
// begins soon after. An error is one of Verify, ErrUnknown or ErrReplayed.
func (d *Desk) Accept(name string, header http.Header, body io.Reader) error {
	t, ok := d.trigger(name)
	if !ok {
		return ErrUnknown
	}
	signature, err := t.Verify(header, body, d.Now())
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	p, ok := d.posts[name]
	switch {
	case !ok:
		return ErrUnknown
	case signature != nil && !d.seen.note(name+"/"+string(signature), d.Now()):
		return ErrReplayed
	}
	p.asked = true
	d.nudge()
	return nil
}

func (d *Desk) trigger(name string) (Trigger, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p, ok := d.posts[name]; ok {
		return p.Trigger, true
	}
	return Trigger{}, false
}

func (d *Desk) nudge() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Run makes the scans that are asked for until ctx ends: never two at once, and
// for no trigger more often than it allows. What is asked for during a scan is
// one more scan after it.
func (d *Desk) Run(ctx context.Context) {
	for ctx.Err() == nil {
		due, wait := d.take()
		if len(due) > 0 {
			d.scan(ctx, due)
			continue
		}
		d.await(ctx, wait)
	}
}

// await waits for a word; wait bounds that where it is above zero.
func (d *Desk) await(ctx context.Context, wait time.Duration) {
	var later <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		later = timer.C
	}
	select {
	case <-ctx.Done():
	case <-d.wake:
	case <-later:
	}
}

// take returns the triggers of which a scan is to begin now, by name. Where none
// is, wait is how long until the first may be; 0 means that none was asked for.
func (d *Desk) take() (due []Trigger, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.Now()
	for _, p := range d.posts {
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

func (d *Desk) scan(ctx context.Context, due []Trigger) {
	names := make([]string, len(due))
	for i, t := range due {
		names[i] = t.Name
	}
	d.Log.InfoContext(ctx, "scan triggered", "triggers", names)
	sources, declarations := together(due)
	if err := d.Scan(ctx, sources, declarations); err != nil && ctx.Err() == nil {
		d.Log.ErrorContext(ctx, "triggered scan", "triggers", names, "err", err)
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
