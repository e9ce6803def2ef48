package manifests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// anySubmodule is the content of a submodule at some commit.
var anySubmodule = "=> " + strings.Repeat("1", 40)

// TestArgoSubmodules checks that the files of submodules, which Argo CD reads, are not taken for absent.
func TestArgoSubmodules(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		source, want string
		maybe        bool
	}{
		"Below":        {"path: web, directory: {recurse: true}", "web/sub: a git submodule; it is not read: declare it on its own, or exclude it", true},
		"Not recursed": {"path: web", "", false},
		"In it":        {"path: web/sub/deploy", "apps/a.yaml:1: Application argocd/a deploys web/sub/deploy, which is in the git submodule web/sub: driftd does not read submodules; declare the repository of the submodule on its own", true},
		"Itself":       {"path: web/sub", "apps/a.yaml:1: Application argocd/a deploys web/sub, which is in the git submodule web/sub: driftd does not read submodules; declare the repository of the submodule on its own", true},
		"No submodule": {"path: web/none", "apps/a.yaml:1: Application argocd/a deploys web/none, which does not exist in ", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			h.commit(map[string]string{"apps/a.yaml": app("a", "shop", tc.source), "web/a.yaml": configMap("a"), "web/sub": anySubmodule})
			d, err := openArgo(t, h.argoConfig()).Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(problems(d), "\n"); (got == "") != (tc.want == "") || !strings.HasPrefix(got, tc.want) || maybe(d, "shop", "x") != tc.maybe {
				t.Errorf("problems %q, want %q; another object may be declared: %t", got, tc.want, maybe(d, "shop", "x"))
			}
		})
	}
}

// TestFluxOtherRepositories checks that files which Flux copies to its source from other repositories are not taken for absent.
func TestFluxOtherRepositories(t *testing.T) {
	t.Parallel()
	const url = "https://git.example.org/shop.git"
	const submodule = "clusters/prod/a.yaml:1: apps/sub of Kustomization flux-system/web of Flux is from another repository (spec.recurseSubmodules of its source) and is not read: declare that repository on its own"
	included := func(dir string) string {
		return "clusters/prod/a.yaml:1: " + dir + " of Kustomization flux-system/web of Flux is from another repository (spec.include of its source) and is not read: declare that repository on its own"
	}
	for name, tc := range map[string]struct {
		path, spec string
		files      map[string]string
		want       []string
	}{
		"Submodules":            {"apps", "recurseSubmodules: true", nil, []string{submodule}},
		"Only a submodule":      {"apps", "recurseSubmodules: true", map[string]string{"apps/a.yaml": ""}, []string{submodule}},
		"Submodules, left out":  {"apps", "recurseSubmodules: false", nil, nil},
		"A submodule, ignored":  {"apps", "recurseSubmodules: true, ignore: '/apps/sub'", nil, nil},
		"Included":              {"apps", "include: [{repository: {name: other}, toPath: apps/other}]", nil, []string{included("apps/other")}},
		"Included above":        {"apps/web", "include: [{repository: {name: other}, toPath: ./apps}]", map[string]string{"apps/web/a.yaml": configMap("b")}, []string{included("apps")}},
		"Included by its name":  {"apps", "include: [{repository: {name: apps}}]", nil, []string{included("apps")}},
		"Included elsewhere":    {"apps", "include: [{repository: {name: other}}, {repository: {name: x}, toPath: apps2}]", nil, nil},
		"Listed by a build":     {"apps", "recurseSubmodules: true", map[string]string{"apps/kustomization.yaml": "resources: [a.yaml]\n"}, nil},
		"Needed by a build":     {"apps", "recurseSubmodules: true", map[string]string{"apps/kustomization.yaml": "resources: [a.yaml, sub]\n"}, []string{"apps/kustomization.yaml: kustomize cannot build it"}},
		"Included into a build": {"apps", "include: [{repository: {name: other}, toPath: apps/other}]", map[string]string{"apps/kustomization.yaml": "resources: [a.yaml, other]\n"}, []string{"apps/kustomization.yaml: kustomize cannot build it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			h.commit(map[string]string{"clusters/prod/a.yaml": applies("web", "  path: "+tc.path+"\n"), "apps/a.yaml": configMap("a"), "apps/sub": anySubmodule,
				"clusters/prod/z.yaml": strings.Replace(gitRepository(url, "branch: main"), "spec: {", "spec: {"+tc.spec+", ", 1)})
			if tc.files != nil {
				h.commit(tc.files)
			}
			config := manifests.FluxDefaults()
			config.Git, config.Path, config.SameRepository = h.dir, "clusters/prod", []string{url}
			d, err := openFlux(t, config).Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := problems(d)
			for i, want := range tc.want {
				if i < len(got) && strings.HasPrefix(got[i], want) {
					got[i] = want
				}
			}
			if diff := cmp.Diff(strings.Join(tc.want, "\n"), strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
			if maybe(d, "default", "x") != (len(tc.want) > 0) {
				t.Errorf("another object may be declared: %t", maybe(d, "default", "x"))
			}
		})
	}
}
