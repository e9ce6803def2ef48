package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBinarySuitsRoot checks that OpenTofu plans a root with .tofu files, which Terraform ignores, and one whose lock file
// OpenTofu wrote.
func TestBinarySuitsRoot(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const lock = `provider "registry.%s/hashicorp/random" {}`
	for name, tt := range map[string]struct {
		root      map[string]string
		installed []string
		want      string
	}{
		"both":                   {map[string]string{"main.tf": ""}, []string{"terraform", "tofu"}, "terraform"},
		"locked by Terraform":    {map[string]string{"main.tf": "", lockFileName: fmt.Sprintf(lock, "terraform.io")}, []string{"terraform", "tofu"}, "terraform"},
		"locked by OpenTofu":     {map[string]string{"main.tf": "", lockFileName: fmt.Sprintf(lock, "opentofu.org")}, []string{"terraform", "tofu"}, "tofu"},
		"a .tofu file":           {map[string]string{"main.tf": "", "more.tofu": ""}, []string{"terraform", "tofu"}, "tofu"},
		"a .tofu file, no tofu":  {map[string]string{"main.tf": "", "more.tofu": ""}, []string{"terraform"}, "terraform"},
		"a hidden .tofu file":    {map[string]string{"main.tf": "", ".old.tofu": ""}, []string{"terraform", "tofu"}, "terraform"},
		"only .tofu files":       {map[string]string{"main.tofu.json": ""}, []string{"terraform", "tofu"}, "tofu"},
		"the same, without tofu": {map[string]string{"main.tofu": ""}, []string{"terraform"}, "the root has only .tofu files"},
	} {
		root := t.TempDir()
		for _, cli := range tt.installed {
			if err := os.Symlink(executable, filepath.Join(bin, cli)); err != nil {
				t.Fatal(err)
			}
		}
		for file, text := range tt.root {
			if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		path, _, err := Options{Dir: root}.binary()
		if got := filepath.Base(path); got != tt.want && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("%s: got %q, %v; want %s", name, got, err, tt.want)
		}
		for _, cli := range tt.installed {
			if err := os.Remove(filepath.Join(bin, cli)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
