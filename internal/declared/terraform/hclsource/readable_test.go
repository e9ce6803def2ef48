package hclsource_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/hclsource"
)

// TestFilesThatTerraformDoesNotRead verifies that positions and authors come from files that the program reads.
func TestFilesThatTerraformDoesNotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"root/main.tf":          `resource "lab_server" "main" {}`,
		"root/main.tofu":        `resource "lab_server" "main" { memory = 1 }`,
		"root/more.tofu.json":   `{"resource": {"lab_server": {"more": {}}}}`,
		"root/.hidden.tf":       `resource "lab_server" "hidden" {}`,
		"root/old.tf~":          `resource "lab_server" "old" {}`,
		"root/#auto.tf#":        `resource "lab_server" "auto" {}`,
		"outside/out.tf":        `resource "lab_server" "out" {}`,
		"outside/out.tfvars":    "x = 1\n",
		"root/inside/in.tf":     `resource "lab_server" "in" {}`,
		"root/modules.tf":       "module \"far\" {\n  source = \"./far\"\n}\nmodule \"near\" {\n  source = \"./near\"\n}\nresource \"lab_server\" \"x\" { memory = var.x }\n",
		"root/variables.tf":     "variable \"x\" {}\n",
		"root/terraform.tfvars": "x = 2\n",
	})
	for link, to := range map[string]string{"out.tf": "../outside/out.tf", "far": "../outside", "near": "inside", "x.auto.tfvars": "../outside/out.tfvars"} {
		if err := os.Symlink(to, filepath.Join(dir, "root", link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		reason          string
		terraform, tofu []string
	}{
		"lab_server.main":           {"OpenTofu reads main.tofu instead of main.tf", []string{"main.tf"}, []string{"main.tofu"}},
		"lab_server.more":           {"only OpenTofu reads .tofu", nil, []string{"more.tofu.json"}},
		"lab_server.hidden":         {"hidden files are not read", nil, nil},
		"lab_server.old":            {"nor those of an editor", nil, nil},
		"lab_server.auto":           {"nor those of an editor", nil, nil},
		"lab_server.out":            {"the file is outside", nil, nil},
		"module.far.lab_server.out": {"the folder is outside", nil, nil},
		"module.near.lab_server.in": {"a link inside is followed", []string{"modules.tf", "near/in.tf"}, []string{"modules.tf", "near/in.tf"}},
		"lab_server.x":              {"values are not read from outside", []string{"modules.tf", "terraform.tfvars", "variables.tf"}, []string{"modules.tf", "terraform.tfvars", "variables.tf"}},
	} {
		for tofu, want := range map[bool][]string{false: tc.terraform, true: tc.tofu} {
			got := hclsource.New(filepath.Join(dir, "root"), hclsource.Options{Tofu: tofu}).Files(name)
			if diff := cmp.Diff(want, got, cmp.Transformer("", func(l []string) string { return filepath.Join(l...) })); diff != "" {
				t.Errorf("%s, OpenTofu %v: %s (-want +got):\n%s", name, tofu, tc.reason, diff)
			}
		}
	}
}
