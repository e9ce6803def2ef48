package manifests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// TestFluxBranches checks that a source of Flux means the commit that driftd reads, by any name that the commit has.
func TestFluxBranches(t *testing.T) {
	t.Parallel()
	const url = "https://git.example.org/shop.git"
	for name, tc := range map[string]struct {
		source, ref string
		want        string
	}{
		"Default branch":   {"branch: main", "", ""},
		"Another branch":   {"branch: next", "", "reads the branch next, and driftd reads the default branch, which is another commit"},
		"Branch and ref":   {"branch: next", "main", "reads the branch next, and driftd reads main, which is another commit"},
		"Same commit":      {"branch: same", "", ""},
		"A commit":         {"branch: main", "HEAD", ""},
		"Tag":              {"tag: v2", "", ""},
		"Annotated tag":    {"tag: v2-signed", "", ""},
		"Earlier tag":      {"tag: v1", "", "reads the tag v1"},
		"Tag over branch":  {"branch: main, tag: v1", "", "reads the tag v1"},
		"Name of a branch": {"name: refs/heads/main", "", ""},
		"No branch":        {"branch: none", "", "reads the branch none"},
		"Flux' default":    {"", "", "reads the branch master"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHistory(t)
			files := map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n"), "clusters/prod/z.yaml": gitRepository(url, tc.source), "apps/a.yaml": configMap("a") + "  c: one\n"}
			h.commit(files)
			h.git("", "tag", "v1")
			h.commit(map[string]string{"apps/a.yaml": configMap("a") + "  c: two\n"})
			h.git("", "tag", "v2")
			h.git("", "-c", "user.name=a", "-c", "user.email=a@example.org", "tag", "-a", "-m", "x", "v2-signed")
			h.git("", "branch", "same")
			h.on("next", files, 1)
			config := manifests.FluxDefaults()
			config.Git, config.Ref, config.Path, config.SameRepository = h.dir, tc.ref, "clusters/prod", []string{url}
			if name == "A commit" {
				config.Ref = h.commits[1]
			}
			loader := openFlux(t, config)
			d, err := loader.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if found := strings.Join(problems(d), "\n"); (found == "") != (tc.want == "") || !strings.Contains(found, tc.want) {
				t.Errorf("problems %q, want %q", found, tc.want)
			}
			if tc.want != "" || strings.Contains(tc.source, "tag") || config.Ref != "" {
				return
			}
			// The branch named the old commit, too, when that was its head.
			versions, gap := h.past(loader, "default/a", "data", "c")
			if diff := cmp.Diff([]string{"two 2--", "one 1-2"}, versions); diff != "" || gap != "" {
				t.Errorf("%s gap %q", diff, gap)
			}
		})
	}
}

// TestFluxBranchThatIsLeft checks that a branch that named an earlier reading is not taken for the commits of the next one.
func TestFluxBranchThatIsLeft(t *testing.T) {
	t.Parallel()
	const url = "https://git.example.org/shop.git"
	h := newHistory(t)
	h.commit(map[string]string{"clusters/prod/a.yaml": applies("web", "  path: apps\n"), "clusters/prod/z.yaml": gitRepository(url, "branch: same"), "apps/a.yaml": configMap("a") + "  c: one\n"})
	h.git("", "branch", "same")
	config := manifests.FluxDefaults()
	config.Git, config.Path, config.SameRepository = h.dir, "clusters/prod", []string{url}
	loader := openFlux(t, config)
	load := func() {
		t.Helper()
		d, err := loader.Load(t.Context())
		if err != nil || len(problems(d)) > 0 {
			t.Fatal(err, problems(d))
		}
	}
	load()
	h.commit(map[string]string{"clusters/prod/z.yaml": gitRepository(url, "branch: main"), "apps/a.yaml": configMap("a") + "  c: two\n"})
	load()
	versions, gap := h.past(loader, "default/a", "data", "c")
	if diff := cmp.Diff([]string{"two 2--"}, versions); diff != "" {
		t.Errorf("%s gap %q", diff, gap)
	}
}

// TestFluxInstalledBy checks that a claim names the Kustomization whose inventory lists its object.
func TestFluxInstalledBy(t *testing.T) {
	t.Parallel()
	d := loadFlux(t, map[string]string{"clusters/prod/web.yaml": applies("web", "  path: apps\n"), "apps/a.yaml": configMap("a"), "clusters/prod/b.yaml": configMap("b")}, nil)
	const kind = "kubernetes/Kustomization.kustomize.toolkit.fluxcd.io"
	for id, want := range map[string]model.Ref{"default/a": {Kind: kind, ID: "flux-system/web"}, "default/b": {}, "flux-system/web": {}} {
		if got := claimOf(t, d, id).InstalledBy; got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}
