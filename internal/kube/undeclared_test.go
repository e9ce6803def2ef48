package kube_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// TestDangerousZero writes zeros that are no defaults, also as the applier of the
// declaration, and without an entry in managedFields.
func TestDangerousZero(t *testing.T) {
	t.Parallel()
	for _, zero := range []string{"runAsUser: 0", "runAsNonRoot: false", "readOnlyRootFilesystem: false"} {
		name, _, _ := strings.Cut(zero, ":")
		for _, w := range []written{
			{manager: "kubectl-edit"},
			{manager: "kubectl", operation: "Apply"},
			{manager: "kubectl-client-side-apply", declarer: "kubectl-client-side-apply"},
			{manager: "helm", declarer: "helm", accounts: []string{"alice"}},
			{manager: "kube-controller-manager", accounts: []string{"system:kube-controller-manager"}},
			{},
		} {
			w.declared, w.live = fmt.Sprintf(web, "", "", ""), fmt.Sprintf(web, "", ", securityContext: {"+zero+"}", "")
			w.fields = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:securityContext":{"f:` + name + `":{}}}}}}}}`
			if got := found(w.judge(t)); !strings.HasSuffix(got, " spec.template.spec.containers[name=web].securityContext."+name) {
				t.Errorf("%s by %q: %q", zero, w.manager, got)
			}
		}
	}
}

// TestDefaultZero has zeros that the API server sets: with an update, its writer owns them;
// with an apply they have no owner.
func TestDefaultZero(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct{ declared, live, fields string }{
		"the window of a scale-up": {
			`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: x, namespace: ns}, spec: {maxReplicas: 2, behavior: {scaleDown: {selectPolicy: Min}}}}`,
			`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: x, namespace: ns}, spec: {maxReplicas: 2, behavior: {scaleDown: {selectPolicy: Min}, scaleUp: {selectPolicy: Max, stabilizationWindowSeconds: 0}}}}`,
			`{"f:spec":{"f:behavior":{"f:scaleUp":{"f:selectPolicy":{},"f:stabilizationWindowSeconds":{}}}}}`},
		"the partition of a StatefulSet": {
			`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x, namespace: ns}, spec: {}}`,
			`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: x, namespace: ns}, spec: {serviceName: "", updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}}}`,
			`{"f:spec":{"f:serviceName":{},"f:updateStrategy":{"f:type":{},"f:rollingUpdate":{".":{},"f:partition":{}}}}}`},
		"a CronJob is not suspended": {
			`{apiVersion: batch/v1, kind: CronJob, metadata: {name: x, namespace: ns}, spec: {schedule: "0 0 * * *"}}`,
			`{apiVersion: batch/v1, kind: CronJob, metadata: {name: x, namespace: ns}, spec: {schedule: "0 0 * * *", suspend: false}}`,
			`{"f:spec":{"f:suspend":{}}}`},
		"the type of a host path": {
			`{apiVersion: v1, kind: PersistentVolume, metadata: {name: x}, spec: {hostPath: {path: /a}}}`,
			`{apiVersion: v1, kind: PersistentVolume, metadata: {name: x}, spec: {hostPath: {path: /a, type: ""}}}`,
			`{"f:spec":{"f:hostPath":{"f:type":{}}}}`},
		"a CSI driver": {
			`{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: x}, spec: {}}`,
			`{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: x}, spec: {podInfoOnMount: false, preventPodSchedulingIfMissing: false}}`,
			`{"f:spec":{"f:podInfoOnMount":{},"f:preventPodSchedulingIfMissing":{}}}`},
		"the value of a priority": {
			`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}}`,
			`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}, value: 0}`,
			`{"f:value":{}}`},
	} {
		for _, w := range []written{{manager: "kubectl-client-side-apply", declarer: "kubectl-client-side-apply"}, {}} {
			w.declared, w.live, w.fields = tc.declared, tc.live, tc.fields
			if j := w.judge(t); found(j) != "" || len(j.Exempt) > 0 {
				t.Errorf("%s by %q: %q, exempt %v", reason, w.manager, found(j), j.Exempt)
			}
		}
	}
}

// TestDerived has fields that the API server derives from others. Neither a name nor
// a time proves that it did so.
func TestDerived(t *testing.T) {
	t.Parallel()
	const (
		policy = `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: x, namespace: ns}, spec: {podSelector: {}%s}}`
		port   = `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:targetPort":{}}}}}`
		types  = `{"f:spec":{"f:policyTypes":{}}}`
		bundle = `{"f:webhooks":{"k:{\"name\":\"a.b.c\"}":{"f:clientConfig":{"f:caBundle":{}}}}}`
		egress = ", egress: [{}]"
		volume = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x, namespace: ns}, spec: {dataSourceRef: {kind: Restore, name: a, apiGroup: x.org%s}%s}}`
		copied = ", dataSource: {kind: Restore, name: a, apiGroup: x.org}"
		source = `{"f:spec":{"f:dataSource":{}}}`

		elsewhere = "undeclared spec.dataSource.apiGroup, undeclared spec.dataSource.kind, undeclared spec.dataSource.name"
	)
	for name, tc := range map[string]struct{ declared, live, fields, want string }{
		"a port":             {fmt.Sprintf(front, "", ""), fmt.Sprintf(front, ", targetPort: 80", ""), port, ""},
		"another port":       {fmt.Sprintf(front, "", ""), fmt.Sprintf(front, ", targetPort: 9999", ""), port, "undeclared spec.ports[port=80,protocol=TCP].targetPort"},
		"a named port":       {fmt.Sprintf(front, "", ""), fmt.Sprintf(front, ", targetPort: web", ""), port, "undeclared spec.ports[port=80,protocol=TCP].targetPort"},
		"ingress":            {fmt.Sprintf(policy, ""), fmt.Sprintf(policy, ", policyTypes: [Ingress]"), types, ""},
		"only egress":        {fmt.Sprintf(policy, ""), fmt.Sprintf(policy, ", policyTypes: [Egress]"), types, "undeclared spec.policyTypes"},
		"both":               {fmt.Sprintf(policy, egress), fmt.Sprintf(policy, egress+", policyTypes: [Ingress, Egress]"), types, ""},
		"not egress":         {fmt.Sprintf(policy, egress), fmt.Sprintf(policy, egress+", policyTypes: [Ingress]"), types, "undeclared spec.policyTypes"},
		"the same source":    {fmt.Sprintf(volume, "", ""), fmt.Sprintf(volume, "", copied), source, ""},
		"another source":     {fmt.Sprintf(volume, "", ""), fmt.Sprintf(volume, "", strings.Replace(copied, "name: a", "name: b", 1)), source, elsewhere},
		"a source elsewhere": {fmt.Sprintf(volume, ", namespace: other", ""), fmt.Sprintf(volume, ", namespace: other", copied), source, elsewhere},
		"somebody's bundle":  {fmt.Sprintf(hook, ""), fmt.Sprintf(hook, ", caBundle: QQ=="), bundle, "undeclared webhooks[name=a.b.c].clientConfig.caBundle"},
	} {
		for _, w := range []written{
			{manager: "before-first-apply", accounts: []string{"alice"}},
			{manager: "ancient-changes", accounts: []string{"alice"}},
			{manager: "manager", accounts: []string{"alice"}, time: morning},
			{manager: "kubectl-client-side-apply", declarer: "kubectl-client-side-apply", accounts: []string{"alice"}},
			{manager: "kubectl-edit"},
			{},
		} {
			w.declared, w.live, w.fields = tc.declared, tc.live, tc.fields
			if j := w.judge(t); found(j) != tc.want || len(j.Exempt) > 0 {
				t.Errorf("%s by %q: %q, exempt %v", name, w.manager, found(j), j.Exempt)
			}
		}
	}
}

// TestMarkOwnersRemoved distinguishes objects whose record was removed from those of a dump
// without records.
func TestMarkOwnersRemoved(t *testing.T) {
	t.Parallel()
	const object, entry = `{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: ns%s}}`, `, managedFields: [{manager: x, operation: Apply, fieldsV1: {"f:data": {}}}]`
	all := []model.Resource{resource(t, fmt.Sprintf(object, "a", entry)), resource(t, fmt.Sprintf(object, "b", ""))}
	kube.MarkOwnersRemoved(all)
	if all[0].OwnersRemoved || !all[1].OwnersRemoved {
		t.Errorf("with a record %t, without %t", all[0].OwnersRemoved, all[1].OwnersRemoved)
	}
	all = []model.Resource{resource(t, fmt.Sprintf(object, "b", ""))}
	if kube.MarkOwnersRemoved(all); all[0].OwnersRemoved {
		t.Error("no object has a record")
	}
}

// TestEmptySelector adds and removes selectors that select everything, where none at
// all selects nothing, or less.
func TestEmptySelector(t *testing.T) {
	t.Parallel()
	const (
		policy = `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: x, namespace: ns}, spec: {podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: a}}%s}]}]}}`
		budget = `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: x, namespace: ns}, spec: {maxUnavailable: 1%s}}`
		spread = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {template: {spec: {containers: [{name: web}], topologySpreadConstraints: [{topologyKey: a, whenUnsatisfiable: DoNotSchedule, maxSkew: 1%s}]}}}}`
		config = `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: x}, webhooks: [{name: a.b.c, clientConfig: {service: {name: h, namespace: ns}}%s}]}`
		claim  = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x, namespace: ns}, spec: {accessModes: [ReadWriteOnce]%s}}`
		web    = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {template: {spec: {containers: [{name: web}]%s}}}}`
	)
	for reason, tc := range map[string]struct{ object, declared, live, fields, want string }{
		"all namespaces":               {policy, "", ", namespaceSelector: {}", `{"f:spec":{"f:ingress":{}}}`, "changed spec.ingress[0].from[0].namespaceSelector"},
		"no longer":                    {policy, ", namespaceSelector: {}", "", `{"f:spec":{"f:ingress":{}}}`, "changed spec.ingress[0].from[0].namespaceSelector"},
		"as declared":                  {policy, ", namespaceSelector: {}", ", namespaceSelector: {}", `{"f:spec":{"f:ingress":{}}}`, ""},
		"all pods":                     {budget, "", ", selector: {}", `{"f:spec":{"f:selector":{}}}`, "undeclared spec.selector"},
		"no pods":                      {budget, ", selector: {}", "", `{"f:spec":{"f:maxUnavailable":{}}}`, "changed spec.selector"},
		"all pods of the namespace":    {spread, "", ", labelSelector: {}", `{"f:spec":{"f:template":{"f:spec":{"f:topologySpreadConstraints":{"k:{\"topologyKey\":\"a\",\"whenUnsatisfiable\":\"DoNotSchedule\"}":{"f:labelSelector":{}}}}}}}`, "undeclared spec.template.spec.topologySpreadConstraints[topologyKey=a,whenUnsatisfiable=DoNotSchedule].labelSelector"},
		"only volumes that are there":  {claim, "", ", selector: {}", `{"f:spec":{"f:selector":{}}}`, "undeclared spec.selector"},
		"the default of a webhook":     {config, "", ", namespaceSelector: {}, objectSelector: {}", `{"f:webhooks":{"k:{\"name\":\"a.b.c\"}":{"f:namespaceSelector":{},"f:objectSelector":{}}}}`, ""},
		"an empty map says nothing":    {web, "", ", securityContext: {}", `{"f:spec":{"f:template":{"f:spec":{"f:securityContext":{}}}}}`, ""},
		"which says nothing, declared": {web, ", securityContext: {}", "", `{"f:spec":{"f:template":{"f:spec":{"f:containers":{}}}}}`, ""},
	} {
		w := written{declared: fmt.Sprintf(tc.object, tc.declared), live: fmt.Sprintf(tc.object, tc.live), manager: "kubectl-edit", fields: tc.fields}
		if got := found(w.judge(t)); got != tc.want {
			t.Errorf("%s: %q, want %q", reason, got, tc.want)
		}
	}
}
