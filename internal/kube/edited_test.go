package kube_test

import (
	"fmt"
	"testing"
)

// TestEditedByHand edits fields that the API server or a controller fills in otherwise.
func TestEditedByHand(t *testing.T) {
	t.Parallel()
	const (
		limits   = `{apiVersion: v1, kind: LimitRange, metadata: {name: x, namespace: ns}, spec: {limits: [{type: Container, %s}]}}`
		scaler   = `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: x, namespace: ns}, spec: {maxReplicas: 2, behavior: {scaleUp: {selectPolicy: Max%s}, scaleDown: {selectPolicy: Max%s}}}}`
		volume   = `{apiVersion: v1, kind: PersistentVolume, metadata: {name: x}, spec: {hostPath: {path: /a, type: ""}%s}}`
		service  = `{apiVersion: v1, kind: Service, metadata: {name: x, namespace: ns%s}, spec: {selector: {a: b}}}`
		pod      = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {template: {spec: {serviceAccountName: a%s}}}}`
		replicas = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x, namespace: ns}, spec: {volumeClaimTemplates: [{metadata: {name: d}, spec: {accessModes: [ReadWriteOnce]%s}}]}}`

		list     = `{"f:spec":{"f:limits":{}}}`
		policies = `{"f:spec":{"f:behavior":{"f:scaleUp":{"f:policies":{}},"f:scaleDown":{"f:policies":{}}}}}`
		claim    = `{"f:spec":{"f:claimRef":{"f:name":{},"f:namespace":{}}}}`
		lb       = `{"f:metadata":{"f:annotations":{"f:networking.gke.io/load-balancer-type":{}}}}`
		account  = `{"f:spec":{"f:template":{"f:spec":{"f:serviceAccount":{}}}}}`

		external = ", annotations: {networking.gke.io/load-balancer-type: External}"
	)
	for name, tc := range map[string]struct {
		declared, live, fields, manager, want string
	}{
		"limits by default": {fmt.Sprintf(limits, "default: {cpu: 500m}, max: {cpu: 1, memory: 1Gi}, min: {ephemeral-storage: 1Mi}"),
			fmt.Sprintf(limits, "default: {cpu: 500m, memory: 1Gi}, defaultRequest: {cpu: 500m, memory: 1Gi, ephemeral-storage: 1Mi}, max: {cpu: 1, memory: 1Gi}, min: {ephemeral-storage: 1Mi}"),
			list, "kubectl-patch", ""},
		"a limit more": {fmt.Sprintf(limits, "default: {cpu: 500m}"), fmt.Sprintf(limits, "default: {cpu: 500m, memory: 8Mi}, defaultRequest: {cpu: 500m, memory: 8Mi}"), list, "kubectl-patch",
			"changed spec.limits[0].default.memory, changed spec.limits[0].defaultRequest.memory"},
		"another request": {fmt.Sprintf(limits, "default: {cpu: 500m}"), fmt.Sprintf(limits, "default: {cpu: 500m}, defaultRequest: {cpu: 10m}"), list, "kubectl-patch",
			"changed spec.limits[0].defaultRequest.cpu"},
		"policies by default": {fmt.Sprintf(scaler, "", ""), fmt.Sprintf(scaler, ", policies: [{type: Pods, value: 4, periodSeconds: 15}, {type: Percent, value: 100, periodSeconds: 15}]",
			", policies: [{type: Percent, value: 100, periodSeconds: 15}]"), policies, "kubectl-patch", ""},
		"other policies":  {fmt.Sprintf(scaler, "", ""), fmt.Sprintf(scaler, ", policies: [{type: Pods, value: 1, periodSeconds: 1800}]", ""), policies, "kubectl-patch", "undeclared spec.behavior.scaleUp.policies"},
		"another claim":   {fmt.Sprintf(volume, ""), fmt.Sprintf(volume, ", claimRef: {name: evil, namespace: ns, uid: u}"), claim, "kubectl-patch", "undeclared spec.claimRef"},
		"a bound claim":   {fmt.Sprintf(volume, ""), fmt.Sprintf(volume, ", claimRef: {name: a, namespace: ns, uid: u}"), claim, "kube-controller-manager", ""},
		"the old account": {fmt.Sprintf(pod, ""), fmt.Sprintf(pod, ", serviceAccount: a"), account, "kubectl-set", ""},
		"an exposed service": {fmt.Sprintf(service, ""), fmt.Sprintf(service, external), lb, "kubectl-client-side-apply",
			"undeclared metadata.annotations[\"networking.gke.io/load-balancer-type\"]"},
		"an exposed service, by its controller": {fmt.Sprintf(service, ""), fmt.Sprintf(service, external), lb, "glbc",
			"undeclared metadata.annotations[\"networking.gke.io/load-balancer-type\"]"},
		"another class of volumes": {fmt.Sprintf(replicas, ""), fmt.Sprintf(replicas, ", storageClassName: slow"), `{"f:spec":{"f:volumeClaimTemplates":{}}}`, "kubectl-edit",
			"changed spec.volumeClaimTemplates[0].spec.storageClassName"},
		"another source of volumes": {fmt.Sprintf(replicas, ""), fmt.Sprintf(replicas, ", volumeName: pv, dataSourceRef: {kind: VolumeSnapshot, name: s}"), `{"f:spec":{"f:volumeClaimTemplates":{}}}`,
			"kubectl-edit", "changed spec.volumeClaimTemplates[0].spec.dataSourceRef, changed spec.volumeClaimTemplates[0].spec.volumeName"},
		"a note of its controller": {fmt.Sprintf(service, ""), fmt.Sprintf(service, `, annotations: {cloud.google.com/neg-status: "{}"}`), `{"f:metadata":{"f:annotations":{"f:cloud.google.com/neg-status":{}}}}`, "glbc", ""},
		"stopped through the status, with no record": {fmt.Sprintf(service, ""), fmt.Sprintf(service, ", annotations: {kustomize.toolkit.fluxcd.io/reconcile: disabled}"), `{"f:spec":{}}`, "kubectl-patch",
			"undeclared metadata.annotations[\"kustomize.toolkit.fluxcd.io/reconcile\"]"},
	} {
		w := written{declared: tc.declared, live: tc.live, fields: tc.fields, manager: tc.manager}
		if tc.manager == "kubectl-client-side-apply" {
			w.declarer = tc.manager
		}
		if got := found(w.judge(t)); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
