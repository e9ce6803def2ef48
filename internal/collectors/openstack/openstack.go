// Package openstack reads an OpenStack cloud: what Nova, Neutron, Glance and
// Cinder have in one project, or in all of them.
package openstack

import (
	"context"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// Type is the collector's type in the configuration, and the first part of its
// kinds' names.
const Type = normalize.Type

// Definition returns the collector of type "openstack".
func Definition() collectors.Definition {
	return collectors.Define(Type, Defaults(), open)
}

func open(env collectors.Env, config Config) (collectors.Collector, error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	return &cloud{env: env, config: config, now: time.Now, backoff: 500 * time.Millisecond, history: newHistory(config, env)}, nil
}

// A cloud reads one OpenStack. It is safe for concurrent use.
type cloud struct {
	env    collectors.Env
	config Config
	now    func() time.Time
	// backoff is the first pause before a request is tried again.
	backoff time.Duration
	// history is what is known so far of who did what.
	history *history
}

// Collect reads every list, with as many requests as they have pages, and one for
// each server of Config.Actions.
func (c *cloud) Collect(ctx context.Context) (model.Snapshot, error) {
	l, err := c.look(ctx, (*look).read)
	if err != nil {
		return model.Snapshot{}, err
	}
	defer l.session.close()
	c.history.know(l.session.grant.User.ID, l.session.grant.User.Name)
	l.told = c.history.read(ctx, l.session, &l.estate, l.taken)
	if httpclient.Void(ctx, true) {
		return model.Snapshot{}, fmt.Errorf("read %s: %w", l.server(), ctx.Err())
	}
	return l.snapshot(), nil
}

// Probe asks for the beginning of each list, and for nothing else.
func (c *cloud) Probe(ctx context.Context) (collectors.Probe, error) {
	l, err := c.look(ctx, (*look).peek)
	if err != nil {
		return collectors.Probe{}, err
	}
	defer l.session.close()
	return collectors.Probe{Version: l.version(), Identity: l.identity(), Endpoint: l.server(), Coverage: l.coverage()}, nil
}

// look logs in and lets each kind that is not left out be read. The caller closes
// its session.
func (c *cloud) look(ctx context.Context, read reading) (*look, error) {
	l := &look{config: c.config, env: c.env, taken: c.now(), kinds: normalize.Kinds(), gaps: map[string]gap{}}
	err := l.connect(ctx, c.config.limits(c.backoff))
	if err == nil {
		l.readAll(ctx, read)
	}
	if err == nil && !httpclient.Void(ctx, len(l.estate.Objects) > 0) {
		return l, nil
	}
	if l.session != nil {
		l.session.close()
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read %s: %w", l.server(), ctx.Err())
	}
	return nil, c.config.explain(l.server(), err)
}
