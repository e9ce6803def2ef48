package manifests_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
)

func TestReadOverlay(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"kustomization.yaml":               "resources: [app/prod]\n",
		"app/base/kustomization.yml":       "resources: [web.yaml]\n",
		"app/base/web.yaml":                "x: 1\n",
		"app/prod/Kustomization":           "Resources: [../base, ../../, ../gone, https://git.example.org/x, web.yaml]\ncomponents: [../part]\nnamespace: shop\nnamePrefix: a-\nnameSuffix: -b\n",
		"app/prod/web.yaml":                "x: 1\n",
		"app/part/kustomization.yaml":      "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n",
		"app/broken/kustomization.yaml":    "resources: [\n",
		"app/outside/kustomization.yaml":   "resources: [../../../etc, /etc]\n",
		"app/number/kustomization.yaml":    "resources: 3\nnamespace: [a]\n",
		"app/nothing/kustomization/x.yaml": "",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for dir, want := range map[string]manifests.Overlay{
		".":           {Bases: []string{"app/prod"}},
		"app/base":    {},
		"app/prod":    {Bases: []string{"app/base", ".", "app/part"}, Naming: [3]string{"shop", "a-", "-b"}},
		"app/part":    {IsComponent: true},
		"app/broken":  {},
		"app/outside": {},
		"app/number":  {},
		"app/nothing": {},
		"gone":        {},
	} {
		want.Dir = dir
		if diff := cmp.Diff(want, manifests.ReadOverlay(files, dir)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", dir, diff)
		}
	}
}
