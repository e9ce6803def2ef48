//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/driftd/driftd/test/kubetest"
	"github.com/driftd/driftd/test/process"
)

// cluster is the cluster of all tests of the package; each uses namespaces of its own. Tests
// that break a cluster start their own.
var cluster *kubetest.Cluster

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "driftd-e2e-")
	if err != nil {
		return 1, fmt.Errorf("make folder for the cluster: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cluster, err = kubetest.Start(context.Background(), kubetest.Options{Dir: dir, Controllers: true})
	if err != nil {
		return 1, err
	}
	code = m.Run()
	return code, cluster.Stop()
}

func driftdPath(t testing.TB) string {
	t.Helper()
	path, err := process.Driftd()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
