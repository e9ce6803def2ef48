// Package aws reads the resources of an AWS account: the buckets of S3 and of S3-compatible
// servers with all their parts, and what the lists of the other services return.
package aws

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws/cloudtrail"
	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/collectors/pinned"
	"github.com/driftd/driftd/internal/model"
)

// Type is the collector's type in the configuration, and the first part of the names of its
// kinds.
const Type = normalize.Type

// Definition returns the definition of the collector type "aws".
func Definition() collectors.Definition {
	// All sources share the pace, which CloudTrail counts per account.
	pace := &cloudtrail.Pace{}
	return collectors.Define(Type, Defaults(), func(env collectors.Env, config Config) (collectors.Collector, error) {
		return open(env, config, pace)
	})
}

func open(env collectors.Env, config Config, pace *cloudtrail.Pace) (collectors.Collector, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	return &inventory{env: env, config: config, log: cloudtrail.New(config.Audit, env, pace), account: pinned.New("account", env.CacheDir, env.Log), now: time.Now, backoff: 500 * time.Millisecond}, nil
}

// An inventory is the collector of one account. It is safe for concurrent use.
type inventory struct {
	env    collectors.Env
	config Config
	log    *cloudtrail.Reader
	// account is that of the last scan.
	account *pinned.Scope
	now     func() time.Time
	// backoff is the pause before the second attempt of a request.
	backoff time.Duration
	// through returns the transport of requests; nil for the usual one.
	through func(http.RoundTripper) http.RoundTripper
	// reading is the number of calls of Collect that have not returned.
	reading atomic.Int32
}

// Collect reads every bucket with one request for each part, because S3 has no request for a
// whole bucket, and every list of the other services.
func (c *inventory) Collect(ctx context.Context) (model.Snapshot, error) {
	c.reading.Add(1)
	defer c.reading.Add(-1)
	sc, err := c.scan(ctx, false)
	if err != nil {
		return model.Snapshot{}, err
	}
	defer sc.session.close()
	s := sc.snapshot()
	c.addLog(ctx, sc, &s)
	return s, nil
}

// Probe lists the buckets and reads the first.
func (c *inventory) Probe(ctx context.Context) (collectors.Probe, error) {
	sc, err := c.scan(ctx, true)
	if err != nil {
		return collectors.Probe{}, err
	}
	defer sc.session.close()
	return collectors.Probe{Version: sc.server, Identity: sc.identity(ctx), Endpoint: sc.session.address(), Coverage: sc.coverage()}, nil
}

// Notify implements collectors.Notifier: with audit.scan_interval, new messages in the queue are changes.
func (c *inventory) Notify(ctx context.Context, changed func()) error {
	c.log.Notify(ctx, cloudtrail.Source{
		Connect: func(ctx context.Context) (cloudtrail.Connection, error) {
			session, err := connect(ctx, c.config, c.backoff, c.through)
			if err != nil {
				return nil, err
			}
			return session.client, nil
		},
		Busy:    func() bool { return c.reading.Load() > 0 },
		Changed: changed,
	})
	return nil
}

// Takes implements collectors.Taker.
func (c *inventory) Takes() string {
	if c.config.Audit.Queue == "" {
		return ""
	}
	return strings.TrimSpace("audit.queue " + c.config.Audit.Queue + " " + c.config.Endpoint)
}

// scan reads the account. A brief scan reads at most one bucket. The caller closes the session of the result.
func (c *inventory) scan(ctx context.Context, brief bool) (*scan, error) {
	taken := c.now()
	session, err := connect(ctx, c.config, c.backoff, c.through)
	if err != nil {
		return nil, c.config.fail(ctx, c.config.server(), err)
	}
	sc := &scan{config: c.config, source: c.env.Name, kinds: normalize.Kinds(), brief: brief, taken: taken, session: session, lastAccount: c.account}
	if err = sc.readAll(ctx); err == nil {
		err = sc.unreached()
	}
	if err != nil || collectors.Void(ctx, sc.anyRead()) {
		session.close()
		return nil, c.config.fail(ctx, session.address(), err)
	}
	return sc, nil
}
