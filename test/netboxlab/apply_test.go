//go:build e2e

package netboxlab

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/driftd/driftd/test/tftest"
)

// TestApply applies the declarations of the tests with the real provider. A plan after that is
// empty.
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
			lab, err := New(Options{Version: "3.1.11"})
			if err != nil {
				t.Fatal(err)
			}
			lab.AddUser("svc-terraform")
			server := httptest.NewServer(lab)
			t.Cleanup(server.Close)
			root := t.TempDir()
			if err := os.WriteFile(filepath.Join(root, "main.tf"), main, 0o600); err != nil {
				t.Fatal(err)
			}
			cli.Env = []string{"TF_VAR_server_url=" + server.URL, "TF_VAR_api_token=" + Token("svc-terraform")}
			if err := cli.Apply(t.Context(), root); err != nil {
				t.Fatalf("%v; the lab was asked %q", err, lab.Requests())
			}
			if err := cli.Run(t.Context(), root, "plan", "-detailed-exitcode", "-no-color"); err != nil {
				t.Errorf("%v; the lab was asked %q", err, lab.Requests())
			}
		})
	}
}
