package kube_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// fluxObject returns an object of Flux that is ready. spec, status and owners are in flow style.
func fluxObject(kind, spec, status, owners string) string {
	return fmt.Sprintf(`{apiVersion: %s.toolkit.fluxcd.io/v1, kind: %s, metadata: {name: web, namespace: flux-system, generation: 2, managedFields: [%s]}, spec: {interval: 1h%s}, status: {observedGeneration: 2, %s}}`,
		map[string]string{"Kustomization": "kustomize", "HelmRelease": "helm", "GitRepository": "source"}[kind], kind, owners, spec, status)
}

// TestFluxChecks checks which states of objects of Flux are violations.
func TestFluxChecks(t *testing.T) {
	t.Parallel()
	const ready = `conditions: [{type: Ready, status: "True", reason: Succeeded}]`
	for name, tc := range map[string]struct {
		object string
		want   []string
	}{
		"Ready":     {fluxObject("Kustomization", "", ready, ""), []string{}},
		"New":       {fluxObject("GitRepository", "", "", ""), []string{}},
		"Suspended": {fluxObject("Kustomization", ", suspend: true", ready, `{manager: flux, operation: Update, time: '2026-11-28T10:00:00Z', fieldsV1: {'f:spec': {'f:suspend': {}}}}`), []string{"flux/suspended spec.suspend flux"}},
		"Not ready": {fluxObject("HelmRelease", "", `conditions: [{type: Ready, status: "False", reason: InstallFailed, message: hunter2}]`, ""), []string{"flux/not-ready unknown"}},
		"Lies":      {fluxObject("HelmRelease", "", `conditions: [{type: Ready, status: "False", reason: 'hunter2 x'}]`, ""), []string{"flux/not-ready unknown"}},
		"Working":   {fluxObject("HelmRelease", "", `conditions: [{type: Ready, status: Unknown, reason: Progressing}]`, ""), []string{}},
		"Stalled":   {fluxObject("GitRepository", "", `conditions: [{type: Stalled, status: "True", reason: InvalidPath}]`, ""), []string{"flux/stalled unknown"}},
		"Behind":    {fluxObject("Kustomization", "", ready+`, lastAppliedRevision: 'main@sha1:a', lastAttemptedRevision: 'main@sha1:b'`, ""), []string{"flux/behind unknown"}},
		"Applying":  {fluxObject("Kustomization", "", `conditions: [{type: Reconciling, status: "True", reason: Progressing}, {type: Ready, status: Unknown, reason: Progressing}], lastAppliedRevision: 'main@sha1:a', lastAttemptedRevision: 'main@sha1:b'`, ""), []string{}},
		"Seen and not ready": {strings.Replace(fluxObject("Kustomization", "", `conditions: [{type: Ready, status: "False", reason: BuildFailed, observedGeneration: 2}]`, ""), "status: {observedGeneration: 2", "status: {observedGeneration: -1", 1),
			[]string{"flux/not-ready unknown"}},
		"Not seen": {strings.Replace(fluxObject("Kustomization", "", ready, ""), "observedGeneration: 2", "observedGeneration: 1", 1), []string{"flux/not-observed unknown"}},
		"Not seen and suspended": {strings.Replace(fluxObject("Kustomization", ", suspend: true", ready, ""), "observedGeneration: 2", "observedGeneration: 1", 1),
			[]string{"flux/suspended spec.suspend unknown"}},
		"Drift detection off": {fluxObject("HelmRelease", ", driftDetection: {mode: disabled, ignore: [{paths: [/spec]}]}", ready, ""),
			[]string{"flux/drift-detection-off spec.driftDetection.mode unknown", "flux/drift-ignored spec.driftDetection.ignore unknown"}},
		"Drift detection on": {fluxObject("HelmRelease", ", driftDetection: {mode: enabled}", ready, ""), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := kube.NewResource("prod", object(t, tc.object), model.NewSealer([]byte("key")))
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, v := range r.Violations {
				got = append(got, strings.Join(strings.Fields(v.Check+" "+v.Path+" "+v.Actor.Name), " "))
				if v.Severity == "" || strings.Contains(v.Reason, "hunter2") || v.Path != "" && v.Value == nil {
					t.Errorf("violation %+v", v)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFluxInventory checks which objects a Kustomization of Flux installed.
func TestFluxInventory(t *testing.T) {
	t.Parallel()
	const entries = `inventory: {entries: [{id: web_shop_apps_Deployment, v: v1}, {id: _a__b_rbac.authorization.k8s.io_ClusterRole, v: v1}, {id: web_settings__ConfigMap, v: v1}, {id: nonsense}, {id: a_b_}, {id: ___}, {}]}`
	for spec, want := range map[string][]model.Ref{
		"": {{Kind: "kubernetes/ClusterRole.rbac.authorization.k8s.io", ID: "a:b"}, {Kind: "kubernetes/ConfigMap", ID: "web/settings"}, {Kind: "kubernetes/Deployment.apps", ID: "web/shop"}},
		", kubeConfig: {secretRef: {name: edge}}": nil,
	} {
		r, err := kube.NewResource("prod", object(t, fluxObject("Kustomization", spec, entries, "")), model.NewSealer([]byte("key")))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Installs); diff != "" {
			t.Error(diff)
		}
	}
}
