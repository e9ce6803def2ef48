package manifests_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// TestFluxUnlisted names Kustomizations that lie in a folder that Flux applies, and that it does not apply.
func TestFluxUnlisted(t *testing.T) {
	t.Parallel()
	const patch = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web, namespace: flux-system}\nspec: {wait: true}\n"
	d := loadFlux(t, map[string]string{
		"clusters/prod/apps.yaml":           applies("apps", "  path: ./apps\n"),
		"apps/kustomization.yaml":           "resources: [web/ks.yaml]\npatches: [{path: wait.yaml}]\n",
		"apps/wait.yaml":                    patch,
		"apps/unused.yaml":                  patch,
		"apps/web/ks.yaml":                  applies("web", "  path: ./apps/web/app\n"),
		"apps/web/app/a.yaml":               configMap("a"),
		"apps/blog/ks.yaml":                 applies("blog", "  path: ./apps/blog/app\n"),
		"apps/blog/twice.yaml":              applies("web", "  path: ./apps/web/app\n"),
		"apps/blog/app/b.yaml":              configMap("b"),
		"apps/kustomize/kustomization.yaml": "resources: []\n",
		"apps/broken.yaml":                  "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: [\n",
		"elsewhere/ks.yaml":                 applies("elsewhere", "  path: ./elsewhere/app\n"),
		"clusters/prod/failing.yaml":        applies("failing", "  path: ./failing\n"),
		"failing/kustomization.yaml":        "resources: [none.yaml]\n",
		"failing/ks.yaml":                   applies("unknown", "  path: ./apps/blog/app\n"),
	}, nil)
	want := []model.Note{{Address: "apps/blog/ks.yaml:1", Text: "Kustomization flux-system/blog of Flux is in no kustomization that Flux applies, so that nothing of it is declared: " +
		"list the file in resources, or remove it"}}
	if diff := cmp.Diff(want, d.Notes); diff != "" {
		t.Error(diff)
	}
}

// TestFluxUnlistedLimit checks that a search that ends early has a note.
func TestFluxUnlistedLimit(t *testing.T) {
	t.Parallel()
	d := loadFlux(t, map[string]string{
		"clusters/prod/kustomization.yaml": "resources: [a.yaml]\n", "clusters/prod/a.yaml": configMap("a"),
		"clusters/prod/b.yaml": configMap("b"), "clusters/prod/c.yaml": configMap("c"), "clusters/prod/d.yaml": applies("d", "  path: ./d\n"),
	}, func(c *manifests.FluxConfig) { c.MaxFiles = 1 })
	want := []model.Note{{Text: "more than 1 files that no kustomization lists: not all were searched for Kustomizations of Flux; raise max_files"}}
	if diff := cmp.Diff(want, d.Notes); diff != "" {
		t.Error(diff)
	}
}
