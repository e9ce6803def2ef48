// Package netbox reads a NetBox server, versions 3.7 to 4.7, through its REST API.
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
	"github.com/driftd/driftd/internal/netboxapi"
	"github.com/driftd/driftd/internal/printable"
)

// Type is the type of the collector in the configuration and the prefix of its kinds.
const Type = normalize.Type

// Definition returns the definition of the collector type "netbox".
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
	// log is the part of the changelog that was read so far.
	log changelog
}

// Collect implements collectors.Collector. It reads all lists that the token has permission to
// view, and the changelog.
func (c *inventory) Collect(ctx context.Context) (model.Snapshot, error) {
	sc, err := c.scan(ctx, false)
	if err != nil {
		return model.Snapshot{}, err
	}
	return sc.snapshot(), nil
}

// Probe implements collectors.Prober. It reads the first object of each list, and not the
// changelog.
func (c *inventory) Probe(ctx context.Context) (collectors.Probe, error) {
	sc, err := c.scan(ctx, true)
	if err != nil {
		return collectors.Probe{}, err
	}
	return collectors.Probe{
		Version:  sc.release,
		Identity: sc.visibility.identity,
		Endpoint: c.config.URL,
		Coverage: sc.snapshot().Coverage,
	}, nil
}

// scan reads the NetBox server. If probeOnly is set, it reads at most one object of each list.
func (c *inventory) scan(ctx context.Context, probeOnly bool) (*scan, error) {
	sc, end, err := c.begin()
	if err != nil {
		return nil, c.fail(ctx, err)
	}
	defer end()
	sc.probeOnly = probeOnly
	if err = sc.readVersion(ctx); err == nil {
		sc.read(ctx)
	}
	if err != nil || collectors.Void(ctx, len(sc.lists) > 0) {
		return nil, c.fail(ctx, err)
	}
	return sc, nil
}

// begin returns a scan that has read nothing yet. The caller must end it.
func (c *inventory) begin() (sc *scan, end func(), err error) {
	session, err := netboxapi.Connect(c.config.Access(), c.config.limits(c.backoff))
	if err != nil {
		return nil, nil, &collectors.LocalError{Err: err}
	}
	sc = &scan{config: c.config, env: c.env, kinds: c.kinds, taken: c.now(), session: session, log: &c.log, lists: map[string][]object{}, gaps: map[string]gap{}}
	return sc, session.Close, nil
}

// fail returns the error of a scan that failed as a whole.
func (c *inventory) fail(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", c.config.URL, ctx.Err())
	}
	return c.config.explain(err)
}

// readVersion reads the version, which determines the further requests. It is the first request, so
// it also checks that NetBox accepts the token.
func (sc *scan) readVersion(ctx context.Context) error {
	status, header, err := sc.session.Object(ctx, "status/", url.Values{})
	if err != nil {
		return err
	}
	sc.release = printable.Text(status.At("netbox-version").Str())
	version, ok := normalize.ParseVersion(sc.release)
	if !ok {
		sc.release = printable.Text(header.Get("API-Version"))
		if version, ok = normalize.ParseVersion(sc.release); !ok {
			return &httpclient.Unexpected{Reason: "the answer has no version of NetBox"}
		}
	}
	sc.version, sc.cursor, sc.apiVersionHeader = version, !version.Before(cursors()), netboxapi.HasVersion(header)
	return nil
}
