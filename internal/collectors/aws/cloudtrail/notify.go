package cloudtrail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
)

const (
	// minInterval is the smallest time between two scans that messages start.
	minInterval = 30 * time.Second
	// pollEvery is the pause between two polls. After failures it doubles up to maxPause.
	pollEvery = 10 * time.Second
	maxPause  = 5 * time.Minute
	// pollTimeout bounds a poll.
	pollTimeout = time.Minute
)

// A Connection is a Client that its user closes.
type Connection interface {
	Client
	Close()
}

// A Source is what Notify needs of the source.
type Source struct {
	// Connect opens a connection, which Notify closes. It must be one with fresh credentials.
	Connect func(context.Context) (Connection, error)
	// Busy reports whether the source is being read.
	Busy func() bool
	// Changed reads the source, and returns afterwards.
	Changed func()
}

// Notify polls the number of messages in the queue, and calls Changed if there are new ones: at
// most once per ScanInterval, and not while the source is being read. It returns when ctx ends. It
// logs once that polls fail, and once that they succeed again.
func (r *Reader) Notify(ctx context.Context, s Source) {
	if r.config.ScanInterval == 0 {
		<-ctx.Done()
		return
	}
	p := &poller{arn: r.config.Queue, connect: s.Connect, log: r.env.Log.With("queue", r.config.Queue)}
	defer p.disconnect()
	var began time.Time
	for httpclient.Wait(ctx, p.pause()) == nil {
		if s.Busy() {
			continue
		}
		messages, ok := p.poll(ctx)
		if !ok || !r.arrivals.due(messages) || time.Since(began) < r.config.ScanInterval {
			continue
		}
		began = time.Now()
		p.log.LogAttrs(ctx, slog.LevelInfo, "new messages start a scan", slog.Int("messages", messages))
		end := r.arrivals.begin(messages)
		s.Changed()
		end()
	}
}

// A poller requests the number of messages in a queue.
type poller struct {
	arn     string
	connect func(context.Context) (Connection, error)
	log     *slog.Logger
	// client is nil before the first poll, and after one that failed.
	client Connection
	// failures is the number of polls in a row that failed.
	failures int
}

// pause returns the time until the next poll.
func (p *poller) pause() time.Duration {
	return min(pollEvery<<min(p.failures, 10), maxPause)
}

// poll returns the number of messages, or false if it is unknown.
func (p *poller) poll(ctx context.Context) (messages int, ok bool) {
	messages, err := p.count(ctx)
	switch {
	case ctx.Err() != nil:
		return 0, false
	case err != nil:
		// The credentials may have been replaced.
		p.disconnect()
		if p.failures++; p.failures == 1 {
			p.log.LogAttrs(ctx, slog.LevelWarn, "the number of messages in the queue is unknown: only the schedule and triggers start scans of the source; polling goes on", slog.String("err", pollReason(err)))
		}
		return 0, false
	case p.failures > 0:
		p.log.LogAttrs(ctx, slog.LevelInfo, "the number of messages in the queue is known again")
	}
	p.failures = 0
	return messages, true
}

// attributes are the numbers of the messages that can be received, and of those that were.
func attributes() []string {
	return []string{"ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"}
}

// count requests the number of messages. That does not receive them.
func (p *poller) count(ctx context.Context) (messages int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, pollTimeout, &httpclient.Timeout{After: pollTimeout, Look: true})
	defer cancel()
	if p.client == nil {
		if p.client, err = p.connect(ctx); err != nil {
			p.client = nil
			return 0, err
		}
	}
	region, url := address(p.client, p.arn)
	answer, err := p.client.Do(ctx, region, &awsapi.Call{Service: sqs(), Action: "GetQueueAttributes", Input: map[string]any{"QueueUrl": url, "AttributeNames": attributes()}})
	if err != nil {
		return 0, err
	}
	for _, name := range attributes() {
		n, err := strconv.ParseUint(answer.At("Attributes", name).Text(), 10, 31)
		if err != nil {
			return 0, errors.New("the answer has no " + name)
		}
		messages += int(n)
	}
	return messages, nil
}

func (p *poller) disconnect() {
	if p.client != nil {
		p.client.Close()
		p.client = nil
	}
}

// pollReason returns why the number of messages is unknown, and what to do.
func pollReason(err error) string {
	if collectors.Ended(err) != "" {
		return fmt.Sprintf("no answer within %s; check the network to SQS", pollTimeout)
	}
	return queueReason(err, "sqs:GetQueueAttributes")
}
