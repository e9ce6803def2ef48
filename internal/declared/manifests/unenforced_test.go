package manifests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// unenforced returns the fields of a claim that its tool does not put back, one a line: "spec.replicas by x: why".
func unenforced(c model.Claim) string {
	var lines []string
	for _, u := range c.Unenforced {
		var names []string
		for _, p := range u.Path {
			name := p.Name
			if p.Where != nil {
				name = string(p.Where.AppendJSON(nil))
			}
			names = append(names, name)
		}
		by := ""
		if u.Writer != "" {
			by = " by " + u.Writer
		}
		lines = append(lines, strings.Join(names, " ")+by+": "+u.Why)
	}
	return strings.Join(lines, "\n")
}

// TestArgoCDIgnores checks which fields of objects Argo CD ignores.
func TestArgoCDIgnores(t *testing.T) {
	t.Parallel()
	const by = "Argo CD ignores this field (ignoreDifferences of Application argocd/web)"
	const may = "{}: Argo CD may ignore this field: driftd does not evaluate an expression of jq (ignoreDifferences of Application argocd/web)"
	for name, tc := range map[string]struct{ spec, want string }{
		"pointers":    {"[{group: apps, kind: Deployment, jsonPointers: [/spec/replicas, /metadata/annotations/a.b~1c~0d]}]", "spec replicas: " + by + "\nmetadata annotations a.b/c~d: " + by},
		"no pointers": {"[{group: apps, kind: Deployment, jsonPointers: ['', spec]}]", ""},
		"expressions": {"[{group: apps, kind: Deployment, jqPathExpressions: ['.spec.template.spec.containers[] | select(.name == \"web\") | .image', '.spec.x[0][\"a.b\"]?', '.a.\"b c\"']}]",
			"spec template spec containers {\"name\":\"web\"} image: " + by + "\nspec x 0 a.b: " + by + "\na b c: " + by},
		"more than a path":   {"[{group: apps, kind: Deployment, jqPathExpressions: ['.. | .image?', '.spec | select(.a == \"b\")', '.spec.replicas']}]", "spec replicas: " + by + "\n" + may + "\n" + may},
		"managers":           {"[{group: apps, kind: Deployment, managedFieldsManagers: [kube-controller-manager, '']}]", "{} by kube-controller-manager: " + by},
		"patterns":           {"[{group: '*', kind: 'Deploy*', name: 'w*', namespace: shop, jsonPointers: [/spec]}]", "spec: " + by},
		"another name":       {"[{group: apps, kind: Deployment, name: api, jsonPointers: [/spec]}]", ""},
		"another namespace":  {"[{group: apps, kind: Deployment, namespace: api, jsonPointers: [/spec]}]", ""},
		"the group is empty": {"[{kind: Deployment, jsonPointers: [/spec]}]", ""},
		"an invalid pattern": {"[{group: apps, kind: '[', jsonPointers: [/spec]}]", ""},
		"in syncs": {"[{group: apps, kind: Deployment, jsonPointers: [/spec]}]\n  syncPolicy: {syncOptions: [RespectIgnoreDifferences=true]}",
			"spec: Argo CD ignores this field, in syncs too (ignoreDifferences of Application argocd/web)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := loadArgo(t, map[string]string{"apps/web.yaml": app("web", "shop", "path: web") + "  ignoreDifferences: " + tc.spec + "\n", "web/web.yaml": deployment}, nil)
			if diff := cmp.Diff(tc.want, unenforced(claimOf(t, d, "shop/web"))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestArgoCDConfigurationIgnores checks the fields that argocd-cm ignores for all Applications.
func TestArgoCDConfigurationIgnores(t *testing.T) {
	t.Parallel()
	config := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata:\n" +
		"  resource.customizations.ignoreDifferences.apps_Deployment: |\n    jsonPointers: [/spec/replicas]\n" +
		"  resource.customizations.ignoreDifferences.all: |\n    managedFieldsManagers: [hpa]\n" +
		"  resource.customizations.ignoreDifferences.batch_Job: |\n    jsonPointers: [/spec]\n" +
		"  resource.customizations.ignoreDifferences.Service: '{'\n"
	files := map[string]string{"apps/web.yaml": app("web", "shop", "path: web"), "apps/argo.yaml": app("argo", "argocd", "path: argo"), "web/web.yaml": deployment, "argo/cm.yaml": config}
	want := "{} by hpa: Argo CD ignores this field (resource.customizations.ignoreDifferences.all in argocd-cm)\n" +
		"spec replicas: Argo CD ignores this field (resource.customizations.ignoreDifferences.apps_Deployment in argocd-cm)"
	if diff := cmp.Diff(want, unenforced(claimOf(t, loadArgo(t, files, nil), "shop/web"))); diff != "" {
		t.Error(diff)
	}
	elsewhere := func(c *manifests.ArgoCDConfig) { c.Namespace = "gitops" }
	if got := unenforced(claimOf(t, loadArgo(t, files, elsewhere), "shop/web")); got != "" {
		t.Errorf("a ConfigMap in another namespace than that of Argo CD configures %s", got)
	}
}

// TestFluxDoesNotCorrect checks which fields of the objects of a HelmRelease Flux does not correct.
func TestFluxDoesNotCorrect(t *testing.T) {
	t.Parallel()
	url := chartRepository(t)
	const by = "Flux ignores this field (driftDetection.ignore of HelmRelease web/blog)"
	for name, tc := range map[string]struct{ spec, want string }{
		"default":  {"", ": Flux does not correct this: drift detection is off (spec.driftDetection.mode of HelmRelease web/blog)"},
		"warn":     {"  driftDetection: {mode: warn}\n", ": Flux does not correct this: drift detection only warns (spec.driftDetection.mode of HelmRelease web/blog)"},
		"enabled":  {"  driftDetection: {mode: enabled}\n", ""},
		"marked":   {"  driftDetection: {mode: enabled}\n  commonMetadata: {annotations: {helm.toolkit.fluxcd.io/driftDetection: disabled}}\n", ": Flux does not correct this: the object is marked helm.toolkit.fluxcd.io/driftDetection: disabled"},
		"ignored":  {"  driftDetection: {mode: enabled, ignore: [{paths: [/data/replicas], target: {kind: ConfigMap, name: 'blog-.*'}}]}\n", "data replicas: " + by},
		"all":      {"  driftDetection: {mode: enabled, ignore: [{paths: ['']}]}\n", ": Flux ignores this object (driftDetection.ignore of HelmRelease web/blog)"},
		"another":  {"  driftDetection: {mode: enabled, ignore: [{paths: [/data], target: {kind: Config}}, {paths: [/data], target: {name: '('}}, {paths: [/data], target: {namespace: shop}}]}\n", ""},
		"selector": {"  driftDetection: {mode: enabled, ignore: [{paths: [/data], target: {labelSelector: app=web}}]}\n", "data: Flux may ignore this field (driftDetection.ignore of HelmRelease web/blog)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := loadReleases(t, url, map[string]string{"clusters/prod/release.yaml": ofRepository("1.0.0", tc.spec)}, nil)
			if diff := cmp.Diff(tc.want, unenforced(claimOf(t, d, "web/blog-web"))); diff != "" {
				t.Error(diff)
			}
			if got := unenforced(claimOf(t, d, "web/blog")); got != "" {
				t.Errorf("the record of the release is an object that Flux does not correct: %s", got)
			}
		})
	}
}
