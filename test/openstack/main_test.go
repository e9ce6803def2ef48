//go:build e2e_openstack

package openstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/test/openstacklab"
)

// cloud is the cloud of all tests of the package.
var cloud *openstacklab.Cloud

// commandTimeout bounds one command; each takes some seconds at most.
const commandTimeout = 2 * time.Minute

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "driftd-openstack-")
	if err != nil {
		return 1, fmt.Errorf("make folder for the cloud: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cloud, err = openstacklab.Start(context.Background(), dir)
	if err != nil {
		return 1, err
	}
	if err := furnish(dir); err != nil {
		return 1, errors.Join(err, cloud.Close())
	}
	code = m.Run()
	return code, cloud.Close()
}

// furnish creates the shared resources of an administrator: flavors, an image and the external
// network.
func furnish(dir string) error {
	image := filepath.Join(dir, "debian.raw")
	if err := os.WriteFile(image, make([]byte, 4096), 0o600); err != nil {
		return fmt.Errorf("make image: %w", err)
	}
	for _, command := range []string{
		"flavor create --vcpus 1 --ram 512 --disk 1 small",
		"flavor create --vcpus 1 --ram 512 --disk 100000000 huge",
		"image create --public --disk-format raw --container-format bare --file " + image + " debian",
		"network create --external --provider-network-type flat --provider-physical-network physnet1 public",
		"subnet create --network public --subnet-range 203.0.113.0/24 --no-dhcp public",
	} {
		if _, err := openstack(admin(), command); err != nil {
			return err
		}
	}
	return nil
}

func admin() []string {
	return cloud.Environment(openstacklab.Admin, openstacklab.Admin, openstacklab.Admin)
}

// openstack runs the real command as a user, and returns its output.
func openstack(env []string, command string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "openstack", strings.Fields(command)...)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil {
		exit := &exec.ExitError{}
		errors.As(err, &exit)
		return "", fmt.Errorf("openstack %s: %w: %s", command, err, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), nil
}
