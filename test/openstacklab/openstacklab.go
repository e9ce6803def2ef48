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

// Region is the region of everything.
const Region = "RegionOne"

// Admin is the name and the password of who may do everything, and the name of
// their project.
const Admin = "admin"

// A Cloud is a running OpenStack. It does not outlive the caller's process.
type Cloud struct {
	place   place
	running []*process.Process
}

// Start starts a cloud whose files go into a folder, and waits until each
// service answers, and work is taken. Whoever starts it closes it.
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
	// Databases count in seconds.
	since := time.Now().Truncate(time.Second)
	if err := c.startAll(ctx, p.servers()...); err != nil {
		return err
	}
	return await(ctx, c.running[len(c.running)-1], "all of OpenStack", func(ctx context.Context) error { return p.works(ctx, since) })
}

// startAll starts servers, and waits for them to be ready.
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

// Close ends everything at once, the last started first: nothing of it is used
// again.
func (c *Cloud) Close() error {
	var err error
	for _, p := range slices.Backward(c.running) {
		// Some have children, which are in the same group.
		if e := syscall.Kill(-p.PID(), syscall.SIGKILL); e != nil && !errors.Is(e, syscall.ESRCH) {
			err = errors.Join(err, fmt.Errorf("end process group: %w", e))
		}
		err = errors.Join(err, p.Kill())
	}
	c.running = nil
	return err
}

// AuthURL is where to log in.
func (c *Cloud) AuthURL() string { return c.place.URL("keystone") + "/v3" }

// BusURL is the address of the bus, for AMQP's clients.
func (c *Cloud) BusURL() string {
	return fmt.Sprintf("amqp://guest:guest@127.0.0.1:%d/", c.place.Port("rabbit"))
}

// Environment is what the command line and Terraform's provider see of the
// cloud, as a user in a project.
func (c *Cloud) Environment(user, password, project string) []string {
	return append(environment(),
		"OS_AUTH_URL="+c.AuthURL(), "OS_REGION_NAME="+Region, "OS_IDENTITY_API_VERSION=3",
		"OS_USERNAME="+user, "OS_PASSWORD="+password, "OS_PROJECT_NAME="+project,
		"OS_USER_DOMAIN_NAME=Default", "OS_PROJECT_DOMAIN_NAME=Default")
}
