//go:build e2e

package terraform_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/test/tftest"
)

// TestPullByCLI pulls a state with each CLI from a local and from an http backend, without a
// provider and without a request other than GET.
func TestPullByCLI(t *testing.T) {
	t.Parallel()
	tools, err := tftest.Find()
	if err != nil {
		t.Fatal(err)
	}
	clis, err := tools.CLIs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); r.Method != http.MethodGet || password != "hunter22" {
			t.Errorf("%s %s", r.Method, r.URL)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		fmt.Fprint(w, aState)
	}))
	t.Cleanup(server.Close)
	file := write(t, "terraform.tfstate", aState)
	types := map[string]string{"pve": "proxmox"}
	began := time.Now()
	want, err := load(t, types, func(c *terraform.Config) { c.State = []string{file} })
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("read directly in %s", time.Since(began))
	for name, backend := range map[string]string{
		"local": fmt.Sprintf("backend \"local\" { path = %q }", file),
		"http":  fmt.Sprintf("backend \"http\" {\n address = %q\n username = \"ci\"\n }", server.URL),
	} {
		for _, cli := range clis {
			root := t.TempDir()
			text := "terraform {\n" + backend + "\n}\nresource \"null_resource\" \"n\" {}\nmodule \"gone\" { source = \"./gone\" }\n"
			if err := os.WriteFile(filepath.Join(root, "main.tf"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			got, err := load(t, types, func(c *terraform.Config) {
				c.Engine, c.Dir, c.Run.Binary, c.Run.ReadPaths = terraform.State, root, cli.Path, []string{file}
				c.Run.Env = map[string]string{"TF_HTTP_PASSWORD": "hunter22"}
			})
			if err != nil {
				t.Errorf("%s, %s: %v", cli.Name, name, err)
				continue
			}
			t.Logf("%s, %s: pulled in %s", cli.Name, name, time.Since(began))
			if d := cmp.Diff(claimed(want), claimed(got)); d != "" {
				t.Errorf("%s, %s (-read +pulled):\n%s", cli.Name, name, d)
			}
		}
	}
}
