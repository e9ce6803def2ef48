package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/config"
)

// TestSortPaths finds the roots in a folder with roots, modules, manifests and other files.
func TestSortPaths(t *testing.T) {
	t.Parallel()
	p := &patterns{t, t.TempDir()}
	const root, module = "terraform {\n  backend \"s3\" {}\n}\n", "variable \"name\" {}\n"
	for file, text := range map[string]string{"mono/infra/dns/main.tf": root, "mono/infra/web/main.tf": root, "mono/infra/web/modules/vm/main.tf": module, "mono/lib/vm/main.tf": module,
		"mono/infra/dns/values.yaml": "apiVersion: v1\nkind: Secret\n", "mono/apps/web.yaml": "apiVersion: v1\nkind: ConfigMap\n", "infra/a/main.tf": root, "infra/ci.yaml": "steps: []\n",
		"infra/.terraform/x.yaml": "apiVersion: v1\nkind: ConfigMap\n", "apps/web.yaml": "apiVersion: v1\nkind: ConfigMap\n",
		"odd/a*/main.tf": root, "odd/b/main.tf": root, "kus/a/main.tf": root, "kus/base/kustomization.yaml": "namePrefix: x-\n", "we[i]rd/web.yaml": "apiVersion: v1\nkind: ConfigMap\n", "odd/app/web.yaml": "apiVersion: v1\nkind: ConfigMap\n"} {
		p.write(file, text)
	}
	names := func(all []config.Declaration) string {
		var names []string
		for _, d := range all {
			var settings struct {
				Dir     string   `mapstructure:"dir"`
				Exclude []string `mapstructure:"exclude"`
			}
			if err := d.Only("dir", "exclude").Decode(&settings); err != nil {
				t.Fatal(err)
			}
			below, err := filepath.Rel(p.dir, settings.Dir)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, strings.Join(append([]string{d.Name, below}, settings.Exclude...), " "))
		}
		return strings.Join(names, "; ")
	}
	if err := os.Symlink("nowhere", filepath.Join(p.dir, "mono/apps/.#main.tf")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][3]string{
		"kus":                {"kus/a kus/a", "kus kus /a", "1 Terraform root and manifests in kus: a"},
		"we[i]rd":            {"", "we-i-rd we[i]rd", ""},
		"odd":                {"odd/a* odd/a*; odd/b odd/b", "odd odd /b", "2 Terraform roots and manifests in odd: a*, b"},
		"mono":               {"mono/infra/dns mono/infra/dns; mono/infra/web mono/infra/web", "mono mono /infra/dns /infra/web", "2 Terraform roots and manifests in mono: infra/dns, infra/web"},
		"infra":              {"infra/a infra/a", "", "1 Terraform root in infra: a"},
		"apps":               {"", "apps apps", ""},
		"apps/web.yaml":      {"", "web.yaml apps/web.yaml", ""},
		"mono/infra/dns":     {"dns mono/infra/dns", "", ""},
		"mono/infra/web/../": {"infra/dns mono/infra/dns; infra/web mono/infra/web", "", "2 Terraform roots in infra: dns, web"},
	} {
		sorted, err := sortPaths([]string{filepath.Join(p.dir, path)})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range append(sorted.roots, sorted.manifests...) {
			if key, pattern := d.Pattern(); key != "" {
				t.Errorf("%s: the folder of %s is the pattern %s", path, d.Name, pattern)
			}
		}
		found := strings.ReplaceAll(strings.Join(sorted.found, "; "), " in "+p.dir+"/mono/infra:", " in infra:")
		if got := [3]string{names(sorted.roots), names(sorted.manifests), strings.ReplaceAll(found, p.dir+"/", "")}; got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}

	// A folder that cannot be read may have roots.
	if os.Getuid() != 0 {
		if err := os.Chmod(filepath.Join(p.dir, "mono/infra"), 0); err != nil {
			t.Fatal(err)
		}
		if _, err := sortPaths([]string{filepath.Join(p.dir, "mono")}); err == nil {
			t.Error("a folder that cannot be read has no roots")
		}
	}
}
