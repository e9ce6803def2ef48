package cloudtrail

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// A look is one reading of all logs of an account.
type look struct {
	*Reader

	server     Server
	account    Account
	regions    []string
	now        time.Time
	operations map[operation][]effect
	log        *Log
	// complete are the regions whose event history was read.
	complete []string
	// drain and queue are nil without a queue.
	drain *drain
	queue *part
}

// copied returns what decodes the events of a copy.
func (x *look) copied(from string) copied {
	return copied{account: x.account, operations: x.operations, from: from, place: from, now: x.now}
}

// readHistory reads the event history of each region.
func (x *look) readHistory(ctx context.Context) {
	if !x.config.reads(x.server.Compatible) {
		return
	}
	parts, states, found := make([]part, len(x.regions)), make([]state, len(x.regions)), make([][]record, len(x.regions))
	collectors.Parallel(len(x.regions), len(x.regions), func(i int) {
		region := x.regions[i]
		y := &reading{config: x.config, client: x.server.Client, account: x.account, region: region, operations: x.operations,
			limiter: x.pace.limiter(x.account.Partition+x.account.Number, region)}
		states[i], found[i], parts[i].unread = y.read(ctx, x.kept.Regions[region], x.now)
	})
	for i, region := range x.regions {
		s, p := states[i], &parts[i]
		x.kept.Regions[region] = s
		x.kept.add(found[i])
		if p.unread == "" {
			x.complete = append(x.complete, region)
		}
		p.of, p.since = "CloudTrail's log in %s", s.Since
		if s.Gap != nil {
			p.left = fmt.Sprintf("what is between %s and %s is read in the next scans (audit.pages)", s.Gap.From.UTC().Format("2006-01-02 15:04"), s.Gap.To.UTC().Format("2006-01-02 15:04 UTC"))
		}
		x.log.add(region, p)
	}
}

// readTrail reads the log files of each region.
func (x *look) readTrail(ctx context.Context) {
	match := trailForm().FindStringSubmatch(x.config.Trail)
	if match == nil {
		return
	}
	parts, states, fetches := make([]part, len(x.regions)), make([]regionTrail, len(x.regions)), make([]*fetch, len(x.regions))
	collectors.Parallel(len(x.regions), len(x.regions), func(i int) {
		y := &fetch{copied: x.copied(x.config.Trail), objects: x.server.Objects, bucket: match[1], folder: match[2],
			owner: cmp.Or(x.config.TrailOwner, x.account.Number), region: x.regions[i], lookback: x.config.Lookback}
		s, more, err := y.read(ctx, x.kept.Trail.Regions[x.regions[i]])
		if err != nil {
			parts[i].unread = trailReason(err)
		}
		parts[i].of, parts[i].since, parts[i].left = "the trail "+x.config.Trail+" for %s", s.Since, s.left(more)
		states[i], fetches[i] = s, y
	})
	for i, region := range x.regions {
		x.kept.Trail.Regions[region] = states[i]
		slices.SortStableFunc(fetches[i].found, func(a, b record) int { return b.At.Compare(a.At) })
		x.kept.add(fetches[i].found)
		x.log.add(region, &parts[i])
	}
}

// readQueue receives the messages of the queue.
func (x *look) readQueue(ctx context.Context) {
	if x.config.Queue == "" {
		return
	}
	d := newDrain(x.copied(x.config.Queue), x.server.Client, x.config.Queue)
	more, err := d.read(ctx)
	p, s := &part{of: "the queue " + x.config.Queue + " for %s"}, &x.kept.Queue
	switch {
	case err != nil:
		p.unread = queueReason(err, "sqs:ReceiveMessage")
	case s.Until.IsZero() || x.now.Sub(s.Until) > retention:
		s.Since, s.Until = x.now, x.now
	default:
		s.Until = x.now
	}
	if more {
		p.left = "the queue has more messages, which the next scans receive"
	}
	slices.SortStableFunc(d.found, func(a, b record) int { return b.At.Compare(a.At) })
	x.kept.add(d.found)
	if d.strange > 0 {
		x.env.Log.LogAttrs(ctx, slog.LevelWarn, "messages that are no events of CloudTrail are left in the queue: check audit.queue, its policy and the rule that fills it",
			slog.String("queue", x.config.Queue), slog.Int("messages", d.strange), slog.String("message", d.one))
	}
	p.since, x.drain, x.queue = s.Since, d, p
	for _, region := range x.regions {
		x.log.add(region, p)
	}
}

// events returns the events that count. Those of a queue are also of regions that are not read, whose event history
// does not refute them: they count as soon as the region is read.
func (x *look) events() []model.AuditEvent {
	return auditEvents(slices.DeleteFunc(slices.Clone(x.kept.Records), func(r record) bool {
		return r.From != "" && !slices.Contains(x.regions, r.Region)
	}))
}

// emptyQueue deletes the messages if their events are kept.
func (x *look) emptyQueue(ctx context.Context, kept bool) {
	if x.drain == nil {
		return
	}
	deleted := 0
	defer func() { x.arrivals.note(x.drain, deleted, x.queue.unread == "") }()
	if !kept {
		return
	}
	var err error
	if deleted, err = x.drain.remove(ctx); err != nil {
		reason := queueReason(err, "sqs:DeleteMessage")
		x.queue.left = "its messages could not be deleted: " + reason
		x.env.Log.LogAttrs(ctx, slog.LevelWarn, "messages that were read are left in the queue", slog.String("queue", x.config.Queue), slog.String("err", reason))
	}
}

// refute drops the events of copies that the event histories lack.
func (x *look) refute(ctx context.Context) {
	for _, region := range x.complete {
		if refuted := x.kept.refute(region); len(refuted) > 0 {
			x.env.Log.LogAttrs(ctx, slog.LevelWarn, "events that CloudTrail's event history lacks do not count: check who can write to the trail and to the queue",
				slog.String("region", region), slog.Int("events", len(refuted)), slog.String("event", printable.Text(refuted[0].ID)), slog.String("from", refuted[0].From))
		}
	}
}
