// Package aws reads what an account of AWS holds; so far the buckets of S3, of AWS
// itself and of servers that speak its language.
package aws

import (
	"context"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// Type is the collector's type in the configuration, and the first part of its
// kinds' names.
const Type = normalize.Type

// Definition returns the collector of type "aws".
func Definition() collectors.Definition {
	return collectors.Define(Type, Defaults(), open)
}

func open(env collectors.Env, config Config) (collectors.Collector, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	return &inventory{env: env, config: config, now: time.Now, backoff: 500 * time.Millisecond}, nil
}

// An inventory reads one account. It is safe for concurrent use.
type inventory struct {
	env    collectors.Env
	config Config
	now    func() time.Time
	// backoff is the first pause before a request is tried again.
	backoff time.Duration
}

// Collect reads every bucket, each part with a request of its own: S3 has no other
// way.
func (c *inventory) Collect(ctx context.Context) (model.Snapshot, error) {
	l, err := c.look(ctx, false)
	if err != nil {
		return model.Snapshot{}, err
	}
	return l.snapshot(), nil
}

// Probe lists the buckets and reads the first.
func (c *inventory) Probe(ctx context.Context) (collectors.Probe, error) {
	l, err := c.look(ctx, true)
	if err != nil {
		return collectors.Probe{}, err
	}
	return collectors.Probe{Version: l.server, Identity: l.identity(ctx), Endpoint: l.session.address(), Coverage: l.coverage()}, nil
}

// look reads the account; a brief look no more than one bucket of it.
func (c *inventory) look(ctx context.Context, brief bool) (*look, error) {
	taken := c.now()
	session, err := connect(ctx, c.config, c.backoff)
	if err != nil {
		return nil, c.config.fail(ctx, c.config.server(), err)
	}
	defer session.close()
	l := &look{config: c.config, source: c.env.Name, kinds: normalize.Kinds(), brief: brief, taken: taken, session: session}
	if err = l.read(ctx); err != nil || httpclient.Void(ctx, l.any()) {
		return nil, c.config.fail(ctx, session.address(), err)
	}
	return l, nil
}
