package manifests_test

import (
	"cmp"
	"maps"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

const (
	fluxWeb = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web, namespace: flux-system}\nspec: {path: ./apps/web, SPEC}\n"
	argoWeb = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\nspec: {destination: {namespace: live}, SPEC}\n"
)

// TestDelivered proves that exactly the objects that Flux or Argo CD changes are unchecked.
func TestDelivered(t *testing.T) {
	t.Parallel()
	const why = ", which driftd does not render"
	for reason, tc := range map[string]struct {
		by, spec string
		more     map[string]string
		// want is the claim on apps/web/a.yaml, other the one on apps/other/b.yaml.
		want, other string
	}{
		"without changes":    {by: fluxWeb, spec: "prune: true", want: "default/a"},
		"a target namespace": {by: fluxWeb, spec: "targetNamespace: live", want: "live/a: applied by Flux Kustomization flux-system/web, with a target namespace" + why},
		"a prefix":           {by: fluxWeb, spec: "namePrefix: x-", want: "default/x-a: applied by Flux Kustomization flux-system/web, with a name prefix" + why},
		"several":            {by: fluxWeb, spec: "postBuild: {substitute: {a: b}}, patches: [{patch: x}], patchesStrategicMerge: [{}], images: [{name: a}]", want: "default/a: applied by Flux Kustomization flux-system/web, with substitutions, patches and other images" + why},
		"another folder":     {by: strings.Replace(fluxWeb, "apps/web", "apps/we", 1), spec: "targetNamespace: live", want: "default/a"},
		"the whole repository": {by: strings.Replace(fluxWeb, "./apps/web", "./", 1), spec: "targetNamespace: live", want: "live/a: applied by Flux Kustomization flux-system/web, with a target namespace" + why,
			other: "live/b: applied by Flux Kustomization flux-system/web, with a target namespace" + why},
		"the innermost folder takes precedence": {by: fluxWeb, spec: "prune: true", more: map[string]string{
			"clusters/all.yaml": strings.NewReplacer("./apps/web", "apps", "name: web", "name: all", "SPEC", "targetNamespace: live").Replace(fluxWeb)},
			want: "default/a", other: "live/b: applied by Flux Kustomization flux-system/all, with a target namespace" + why},
		"an Application":                      {by: argoWeb, spec: "source: {path: apps/web}", want: "live/a: applied by Argo CD Application argocd/web, with its own rendering" + why},
		"an Application with a chart":         {by: argoWeb, spec: "source: {chart: web}", want: "default/a"},
		"an Application with several sources": {by: argoWeb, spec: "sources: [{chart: web}, {path: /apps/web/}]", want: "live/a: applied by Argo CD Application argocd/web, with its own rendering" + why},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"clusters/web.yaml": strings.Replace(tc.by, "SPEC", tc.spec, 1), "apps/web/a.yaml": configMap("a"), "apps/other/b.yaml": configMap("b")}
			maps.Copy(files, tc.more)
			d := loadDir(t, deploy(t, files))
			got := map[string]string{}
			for _, c := range d.Claims {
				if c.Kind == "kubernetes/ConfigMap" {
					got[c.Address] = strings.TrimSuffix(c.ID+": "+c.Unchecked, ": ")
				}
			}
			want := map[string]string{"deploy/apps/web/a.yaml:1": tc.want, "deploy/apps/other/b.yaml:1": cmp.Or(tc.other, "default/b")}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
