package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// A follower keeps one target of the inventory up to date by a watch, and by a
// new list where the watch cannot go on.
type follower struct {
	*reader
	target
	cluster *cluster
	updates chan<- update
	// back is rung when the server answers one follower again: the others then
	// need not wait any longer.
	back  *bell
	pulse *pulse
	// heartbeat is notified of every event: an event shows that the server is alive.
	heartbeat *heartbeat
	// slots bound how many lists run at once, turns how many streams read and decode
	// a large event.
	slots *slots
	turns chan struct{}
	// stop ends the following of all targets.
	stop context.CancelCauseFunc
	// version is where the watch goes on; "" when the target must be listed.
	version string
	// failures are those in a row; alive is when the target was last known to
	// be up to date.
	failures int
	alive    time.Time
	// stood tells that the present step's stream was opened, away that the one
	// before was not, doubted that the inventory distrusts the target.
	stood, away, doubted bool
	// gone tells that the log knows that the kind is not served.
	gone bool
}

// canFollow tells what can be watched from a kind without that verb, and from
// one that may not be read, which only a new look finds changed.
func canFollow(l listing) bool { return l.watchable && !isDenied(l.err) }

// isDenied tells an error that trying again does not mend. 404 is none: a
// server that starts does not know its custom resources yet.
func isDenied(err error) bool {
	code := httpclient.Code(err)
	return code == http.StatusForbidden || code == http.StatusMethodNotAllowed
}

// run follows the target until ctx ends or there is nothing left to follow.
func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		back := f.back.next()
		f.stood = false
		err := f.step(ctx)
		if err != nil && !f.stood {
			f.pulse.fails(err)
		}
		if isTooLarge(err) {
			f.stop(err)
			return
		}
		if isDenied(err) {
			f.giveUp(ctx, err)
			return
		}
		if isMissing(err) {
			f.vanish(ctx)
		}
		if httpclient.Code(err) == http.StatusGone {
			f.version = ""
		} else if err != nil && f.cluster.now().Sub(f.alive) > f.timeout {
			f.doubt(ctx, f.reason(err))
		}
		f.away = err != nil && !f.stood
		f.pause(ctx, back)
	}
}

// step lists the target when it must be, and watches it as long as one request
// lasts.
func (f *follower) step(ctx context.Context) error {
	if f.version == "" {
		var l listing
		var err error
		f.slots.run(f.group, func() {
			l, err = budget.Run(ctx, func(ctx context.Context) (listing, error) {
				l := f.list(ctx, f.target)
				return l, l.err
			})
		})
		if err != nil {
			return err
		}
		f.version = l.version
		f.send(ctx, func(inv *inventory) bool { return inv.replace(l) })
	}
	return f.watch(ctx)
}

// vanish notes that the kind is not served: should it come back, its objects
// are others.
func (f *follower) vanish(ctx context.Context) {
	f.version = ""
	if !f.gone {
		f.gone = true
		f.cluster.env.Log.WarnContext(ctx, "kind is gone: the API server does not serve it any more",
			"kind", f.kind, "namespace", f.namespace)
	}
}

// giveUp ends the following of what may not be watched: it stays as the last
// full look found it. What may not even be listed any more is not known.
func (f *follower) giveUp(ctx context.Context, err error) {
	f.cluster.env.Log.WarnContext(ctx, "kind is not followed until the next full look; grant watch on it",
		"kind", f.kind, "namespace", f.namespace, "err", err)
	f.send(ctx, func(inv *inventory) bool { return inv.abandon(f.target) })
	if f.version == "" {
		f.doubt(ctx, f.reason(err))
	}
}

// works notes that the stream stands: the target is up to date from here on.
func (f *follower) works(ctx context.Context) {
	f.alive, f.stood, f.gone = f.cluster.now(), true, false
	f.pulse.stands()
	if f.doubted {
		f.doubt(ctx, "")
	}
	if f.away {
		f.away = false
		f.back.ring()
	}
}

// pause waits before the next step: the longer, the more steps failed, and at
// least the shortest time, but no longer than until the server is back.
func (f *follower) pause(ctx context.Context, back <-chan struct{}) {
	long := f.cluster.retryAfter(f.failures)
	if f.gone {
		long = min(long, spacing)
	}
	f.failures++
	short := min(long, f.cluster.retryAfter(0))
	if httpclient.Wait(ctx, short) != nil || long == short {
		return
	}
	timer := time.NewTimer(long - short)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-back:
	case <-ctx.Done():
	}
}

func (f *follower) doubt(ctx context.Context, reason string) {
	f.doubted = reason != ""
	f.send(ctx, func(inv *inventory) bool { return inv.distrust(f.target, reason) })
}

func (f *follower) send(ctx context.Context, u update) {
	select {
	case f.updates <- u:
	case <-ctx.Done():
	}
}

// watchTime is how long a watch lasts at least before the server ends it and
// another begins; it is at most twice as long.
const watchTime = 5 * time.Minute

// settled is how long a stream stands that did not break at once.
const settled = 5 * time.Second

// watch hands on what happens to the target until the stream ends. A stream
// that ends in order is no error.
func (f *follower) watch(ctx context.Context) error {
	lasts := time.Duration(float64(watchTime) * (1 + f.cluster.jitter()))
	// What was read is handed on although the stream ends meanwhile.
	within, cancel := context.WithTimeout(ctx, lasts+f.timeout)
	defer cancel()
	body, err := f.open(within, request{path: f.path(), query: url.Values{
		"watch":               {"1"},
		"allowWatchBookmarks": {"true"},
		"resourceVersion":     {f.version},
		"timeoutSeconds":      {strconv.Itoa(int(lasts.Seconds()))},
	}})
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	f.works(ctx)
	err = f.events(ctx, newQueue(within, cancel, f.timeout, body, f.turns))
	f.pulse.ends(err)
	now := f.cluster.now()
	if now.Sub(f.alive) > settled {
		f.failures = 0
	}
	f.alive = now
	return err
}

func (f *follower) events(ctx context.Context, q *queue) error {
	defer q.leave()
	s := newStream(q, f.config.MaxObjectSize)
	for {
		raw, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return s.fault(err)
		}
		if err := f.event(ctx, raw); err != nil {
			return err
		}
		if q.leave() {
			// The decoder would keep a buffer of the size of the event.
			q.unread = s.unread()
			s = newStream(q, f.config.MaxObjectSize)
		}
		f.heartbeat.alive()
		f.failures = 0
	}
}

// An event is one line of a watch.
type event struct {
	Type   string         `json:"type"`
	Object jsontext.Value `json:"object"`
}

func readEvent(raw jsontext.Value) (event, error) {
	var e event
	err := json.Unmarshal(raw, &e, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil || e.Object == nil {
		return event{}, &httpclient.Unexpected{Reason: "the watch sent something that is no event"}
	}
	return e, nil
}

func (f *follower) event(ctx context.Context, raw jsontext.Value) error {
	e, err := readEvent(raw)
	if err != nil {
		return err
	}
	switch e.Type {
	case "ERROR":
		return e.status()
	case "BOOKMARK":
		f.advance(ctx, labelOf(e.Object))
		return nil
	case "ADDED", "MODIFIED", "DELETED":
		return f.object(ctx, e)
	}
	return &httpclient.Unexpected{Reason: fmt.Sprintf("the watch sent an event of type %q", httpclient.Printable(e.Type))}
}

func (e event) status() error {
	object, err := decode.JSON(e.Object)
	code, _ := strconv.Atoi(object.At("code").Text())
	if err != nil || code == 0 {
		return &httpclient.Unexpected{Reason: "the watch sent an error that cannot be read"}
	}
	s := &httpclient.Status{Code: code}
	describe(s, nil, object)
	return s
}

func (f *follower) object(ctx context.Context, e event) error {
	name := labelOf(e.Object)
	if e.Type == "DELETED" {
		f.send(ctx, func(inv *inventory) bool { return inv.remove(f.target, name.id()) })
		f.advance(ctx, name)
		return nil
	}
	o, err := f.decode(ctx, e.Object)
	switch {
	case isTooLarge(err) || ctx.Err() != nil:
		return err
	case err != nil:
		f.send(ctx, func(inv *inventory) bool { return inv.spoil(f.target, unreadable{name, err}) })
	default:
		f.send(ctx, func(inv *inventory) bool { return inv.put(f.target, o) })
	}
	f.advance(ctx, name)
	return nil
}

// decode decodes an object within the memory that a look may take.
func (f *follower) decode(ctx context.Context, raw jsontext.Value) (model.Resource, error) {
	return budget.Run(ctx, func(ctx context.Context) (model.Resource, error) {
		if _, err := budget.Writer(ctx, io.Discard).Write(raw); err != nil {
			return model.Resource{}, err
		}
		return f.reader.object(f.api, raw)
	})
}

// advance moves to where the watch goes on.
func (f *follower) advance(ctx context.Context, name label) {
	if version := name.Metadata.ResourceVersion; version != "" {
		f.version = version
		f.send(ctx, func(inv *inventory) bool { return inv.advance(f.target, version) })
	}
}
