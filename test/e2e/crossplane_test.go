//go:build e2e

package e2e

import (
	"testing"

	"github.com/driftd/driftd/test/kubetest"
)

// TestCrossplane has a cluster of its own, because failed checks of objects without a namespace are
// findings of each scan of a cluster.
func TestCrossplane(t *testing.T) {
	t.Parallel()
	newHarness(t, startCluster(t, kubetest.Options{Controllers: true}), "server").run(t, "crossplane")
}
