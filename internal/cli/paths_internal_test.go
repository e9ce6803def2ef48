package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/setup"
)

// TestSortPaths finds the roots in a folder with roots, modules, manifests and other files.
func TestSortPaths(t *testing.T) {
	t.Parallel()
	p := &patterns{t, t.TempDir()}
	const root, module = "terraform {\n  backend \"s3\" {}\n}\n", "variable \"name\" {}\n"
	for file, text := range map[string]string{"mono/infra/dns/main.tf": root, "mono/infra/web/main.tf": root, "mono/infra/web/modules/vm/main.tf": module, "mono/lib/vm/main.tf": module,
		"mono/infra/dns/values.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n", "mono/apps/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "infra/a/main.tf": root, "infra/ci.yaml": "steps: []\n",
		"infra/.terraform/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "apps/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"odd/a*/main.tf": root, "odd/b/main.tf": root, "kus/a/main.tf": root, "kus/base/kustomization.yaml": "namePrefix: x-\n", "we[i]rd/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "odd/app/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"chart/Chart.yaml": "name: chart\n", "chart/infra/main.tf": root, "chart/templates/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "chart/charts/a/Chart.yaml": "name: a\n",
		"bom/root/main.tf": root, "bom/k8s/web.yaml": "\ufeffapiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "link/root/main.tf": root, "link/mod/main.tf": module,
		"link/.base/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "link/k8s/readme.md": "see web.yaml", "closed/root/main.tf": root, "closed/k8s/web.yaml": "apiVersion: v1\n",
		"closed/other/main.tf": module,
		"npm/root/main.tf":     root, "npm/web/node_modules/a/main.tf": root, "npm/web/node_modules/a/node_modules/b/x.js": "", "only/node_modules/a/main.tf": root,
		"all/root/main.tf": root, "all/chart/Chart.yaml": "name: chart\n", "all/chart/templates/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"all/flux/apps.yaml": `{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {}}`, "all/argo/web.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n",
		"fleet/clusters/prod/flux-system/sync.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system}\nspec: {path: ./clusters/prod}\n",
		"fleet/clusters/prod/apps.yaml":             "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec: {path: apps}\n", "fleet/apps/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"fleet/extra/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"all/argo/run.yaml":    "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\n"} {
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
	if err := os.Symlink("../.base/web.yaml", filepath.Join(p.dir, "link/k8s/web.yaml")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][3]string{
		"chart": {"chart/infra chart/infra", "chart chart /infra", "in chart: 1 Terraform root (infra), 1 Helm chart (.)"},
		"bom":   {"bom/root bom/root", "bom bom /root", "in bom: 1 Terraform root (root), 1 manifest folder (k8s)"},
		"link":  {"link/root link/root", "link link /root", "in link: 1 Terraform root (root), 1 Terraform module (mod), 1 manifest folder (k8s)"},
		"all": {"all/root all/root", "all all /root", "in all: 1 Terraform root (root), 1 Helm chart (chart), 1 Flux file (flux/apps.yaml), 1 Argo CD file (argo/web.yaml), " +
			"2 manifest folders (argo, flux); in all: Flux or Argo CD apply several folders, which are compared as manifests only: scan that of this cluster, one of all/argo, all"},
		"fleet": {"", "fleet/clusters/prod fleet/clusters/prod; fleet fleet /apps /clusters/prod",
			"in fleet: 2 Flux files (clusters/prod/apps.yaml, clusters/prod/flux-system/sync.yaml), 4 manifest folders (apps, clusters/prod, clusters/prod/flux-system, extra)"},
		"npm":     {"npm/root npm/root", "", "in npm: 1 Terraform root (root), 1 skipped folder (web/node_modules)"},
		"only":    {"", "only only", "in only: 1 skipped folder (node_modules)"},
		"kus":     {"kus/a kus/a", "kus kus /a", "in kus: 1 Terraform root (a), 1 kustomization (base)"},
		"we[i]rd": {"", "we-i-rd we[i]rd", ""},
		"odd":     {"odd/a* odd/a*; odd/b odd/b", "odd odd /b", "in odd: 2 Terraform roots (a*, b), 1 manifest folder (app)"},
		"mono": {"mono/infra/dns mono/infra/dns; mono/infra/web mono/infra/web", "mono mono /infra/dns /infra/web", "in mono: 2 Terraform roots (infra/dns, infra/web), 2 Terraform modules (infra/web/modules/vm, lib/vm), " +
			"1 manifest folder (apps)"},
		"infra":              {"infra/a infra/a", "", "in infra: 1 Terraform root (a)"},
		"apps":               {"", "apps apps", ""},
		"apps/web.yaml":      {"", "web.yaml apps/web.yaml", ""},
		"mono/infra/dns":     {"dns mono/infra/dns", "", ""},
		"mono/infra/web/../": {"infra/dns mono/infra/dns; infra/web mono/infra/web", "", "in mono/infra: 2 Terraform roots (dns, web), 1 Terraform module (web/modules/vm)"},
	} {
		sorted, err := sortPaths(t.Context(), []string{filepath.Join(p.dir, path)})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range append(sorted.roots, sorted.manifests...) {
			if key, pattern := d.Pattern(); key != "" {
				t.Errorf("%s: the folder of %s is the pattern %s", path, d.Name, pattern)
			}
		}
		found := strings.ReplaceAll(strings.Join(sorted.found, "; "), p.dir+"/", "")
		if got := [3]string{names(sorted.roots), names(sorted.manifests), found}; got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}

	// A folder that cannot be read may have roots, and manifests: their declaration reports it.
	if os.Getuid() != 0 {
		// So may a file: the manifests are read, and the folder is planned.
		for _, file := range []string{"closed/k8s/web.yaml", "closed/other/main.tf"} {
			if err := os.Chmod(filepath.Join(p.dir, file), 0); err != nil {
				t.Fatal(err)
			}
		}
		closed, err := sortPaths(t.Context(), []string{filepath.Join(p.dir, "closed")})
		if err != nil || names(closed.manifests) != "closed closed /other /root" || names(closed.roots) != "closed/other closed/other; closed/root closed/root" {
			t.Errorf("the manifests are %q and the roots %q, %v", names(closed.manifests), names(closed.roots), err)
		}
		if err := os.Chmod(filepath.Join(p.dir, "mono/infra"), 0); err != nil {
			t.Fatal(err)
		}
		sorted, err := sortPaths(t.Context(), []string{filepath.Join(p.dir, "mono")})
		if err := os.Chmod(filepath.Join(p.dir, "mono/infra"), 0o700); err != nil {
			t.Error(err)
		}
		if err != nil || names(sorted.manifests) != "mono mono" {
			t.Errorf("the manifests are %q, %v", names(sorted.manifests), err)
		}
	}
}

// TestSortPathsOfModules returns an error for a folder that has nothing but modules: a scan of it
// would compare nothing.
func TestSortPathsOfModules(t *testing.T) {
	t.Parallel()
	p := &patterns{t, t.TempDir()}
	p.write("work/infra/main.tf", "resource \"terraform_data\" \"a\" {}\n")
	path := filepath.Join(p.dir, "work")
	want := "no Terraform root and no manifest below " + path + ": infra has files of Terraform without a lock file, backend or provider, so it is taken for a module. " +
		"To plan it, name it: driftd scan " + path + "/infra"
	if _, err := sortPaths(t.Context(), []string{path}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	p.write("work/web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
	if sorted, err := sortPaths(t.Context(), []string{path}); err != nil || len(sorted.manifests) != 1 {
		t.Errorf("with a manifest: %v, %v", sorted, err)
	}
}

// TestAppliedByFull verifies that nothing is left to Flux in a tree that is not listed whole: the folders that are not listed
// would be in no declaration.
func TestAppliedByFull(t *testing.T) {
	t.Parallel()
	tree := setup.Tree{Dir: t.TempDir(), Flux: []string{"a.yaml"}, Full: true, Appliers: []manifests.Applier{{Type: manifests.FluxType, File: "a.yaml", Folder: "."}}}
	if a, others := appliedBy(&tree, "fleet", "fleet"); len(a.declarations)+len(a.Folders) > 0 || !strings.Contains(others, "compared as manifests only") {
		t.Errorf("%+v %q", a, others)
	}
}
