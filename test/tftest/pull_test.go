//go:build e2e

package tftest

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/model"
)

// pulled is a state with a guest and a resource without a live side.
const pulled = `{"version": 4, "terraform_version": "1.11.4", "serial": 7, "lineage": "6d3a", "outputs": {}, "resources": [
 {"mode": "managed", "type": "proxmox_virtual_environment_vm", "name": "web", "provider": "provider[\"registry.terraform.io/bpg/proxmox\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "401", "vm_id": 401, "name": "web-1", "node_name": "alpha", "pool_id": "blue"}}]},
 {"mode": "managed", "type": "null_resource", "name": "n", "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "1"}}]}
]}`

// claims returns the claims of a declaration, by address.
func claims(t *testing.T, change func(*terraform.Config)) (map[string]model.Key, error) {
	t.Helper()
	env := declared.Env{Name: "infra", Types: map[string]string{"pve": "proxmox"}, Governs: []string{"pve"},
		Sealer: model.NewSealer([]byte("key")), Log: slog.New(slog.DiscardHandler), CacheDir: t.TempDir()}
	loader, err := terraform.Definition().Open(env, func(into any) error {
		change(into.(*terraform.Config))
		return nil
	})
	if err != nil {
		return nil, err
	}
	declaration, err := loader.Load(t.Context())
	keys := map[string]model.Key{}
	for _, c := range declaration.Claims {
		keys[c.Address] = model.Key{Source: c.Source, Kind: c.Kind, ID: c.ID}
	}
	return keys, err
}

// TestPullByCLI pulls a state with each CLI from a local and from an http backend, without a
// provider and with GET requests only.
func TestPullByCLI(t *testing.T) {
	t.Parallel()
	tools, err := Find()
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
		fmt.Fprint(w, pulled)
	}))
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "terraform.tfstate")
	if err := os.WriteFile(file, []byte(pulled), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	want, err := claims(t, func(c *terraform.Config) { c.State = []string{file} })
	if err != nil || len(want) == 0 {
		t.Fatal(want, err)
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
			got, err := claims(t, func(c *terraform.Config) {
				c.Engine, c.Dir, c.Run.Binary, c.Run.ReadPaths = terraform.State, root, cli.Path, []string{file}
				c.Run.Env = map[string]string{"TF_HTTP_PASSWORD": "hunter22"}
			})
			if err != nil {
				t.Errorf("%s, %s: %v", cli.Name, name, err)
				continue
			}
			t.Logf("%s, %s: pulled in %s", cli.Name, name, time.Since(began))
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, %s (-read +pulled):\n%s", cli.Name, name, d)
			}
		}
	}
}
