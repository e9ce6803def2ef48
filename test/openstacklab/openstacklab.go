package openstacklab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/driftd/driftd/test/process"
)

// Region is the only region.
const Region = "RegionOne"

// Admin is the name and the password of the administrator, and the name of the administrator's
// project.
const Admin = "admin"

// A Cloud is a running OpenStack. It does not outlive the caller's process.
type Cloud struct {
	place   place
	running []*process.Process
}

// Start starts a cloud with its files in a folder, and waits until each service responds and
// accepts work. The caller must close it.
func Start(ctx context.Context, dir string) (*Cloud, error) {
	files, err := findFiles()
	if err != nil {
		return nil, err
	}
	archive, err := golden(ctx, files)
	if err != nil {
		return nil, err
	}
	p, err := newPlace(dir, files)
	if err != nil {
		return nil, err
	}
	c := &Cloud{place: p}
	if err := errors.Join(p.run(ctx, "tar", "-xzf", archive), c.start(ctx)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cloud) start(ctx context.Context) error {
	p := c.place
	if err := c.startAll(ctx, p.database()); err != nil {
		return err
	}
	here, err := os.ReadFile(p.settings("here.sql"))
	if err != nil {
		return fmt.Errorf("read addresses: %w", err)
	}
	if err := p.sql(ctx, string(here)); err != nil {
		return err
	}
	// Times in databases have seconds.
	since := time.Now().Truncate(time.Second)
	if err := c.startAll(ctx, p.servers()...); err != nil {
		return err
	}
	return await(ctx, c.running[len(c.running)-1], "all of OpenStack", func(ctx context.Context) error { return p.works(ctx, since) })
}

// startAll starts servers, and waits until they are ready.
func (c *Cloud) startAll(ctx context.Context, servers ...server) error {
	started := len(c.running)
	for _, s := range servers {
		running, err := c.place.start(s)
		if err != nil {
			return err
		}
		c.running = append(c.running, running)
	}
	for i, s := range servers {
		if s.asks == nil {
			continue
		}
		if err := c.place.awaitReady(ctx, c.running[started+i], s); err != nil {
			return err
		}
	}
	return nil
}

// Close kills all processes, the last started first: their data is not used again.
func (c *Cloud) Close() error {
	var err error
	for _, p := range slices.Backward(c.running) {
		// Some have children, in the same process group.
		if e := syscall.Kill(-p.PID(), syscall.SIGKILL); e != nil && !errors.Is(e, syscall.ESRCH) {
			err = errors.Join(err, fmt.Errorf("end process group: %w", e))
		}
		err = errors.Join(err, p.Kill())
	}
	c.running = nil
	return err
}

// AuthURL returns the URL of Keystone.
func (c *Cloud) AuthURL() string { return c.place.URL("keystone") + "/v3" }

// URL returns the address of a service, such as neutron.
func (c *Cloud) URL(service string) string { return c.place.URL(service) }

// BusURL returns the URL of the message bus, for AMQP clients.
func (c *Cloud) BusURL() string {
	return fmt.Sprintf("amqp://guest:guest@127.0.0.1:%d/", c.place.Port("rabbit"))
}

// Environment returns the environment of the command line and Terraform's provider, for a user
// in a project.
func (c *Cloud) Environment(user, password, project string) []string {
	return append(environment(),
		"OS_AUTH_URL="+c.AuthURL(), "OS_REGION_NAME="+Region, "OS_IDENTITY_API_VERSION=3",
		"OS_USERNAME="+user, "OS_PASSWORD="+password, "OS_PROJECT_NAME="+project,
		"OS_USER_DOMAIN_NAME=Default", "OS_PROJECT_DOMAIN_NAME=Default")
}
