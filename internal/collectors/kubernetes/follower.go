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
	"github.com/driftd/driftd/internal/printable"
)

// A follower updates one target of the inventory by a watch. It lists the target again if
// the watch cannot continue.
type follower struct {
	*reader
	target
	cluster *cluster
	updates chan<- update
	// recovered is broadcast when the server answers one follower again, so that the other
	// followers stop waiting.
	recovered *broadcast
	monitor   *streamMonitor
	// heartbeat is notified of every event: an event shows that the server is alive.
	heartbeat *heartbeat
	// slots bound the concurrent lists, turns the streams that read and decode a large
	// event.
	slots *slots
	turns chan struct{}
	// stop ends the followers of all targets.
	stop context.CancelCauseFunc
	// version is the resourceVersion from which the watch continues; "" if the target must
	// be listed.
	version string
	// failures is the number of consecutive failures. alive is when the target was last up
	// to date.
	failures int
	alive    time.Time
	// opened reports that the stream of the current step was opened, broken that the one of
	// the step before was not. stale reports that the target is marked as stale in the
	// inventory.
	opened, broken, stale bool
	// missing reports that it was logged that the kind is not served.
	missing bool
}

// canFollow reports whether a target can be watched: its kind has the verb watch, and reading
// it is not denied. Changes of other targets are found by the next scan only.
func canFollow(l listing) bool { return l.watchable && !isDenied(l.err) }

// isDenied reports whether a request with this error would fail again. That is not so for
// 404: a server that is starting does not serve its custom resources yet.
func isDenied(err error) bool {
	code := httpclient.Code(err)
	return code == http.StatusForbidden || code == http.StatusMethodNotAllowed
}

// run follows the target until ctx ends or the target can no longer be followed.
func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		recovered := f.recovered.next()
		f.opened = false
		err := f.step(ctx)
		if err != nil && !f.opened {
			f.monitor.failed(err)
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
			f.kindMissing(ctx)
		}
		if httpclient.Code(err) == http.StatusGone {
			f.version = ""
		} else if err != nil && f.cluster.now().Sub(f.alive) > f.timeout {
			f.markStale(ctx, f.reason(err))
		}
		f.broken = err != nil && !f.opened
		f.pause(ctx, recovered)
	}
}

// step lists the target if necessary, and watches it for the duration of one request.
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

// kindMissing records that the kind is not served. The target will be listed again, because
// a kind that is served again has other objects.
func (f *follower) kindMissing(ctx context.Context) {
	f.version = ""
	if !f.missing {
		f.missing = true
		f.cluster.env.Log.WarnContext(ctx, "the API server does not serve the kind any more",
			"kind", f.kind, "namespace", f.namespace)
	}
}

// giveUp ends the watch of a target that must not be watched. The inventory keeps the
// objects of the last scan, unless listing them is denied too.
func (f *follower) giveUp(ctx context.Context, err error) {
	f.cluster.env.Log.WarnContext(ctx, "kind is not watched until the next full scan; grant watch on it",
		"kind", f.kind, "namespace", f.namespace, "err", err)
	f.send(ctx, func(inv *inventory) bool { return inv.unfollow(f.target) })
	if f.version == "" {
		f.markStale(ctx, f.reason(err))
	}
}

// streamOpened records that the stream is open: from now on the target is up to date.
func (f *follower) streamOpened(ctx context.Context) {
	f.alive, f.opened, f.missing = f.cluster.now(), true, false
	f.monitor.opened()
	if f.stale {
		f.markStale(ctx, "")
	}
	if f.broken {
		f.broken = false
		f.recovered.send()
	}
}

// pause waits before the next step. The pause increases with the number of failures and
// ends early, but not before the shortest pause, when recovered is closed.
func (f *follower) pause(ctx context.Context, recovered <-chan struct{}) {
	long := f.cluster.retryAfter(f.failures)
	if f.missing {
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
	case <-recovered:
	case <-ctx.Done():
	}
}

// markStale sets the reason why the target may be out of date, or clears it with "".
func (f *follower) markStale(ctx context.Context, reason string) {
	f.stale = reason != ""
	f.send(ctx, func(inv *inventory) bool { return inv.markStale(f.target, reason) })
}

func (f *follower) send(ctx context.Context, u update) {
	select {
	case f.updates <- u:
	case <-ctx.Done():
	}
}

// watchTime is the least duration of a watch request, which the server ends. The greatest
// duration is twice as long.
const watchTime = 5 * time.Minute

// stableAfter is how long a stream must be open to reset the number of failures.
const stableAfter = 5 * time.Second

// watch applies the events of the target until the stream ends. It returns nil if the server ended
// the stream regularly.
func (f *follower) watch(ctx context.Context) error {
	lasts := time.Duration(float64(watchTime) * (1 + f.cluster.jitter()))
	// Only the request ends with this context: events that were read are still applied.
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
	f.streamOpened(ctx)
	err = f.events(ctx, newQueue(within, cancel, f.timeout, body, f.turns))
	f.monitor.closed(err)
	now := f.cluster.now()
	if now.Sub(f.alive) > stableAfter {
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
			// The old decoder would keep a buffer of the size of the event.
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
		return event{}, &httpclient.Unexpected{Reason: "the watch sent a line that is not an event"}
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
	return &httpclient.Unexpected{Reason: fmt.Sprintf("the watch sent an event of type %q", printable.Text(e.Type))}
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
		f.send(ctx, func(inv *inventory) bool { return inv.markUnreadable(f.target, unreadable{name, err}) })
	default:
		f.send(ctx, func(inv *inventory) bool { return inv.put(f.target, o) })
	}
	f.advance(ctx, name)
	return nil
}

// decode decodes an object within the memory budget of a scan.
func (f *follower) decode(ctx context.Context, raw jsontext.Value) (model.Resource, error) {
	return budget.Run(ctx, func(ctx context.Context) (model.Resource, error) {
		if _, err := budget.Writer(ctx, io.Discard).Write(raw); err != nil {
			return model.Resource{}, err
		}
		return f.reader.object(f.api, raw)
	})
}

// advance sets the resourceVersion from which the watch continues.
func (f *follower) advance(ctx context.Context, name label) {
	if version := name.Metadata.ResourceVersion; version != "" {
		f.version = version
		f.send(ctx, func(inv *inventory) bool { return inv.advance(f.target, version) })
	}
}
