// Package proxmox reads a Proxmox VE cluster, versions 7.4 to 9.x, through the API of one node.
package proxmox

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/pveapi"
	"github.com/driftd/driftd/internal/pveapi/normalize"
)

// Type is the type of the collector in the configuration and the prefix of its kinds.
const Type = "proxmox"

// Definition returns the definition of the collector type "proxmox".
func Definition() collectors.Definition {
	return collectors.Define(Type, Defaults(), open)
}

func open(env collectors.Env, config Config) (collectors.Collector, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	return &cluster{env: env, config: config, now: time.Now, backoff: 500 * time.Millisecond}, nil
}

// An api reads the API of Proxmox VE.
type api interface {
	// Get returns the data at a path below /api2/json, which may have a query. It is safe for
	// concurrent use.
	Get(ctx context.Context, path string) (model.Value, error)
	// GetOnce is Get for data that the guest itself sends. It makes one attempt, which takes no
	// longer than limit once it is sent.
	GetOnce(ctx context.Context, path string, limit time.Duration) (model.Value, error)
}

// maxRequests is the largest number of simultaneous requests, for any number of nodes: one
// node's pveproxy serves all of them.
const maxRequests = 32

// A cluster is the collector of one Proxmox VE cluster. It is safe for concurrent use.
type cluster struct {
	env    collectors.Env
	config Config
	now    func() time.Time
	// backoff is the pause before the second attempt of a request.
	backoff time.Duration
	// warned limits the warning about missing guest agent permissions to one.
	warned sync.Once
}

// Collect implements collectors.Collector. It reads every object that the account can see.
func (c *cluster) Collect(ctx context.Context) (model.Snapshot, error) {
	found, version, err := c.scan(ctx, false)
	if err != nil {
		return model.Snapshot{}, err
	}
	if found.refused > 0 {
		c.warned.Do(func() {
			c.env.Log.WarnContext(ctx, "no permission to read guest addresses", "guests", found.refused, "hint", agentHint)
		})
	}
	return found.snapshot(version), nil
}

// Probe implements collectors.Prober. It reads the objects of the cluster and of its nodes, but no
// guests.
func (c *cluster) Probe(ctx context.Context) (collectors.Probe, error) {
	found, version, err := c.scan(ctx, true)
	if err != nil {
		return collectors.Probe{}, err
	}
	return collectors.Probe{
		Version:  version,
		Identity: c.config.account(),
		Endpoint: c.config.URL,
		Coverage: found.snapshot(version).Coverage,
	}, nil
}

// scan reads the cluster. If brief is set, it does not read guests and logs.
func (c *cluster) scan(ctx context.Context, brief bool) (*scan, string, error) {
	sc := &scan{config: c.config, source: c.env.Name, normalizer: normalize.New(c.env.Sealer), taken: c.now()}
	session, err := pveapi.Connect(ctx, c.config.Access(), c.config.limits(c.backoff))
	if err != nil {
		return nil, "", c.fail(ctx, err)
	}
	defer session.Close()
	sc.api = session
	version, err := sc.version(ctx)
	if err == nil {
		sc.readWithQuorum(ctx, brief)
	}
	if err != nil || collectors.Void(ctx, len(sc.resources) > 0) {
		return nil, "", c.fail(ctx, err)
	}
	return sc, version, nil
}

// fail returns the error of a scan that failed as a whole.
func (c *cluster) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", c.config.URL, ctx.Err())
	}
	return c.config.explain(err)
}

// version returns the version of Proxmox VE. It requires no privilege.
func (sc *scan) version(ctx context.Context) (string, error) {
	data, err := sc.api.Get(ctx, "/version")
	if err != nil {
		return "", err
	}
	version := data.At("version").Text()
	if version == "" {
		return "", &httpclient.Unexpected{Reason: "the answer has no version"}
	}
	return version, nil
}

// read reads the objects of the cluster. It reads the account's permissions before any list.
func (sc *scan) read(ctx context.Context, brief bool) {
	sc.readRights(ctx)
	collectors.Parallel(2, 2, func(i int) {
		if i == 0 {
			sc.readCluster(ctx)
			return
		}
		sc.readNodesAndGuests(ctx, brief)
	})
}

// readNodesAndGuests reads the nodes, the guests on them, and the logs.
func (sc *scan) readNodesAndGuests(ctx context.Context, brief bool) {
	nodes, err := sc.listNodes(ctx)
	if err != nil {
		sc.fail(err, "", append(nodeKinds(), guestKinds()...)...)
		return
	}
	var guests []guest
	if !brief {
		if guests, err = sc.listGuests(ctx); err != nil {
			sc.fail(err, "", guestKinds()...)
		}
	}
	s := &guestScan{scan: sc, nodes: nodes}
	s.readNodes(ctx, guests)
	s.retryFailed(ctx)
	s.readAddresses(ctx)
	if !brief {
		sc.readLogs(ctx, nodes)
	}
}
