// Package openstack reads an OpenStack cloud: the objects of Nova, Neutron, Glance and Cinder in
// one project or in all projects.
package openstack

import (
	"context"
	"fmt"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/pinned"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
	"github.com/driftd/driftd/internal/printable"
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
	return &cloud{env: env, config: config, now: time.Now, backoff: 500 * time.Millisecond, history: newHistory(config, env),
		project: pinned.New("project", env.CacheDir, env.Log), region: pinned.New("region", env.CacheDir, env.Log)}, nil
}

// A cloud reads one OpenStack. It is safe for concurrent use.
type cloud struct {
	env    collectors.Env
	config Config
	now    func() time.Time
	// backoff is the first pause before a request is tried again.
	backoff time.Duration
	// project and region are those of the last scan.
	project, region *pinned.Scope
	// history is the log of changes, kept between scans.
	history *history
}

// Collect implements collectors.Collector. It reads every list, with one request per page, and the
// actions of up to Config.Actions servers.
func (c *cloud) Collect(ctx context.Context) (model.Snapshot, error) {
	sc, err := c.scan(ctx, false, (*scan).read)
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
	sc, err := c.scan(ctx, true, (*scan).probeKind)
	if err != nil {
		return collectors.Probe{}, err
	}
	defer sc.session.Close()
	return collectors.Probe{Version: sc.version(), Identity: sc.identity(), Endpoint: sc.server(), Coverage: sc.coverage()}, nil
}

// scan logs in and reads each kind that is not excluded. A brief scan stores nothing. The caller must close its session.
func (c *cloud) scan(ctx context.Context, brief bool, read listReader) (*scan, error) {
	sc := &scan{config: c.config, env: c.env, taken: c.now(), kinds: normalize.Kinds(), gaps: map[string]gap{}}
	err := sc.connect(ctx, c.config.limits(c.backoff))
	if err == nil {
		err = c.checkScope(sc, brief)
	}
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

// checkScope returns an error if the token is one of another project than the configured one, or than that of the last
// scan, or if another region is read. Everything would be missing there. With all projects, the token may be one of any.
func (c *cloud) checkScope(sc *scan, brief bool) error {
	project, configured := sc.session.Grant.Project, c.config.Project
	if configured == project.Name {
		configured = project.ID
	}
	if !sc.visibility.all {
		switch want, err := c.project.Check(configured, project.ID, brief); {
		case err != nil:
			return err
		case want != "":
			return c.config.otherScope("project", want, printable.Text(project.Name+" ("+project.ID+")"), configured != "")
		}
	}
	want, err := c.region.Check(c.config.Region, sc.session.Region, brief)
	if err != nil || want == "" {
		return err
	}
	return c.config.otherScope("region", want, sc.session.Region, c.config.Region != "")
}

// otherScope returns the error of a scan of another project or region.
func (c Config) otherScope(what, want, got string, configured bool) error {
	if configured {
		return &openstackapi.CatalogueError{Reason: fmt.Sprintf("the scan would read %s %s, and the setting %s is %s", what, got, what, want),
			Hint: fmt.Sprintf("correct cloud %s of clouds_file, or %s", c.Cloud, what)}
	}
	return &openstackapi.CatalogueError{Reason: fmt.Sprintf("the scan would read %s %s, and the last one read %s", what, got, want),
		Hint: fmt.Sprintf("correct cloud %s of clouds_file, or set %s to the one that is to be read", c.Cloud, what)}
}
