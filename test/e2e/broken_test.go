//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/test/kubetest"
)

// TestBrokenCluster has a cluster of its own. At the end its server hangs: the read times out,
// and nothing is missing.
//
//nolint:tparallel // the scripts come first; then the server is stopped
func TestBrokenCluster(t *testing.T) {
	t.Parallel()
	own := startCluster(t, kubetest.Options{Controllers: true})
	i := install(t, own, "")
	t.Run("scripts", func(t *testing.T) {
		newHarness(t, own, "client").run(t, "broken")
	})
	if err := own.Pause(); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := i.driftd("scan", "-o", "json")
	if code != 3 || strings.Contains(stdout, `"missing"`) || !strings.Contains(stdout, "timeout") && !strings.Contains(stdout, "no answer") {
		t.Errorf("driftd scan of a server that hangs: exit code %d, want 3 and the reason: %s%s", code, stdout, stderr)
	}
}
