package kubernetes_test

import (
	"strings"
	"testing"
)

// TestManagers checks that an object is not written that a tool of another cluster may apply.
func TestManagers(t *testing.T) {
	t.Parallel()
	const entry = `{"manager":"git",`
	tests := map[string]struct{ reason, entry, want string }{
		"Argo CD":       {"it applies on the server", `{"manager":"argocd-controller","operation":"Apply"},`, "Argo CD may apply it, perhaps from another cluster, since it has the field manager argocd-controller: sync its Application."},
		"Argo CD, old":  {"it applies by updates", `{"manager":"argocd-application-controller","operation":"Update"},`, "Argo CD may apply it"},
		"Flux":          {"it applies from another cluster", `{"manager":"kustomize-controller","operation":"Apply"},`, "Flux may apply it"},
		"Flux's Helm":   {"it applies from another cluster", `{"manager":"helm-controller","operation":"Update"},`, "reconcile its HelmRelease"},
		"Helm":          {"its record may be elsewhere", `{"manager":"helm","operation":"Update"},`, "run helm upgrade"},
		"Fleet":         {"its agent applies it", `{"manager":"fleetagent","operation":"Update"},`, "Fleet may apply it"},
		"work-agent":    {"a hub applies it", `{"manager":"work-agent","operation":"Apply"},`, "change its ManifestWork"},
		"a status":      {"it applies nothing", `{"manager":"helm-controller","operation":"Update","subresource":"status"},`, ""},
		"a longer name": {"it is another one", `{"manager":"helm-controller-2","operation":"Update"},`, ""},
		"the command": {"it removes that entry only", `{"manager":"x","operation":"Update"},{"manager":"helm","operation":"Update"},`,
			`remove the entry: kubectl patch --namespace=shop deployments.apps web --type=json --patch='[{"op":"test","path":"/metadata/managedFields/1/manager","value":"helm"},{"op":"remove","path":"/metadata/managedFields/1"}]'`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.objects[webPath] = strings.Replace(web, entry, tt.entry+entry, 1)
			_, err := f.actuator(t).Plan(t.Context(), webSubject())
			checkRefusal(t, err, "declarer", tt.want)
		})
	}
}

// TestDeclarerIsHelm checks that Helm is asked also if it applies the declaration of the finding.
func TestDeclarerIsHelm(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects[webPath] = strings.Replace(web, `"manager":"git"`, `"manager":"helm"`, 1)
	_, err := f.actuator(t).Plan(t.Context(), webSubject())
	checkRefusal(t, err, "declarer", "Helm may apply it")
}
