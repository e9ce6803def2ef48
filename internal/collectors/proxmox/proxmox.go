// Package proxmox reads a Proxmox VE cluster, versions 7.4 to 9.x, through the
// API of one of its nodes.
package proxmox

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/proxmox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// Type is the collector's type in the configuration, and the first part of
// its kinds' names.
const Type = "proxmox"

// Definition returns the collector of type "proxmox".
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

// A cluster reads one Proxmox VE cluster. It is safe for concurrent use.
type cluster struct {
	env    collectors.Env
	config Config
	now    func() time.Time
	// backoff is the first pause before a request is tried again.
	backoff time.Duration
	// warned is done when the log says that guests may not be asked.
	warned sync.Once
}

// Collect reads everything that the account may see, each object once.
func (c *cluster) Collect(ctx context.Context) (model.Snapshot, error) {
	found, version, err := c.look(ctx, false)
	if err != nil {
		return model.Snapshot{}, err
	}
	if found.refused > 0 {
		c.warned.Do(func() {
			c.env.Log.WarnContext(ctx, "guests may not be asked for their addresses", "guests", found.refused, "hint", agentHint)
		})
	}
	return found.snapshot(version), nil
}

// Probe reads what belongs to the cluster and its nodes, and no guest.
func (c *cluster) Probe(ctx context.Context) (collectors.Probe, error) {
	found, version, err := c.look(ctx, true)
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

// look reads the cluster; a brief look leaves guests and logs out.
func (c *cluster) look(ctx context.Context, brief bool) (*look, string, error) {
	l := &look{config: c.config, source: c.env.Name, normalizer: normalize.New(c.env.Sealer), taken: c.now()}
	session, err := connect(ctx, c.config, c.backoff)
	if err != nil {
		return nil, "", c.fail(ctx, err)
	}
	defer session.close()
	l.api = session
	version, err := l.version(ctx)
	if err == nil {
		l.readWithQuorum(ctx, brief)
	}
	if err != nil || httpclient.Void(ctx, len(l.resources) > 0) {
		return nil, "", c.fail(ctx, err)
	}
	return l, version, nil
}

// fail gives the error of a look that failed as a whole.
func (c *cluster) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", c.config.URL, ctx.Err())
	}
	return c.config.explain(err)
}

// version asks for the version of Proxmox VE, which everybody may know.
func (l *look) version(ctx context.Context) (string, error) {
	data, err := l.api.Get(ctx, "/version")
	if err != nil {
		return "", err
	}
	version := data.At("version").Text()
	if version == "" {
		return "", &httpclient.Unexpected{Reason: "the answer tells no version"}
	}
	return version, nil
}

// read reads what is there, the account's rights before any list.
func (l *look) read(ctx context.Context, brief bool) {
	l.readRights(ctx)
	collectors.Parallel(2, 2, func(i int) {
		if i == 0 {
			l.readCluster(ctx)
			return
		}
		l.sweep(ctx, brief)
	})
}

// sweep reads the nodes, the guests on them, and the logs.
func (l *look) sweep(ctx context.Context, brief bool) {
	nodes, err := l.listNodes(ctx)
	if err != nil {
		l.fail(err, "", append(nodeKinds(), guestKinds()...)...)
		return
	}
	var guests []guest
	if !brief {
		if guests, err = l.listGuests(ctx); err != nil {
			l.fail(err, "", guestKinds()...)
		}
	}
	s := &sweep{look: l, nodes: nodes}
	s.readNodes(ctx, guests)
	s.settle(ctx)
	s.askGuests(ctx)
	if !brief {
		l.readLogs(ctx, nodes)
	}
}
