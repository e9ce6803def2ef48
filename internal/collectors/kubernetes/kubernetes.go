// Package kubernetes reads the objects of a Kubernetes cluster: from its API
// server, or from a dump that kubectl wrote.
package kubernetes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/kubernetes/audit"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// Type is the collector's type in the configuration, and the first part of
// its kinds' names.
const Type = "kubernetes"

// Definition returns the collector of type "kubernetes".
func Definition() collectors.Definition {
	return collectors.Define(Type, Defaults(), open)
}

func open(env collectors.Env, config Config) (collectors.Collector, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	if config.Dump != "" {
		return &dump{env: env, config: config, now: time.Now, builtin: kube.Builtin}, nil
	}
	return newCluster(env, config), nil
}

// A cluster reads one API server. It is safe for concurrent use.
type cluster struct {
	env    collectors.Env
	config Config
	// now and jitter (0 to 1) are the world's time and randomness.
	now    func() time.Time
	jitter func() float64
	// connect opens a client; it is called again after a look that failed as
	// a whole, so that renewed credentials are taken up.
	connect func() (*client, error)
	// connectApart does so with connections that nothing else uses.
	connectApart func() (*client, error)
	// heartbeat is that of Watch; nil while none runs.
	heartbeat *heartbeat
	schemas   *schemas
	// audit tells who wrote what; nil where no setting names an audit log.
	audit *audit.Log

	mu     sync.Mutex
	client *client
	// server is the address of the API server, or what should tell it.
	server string
	last   *look
	// fresh tells a watch that last was replaced.
	fresh chan struct{}
}

func newCluster(env collectors.Env, config Config) *cluster {
	c := &cluster{
		env:     env,
		config:  config,
		now:     time.Now,
		jitter:  rand.Float64,
		server:  config.origin(),
		schemas: newSchemas(env),
		fresh:   make(chan struct{}, 1),
	}
	c.audit = c.newAudit()
	running := make(chan struct{}, maxRoundTrips)
	c.connect = func() (*client, error) { return connect(c.config, running, nil) }
	c.connectApart = func() (*client, error) { return connect(c.config, running, apart) }
	return c
}

// Collect reads every listable kind that the API server serves. While Watch
// runs, it also becomes the state that the watch goes on from.
func (c *cluster) Collect(ctx context.Context) (model.Snapshot, error) {
	found, err := c.look(ctx)
	if err != nil {
		return model.Snapshot{}, err
	}
	c.remember(found)
	return c.signed(ctx, found.snapshot(), found.catalog), nil
}

// remember makes a look the one that a watch goes on from.
func (c *cluster) remember(found *look) {
	c.mu.Lock()
	c.last = found
	beat := c.heartbeat
	c.mu.Unlock()
	if beat != nil {
		beat.alive()
	}
	select {
	case c.fresh <- struct{}{}:
	default:
	}
}

// reader returns what reads the API server, connecting when there is no
// connection yet.
func (c *cluster) reader() (*reader, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.client == nil {
		client, err := c.connect()
		if err != nil {
			return nil, err
		}
		c.client, c.server = client, client.server()
	}
	return &reader{client: c.client, config: c.config, source: c.env.Name, sealer: c.env.Sealer, now: c.now}, nil
}

// address names the API server.
func (c *cluster) address() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server
}

// fail gives the error of a look that failed as a whole, and drops the
// connection.
func (c *cluster) fail(ctx context.Context, r *reader, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", r.server(), ctx.Err())
	}
	c.mu.Lock()
	c.client = nil
	c.mu.Unlock()
	return r.explain(err, c.now())
}
