// Package netbox reads a NetBox, versions 3.7 to 4.7, over its REST API.
package netbox

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

// Type is the collector's type in the configuration, and the first part of
// its kinds' names.
const Type = normalize.Type

// Definition returns the collector of type "netbox".
func Definition() collectors.Definition {
	return collectors.Define(Type, Defaults(), open)
}

func open(env collectors.Env, config Config) (collectors.Collector, error) {
	config, err := config.complete()
	if err != nil {
		return nil, err
	}
	return &inventory{env: env, config: config, kinds: normalize.Kinds(), now: time.Now, backoff: 500 * time.Millisecond}, nil
}

// An inventory reads one NetBox. It is safe for concurrent use.
type inventory struct {
	env    collectors.Env
	config Config
	kinds  []*normalize.Kind
	now    func() time.Time
	// backoff is the first pause before a request is tried again.
	backoff time.Duration
	// log is what was read of the changelog so far.
	log changelog
}

// Collect reads everything that the token may see, each object once.
func (c *inventory) Collect(ctx context.Context) (model.Snapshot, error) {
	l, err := c.look(ctx, false)
	if err != nil {
		return model.Snapshot{}, err
	}
	return l.snapshot(), nil
}

// Probe asks for the first objects of each list, and for no changelog.
func (c *inventory) Probe(ctx context.Context) (collectors.Probe, error) {
	l, err := c.look(ctx, true)
	if err != nil {
		return collectors.Probe{}, err
	}
	return collectors.Probe{
		Version:  l.release,
		Identity: l.sight.identity,
		Endpoint: c.config.URL,
		Coverage: l.snapshot().Coverage,
	}, nil
}

// look reads the NetBox; a brief look leaves out what lists hold.
func (c *inventory) look(ctx context.Context, brief bool) (*look, error) {
	session, err := connect(c.config, c.config.limits(c.backoff))
	if err != nil {
		return nil, c.fail(ctx, err)
	}
	defer session.close()
	l := &look{config: c.config, env: c.env, kinds: c.kinds, brief: brief, taken: c.now(), session: session, log: &c.log}
	if err = l.readVersion(ctx); err == nil {
		l.read(ctx)
	}
	if err != nil || httpclient.Void(ctx, len(l.lists) > 0) {
		return nil, c.fail(ctx, err)
	}
	return l, nil
}

// fail gives the error of a look that failed as a whole.
func (c *inventory) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", c.config.URL, ctx.Err())
	}
	return c.config.explain(err)
}

// readVersion asks for the version, which decides what else is asked for. It is
// also the first proof that the token is taken.
func (l *look) readVersion(ctx context.Context) error {
	status, header, err := l.session.object(ctx, "status/", url.Values{})
	if err != nil {
		return err
	}
	l.release = httpclient.Printable(status.At("netbox-version").Str())
	version, ok := normalize.ParseVersion(l.release)
	if !ok {
		l.release = httpclient.Printable(header.Get("API-Version"))
		if version, ok = normalize.ParseVersion(l.release); !ok {
			return &httpclient.Unexpected{Reason: "the answer tells no version of NetBox"}
		}
	}
	l.version, l.cursor, l.marked = version, !version.Before(cursors()), marked(header)
	return nil
}
