//go:build e2e

package docs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/test/kubetest"
	"github.com/driftd/driftd/test/tftest"
)

// realParts returns a cluster with the demonstration's declarations, and OpenTofu with its CLI
// configuration.
func realParts(t *testing.T) parts {
	t.Helper()
	have := parts{shell: true}
	for _, program := range []string{"curl", "openssl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatal(err)
		}
	}
	tools, err := tftest.Find()
	if err != nil {
		t.Fatal(err)
	}
	clis, err := tools.CLIs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	have.tofu, have.tofuConfig = clis[0].Path, clis[0].Config
	cluster := start(t)
	have.kubectl, have.kubeconfig = cluster.Kubectl(), filepath.Join(t.TempDir(), "kubeconfig")
	if err := cluster.WriteKubeconfig(have.kubeconfig, "", cluster.Admin()); err != nil {
		t.Fatal(err)
	}
	kubectl(t, have, "create", "namespace", "shop")
	kubectl(t, have, "apply", "-R", "-f", filepath.Join(root, "testdata", "demo", "deploy"))
	kubectl(t, have, "-n", "shop", "scale", "deployment", "--all", "--replicas=5")
	return have
}

func start(t *testing.T) *kubetest.Cluster {
	t.Helper()
	cluster, err := kubetest.Start(context.WithoutCancel(t.Context()), kubetest.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster
}

func kubectl(t *testing.T, have parts, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), have.kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+have.kubeconfig)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
