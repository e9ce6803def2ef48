// Package openstack reads an OpenStack cloud: the objects of Nova, Neutron, Glance and Cinder in
// one project or in all projects.
package openstack

import (
	"context"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

// Type is the type of the collector in the configuration and the prefix of its kinds.
const Type = normalize.Type

// Definition returns the definition of the collector type "openstack".
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
	// history is the log of changes, kept between scans.
	history *history
}

// Collect implements collectors.Collector. It reads every list, with one request per page, and the
// actions of up to Config.Actions servers.
func (c *cloud) Collect(ctx context.Context) (model.Snapshot, error) {
	sc, err := c.scan(ctx, (*scan).read)
	if err != nil {
		return model.Snapshot{}, err
	}
	defer sc.session.Close()
	c.history.remember(sc.session.Grant.User.ID, sc.session.Grant.User.Name)
	sc.auditLog = c.history.read(ctx, sc.session, &sc.estate, sc.taken)
	if collectors.Void(ctx, true) {
		return model.Snapshot{}, fmt.Errorf("read %s: %w", sc.server(), ctx.Err())
	}
	return sc.snapshot(), nil
}

// Probe implements collectors.Prober. It reads the first object of each list.
func (c *cloud) Probe(ctx context.Context) (collectors.Probe, error) {
	sc, err := c.scan(ctx, (*scan).probeKind)
	if err != nil {
		return collectors.Probe{}, err
	}
	defer sc.session.Close()
	return collectors.Probe{Version: sc.version(), Identity: sc.identity(), Endpoint: sc.server(), Coverage: sc.coverage()}, nil
}

// scan logs in and reads each kind that is not excluded. The caller must close its session.
func (c *cloud) scan(ctx context.Context, read listReader) (*scan, error) {
	sc := &scan{config: c.config, env: c.env, taken: c.now(), kinds: normalize.Kinds(), gaps: map[string]gap{}}
	err := sc.connect(ctx, c.config.limits(c.backoff))
	if err == nil {
		sc.readAll(ctx, read)
	}
	if err == nil && !collectors.Void(ctx, len(sc.estate.Objects) > 0) {
		return sc, nil
	}
	if sc.session != nil {
		sc.session.Close()
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read %s: %w", sc.server(), ctx.Err())
	}
	return nil, c.config.Access().Explain(sc.server(), err)
}
