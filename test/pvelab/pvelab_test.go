//go:build e2e

package pvelab

import (
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/driftd/driftd/internal/collectors/proxmox/pvetest"
	"github.com/driftd/driftd/test/tftest"
)

// TestApply applies the declarations of the tests with the real provider. A plan after that is
// empty, and every request had a handler.
func TestApply(t *testing.T) {
	t.Parallel()
	tools, err := tftest.Find()
	if err != nil {
		t.Fatal(err)
	}
	clis, err := tools.CLIs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main, err := os.ReadFile(filepath.Join("testdata", "main.tf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, cli := range clis {
		t.Run(cli.Name, func(t *testing.T) {
			t.Parallel()
			lab := New(pvetest.New(Cluster(), rand.New(rand.NewPCG(1, 2))))
			server := httptest.NewTLSServer(lab)
			t.Cleanup(server.Close)
			root := t.TempDir()
			if err := os.WriteFile(filepath.Join(root, "main.tf"), main, 0o600); err != nil {
				t.Fatal(err)
			}
			cli.Env = []string{"TF_VAR_endpoint=" + server.URL}
			if err := cli.Apply(t.Context(), root); err != nil {
				t.Errorf("%v; the lab refused %q", err, lab.Refused())
			}
			if err := cli.Run(t.Context(), root, "plan", "-detailed-exitcode", "-no-color"); err != nil {
				t.Errorf("%v; the lab refused %q", err, lab.Refused())
			}
		})
	}
}
