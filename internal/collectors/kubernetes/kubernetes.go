// Package kubernetes reads the objects of a Kubernetes cluster from its API server or from an
// output file of kubectl.
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
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
)

// Type is the type of the collector in the configuration and the prefix of its kinds.
const Type = "kubernetes"

// Definition returns the definition of the collector type "kubernetes".
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
	// now returns the time, and jitter a random number from 0 to 1.
	now    func() time.Time
	jitter func() float64
	// connect returns a new client. It is called again after a scan that failed as a whole,
	// so that renewed credentials take effect.
	connect func() (*client, error)
	// connectSeparately returns a new client with its own connections.
	connectSeparately func() (*client, error)
	// heartbeat is the heartbeat of Watch; nil if Watch does not run.
	heartbeat *heartbeat
	schemas   *schemas
	// audit is the audit log; nil if the settings have none.
	audit *audit.Log
	// releases reads the records of Helm.
	releases releaseReader

	mu     sync.Mutex
	client *client
	// server is the address of the API server, or kubeapi.Access.Origin before the first connection.
	server string
	last   *scan
	// scanned receives after last was replaced.
	scanned chan struct{}
}

func newCluster(env collectors.Env, config Config) *cluster {
	c := &cluster{
		env:     env,
		config:  config,
		now:     time.Now,
		jitter:  rand.Float64,
		server:  config.Access().Origin(),
		schemas: newSchemas(env),
		scanned: make(chan struct{}, 1),
	}
	c.audit = c.newAudit()
	running := make(chan struct{}, kubeapi.MaxRoundTrips)
	c.connect = func() (*client, error) { return connect(c.config, running, nil) }
	c.connectSeparately = func() (*client, error) { return connect(c.config, running, withOwnConnections) }
	return c
}

// Collect implements collectors.Collector. It reads all kinds that the API server can list. If
// Watch is running, it continues from the result.
func (c *cluster) Collect(ctx context.Context) (model.Snapshot, error) {
	found, err := c.scan(ctx)
	if err != nil {
		return model.Snapshot{}, err
	}
	c.setLast(found)
	return c.withAuditEvents(ctx, found.snapshot(), found.catalog), nil
}

// setLast sets the last scan, from which a watch continues.
func (c *cluster) setLast(found *scan) {
	c.mu.Lock()
	c.last = found
	beat := c.heartbeat
	c.mu.Unlock()
	if beat != nil {
		beat.alive()
	}
	select {
	case c.scanned <- struct{}{}:
	default:
	}
}

// reader returns a reader of the API server. It creates the client if there is none.
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
	return &reader{client: c.client, config: c.config, source: c.env.Name, sealer: c.env.Sealer, now: c.now, releases: &c.releases}, nil
}

// address returns the address of the API server.
func (c *cluster) address() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server
}

// fail returns the error of a scan that failed as a whole, and drops the client.
func (c *cluster) fail(ctx context.Context, r *reader, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", r.server(), ctx.Err())
	}
	c.mu.Lock()
	c.client = nil
	c.mu.Unlock()
	return r.explain(err, c.now())
}
