package kube_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestUnset declares empty values, which the API server reads as unset, or keeps if the field
// is a pointer.
func TestUnset(t *testing.T) {
	t.Parallel()
	const (
		service  = `{apiVersion: v1, kind: Service, metadata: {name: x, namespace: ns}, spec: {%s}}`
		workload = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {%s}}`
		pod      = `template: {spec: {%s}}`
		binding  = `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: x, namespace: ns}, %s}`
		volume   = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: x, namespace: ns}, spec: {%s}}`
		driver   = `{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: x}, spec: {volumeLifecycleModes: [%s]}}`
		subjects = `subjects: [{apiGroup: "%s", kind: User, name: %s}]`
		port     = `ports: [{port: 80, protocol: "%s", targetPort: %s, nodePort: %s}]`
		probe    = `containers: [{name: web, imagePullPolicy: "%s", livenessProbe: {periodSeconds: %s, httpGet: {port: 80, path: "%s"}}}]`

		podFields  = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:imagePullPolicy":{},"f:livenessProbe":{"f:periodSeconds":{},"f:httpGet":{"f:path":{}}}}}}}}}`
		portFields = `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:targetPort":{},"f:nodePort":{},"f:protocol":{}}}}}`
	)
	in := func(format string, parts ...any) string { return fmt.Sprintf(format, parts...) }
	for name, tc := range map[string]struct{ declared, live, fields, want string }{
		"a type":                {in(service, `type: ""`), in(service, `type: ClusterIP`), `{"f:spec":{"f:type":{}}}`, ""},
		"another type":          {in(service, `type: ""`), in(service, `type: NodePort`), `{"f:spec":{"f:type":{}}}`, "spec.type"},
		"an address":            {in(service, `clusterIP: "", clusterIPs: []`), in(service, `clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1]`), `{"f:spec":{"f:clusterIP":{},"f:clusterIPs":{}}}`, ""},
		"a port":                {in(service, in(port, "", "0", "0")), in(service, in(port, "TCP", "80", "30000")), portFields, ""},
		"another port":          {in(service, in(port, "", "0", "0")), in(service, in(port, "TCP", "22", "30000")), portFields, "spec.ports[port=80,protocol=TCP].targetPort"},
		"a binding":             {in(binding, `roleRef: {apiGroup: "", kind: ClusterRole, name: view}, `+in(subjects, "", "a")), in(binding, `roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}, `+in(subjects, "rbac.authorization.k8s.io", "a")), `{"f:roleRef":{},"f:subjects":{}}`, ""},
		"another subject":       {in(binding, in(subjects, "", "a")), in(binding, in(subjects, "rbac.authorization.k8s.io", "b")), `{"f:subjects":{}}`, "subjects[0].name"},
		"a container":           {in(workload, in(pod, in(probe, "", "0", ""))), in(workload, in(pod, in(probe, "Always", "10", "/"))), podFields, ""},
		"another period":        {in(workload, in(pod, in(probe, "", "0", ""))), in(workload, in(pod, in(probe, "Always", "99", "/"))), podFields, "spec.template.spec.containers[name=web].livenessProbe.periodSeconds"},
		"replicas":              {in(workload, "replicas: 0"), in(workload, "replicas: 1"), `{"f:spec":{"f:replicas":{}}}`, "spec.replicas"},
		"no replicas":           {in(workload, ""), in(workload, "replicas: 0"), `{"f:spec":{"f:replicas":{}}}`, "spec.replicas"},
		"the history":           {in(workload, "revisionHistoryLimit: 0"), in(workload, "revisionHistoryLimit: 10"), `{"f:spec":{"f:revisionHistoryLimit":{}}}`, "spec.revisionHistoryLimit"},
		"a grace period":        {in(workload, in(pod, "terminationGracePeriodSeconds: 0")), in(workload, in(pod, "terminationGracePeriodSeconds: 30")), `{"f:spec":{"f:template":{"f:spec":{"f:terminationGracePeriodSeconds":{}}}}}`, "spec.template.spec.terminationGracePeriodSeconds"},
		"a storage class":       {in(volume, `storageClassName: ""`), in(volume, "storageClassName: fast"), `{"f:spec":{"f:storageClassName":{}}}`, "spec.storageClassName"},
		"the modes of a driver": {in(driver, ""), in(driver, "Persistent"), `{"f:spec":{"f:volumeLifecycleModes":{}}}`, ""},
		"another mode":          {in(driver, ""), in(driver, "Ephemeral"), `{"f:spec":{"f:volumeLifecycleModes":{"v:\"Ephemeral\"":{}}}}`, "spec.volumeLifecycleModes[=Ephemeral]"},
		"a volume":              {in(volume, `volumeName: ""`), in(volume, "volumeName: a"), `{"f:spec":{"f:volumeName":{}}}`, ""},
		"a custom default":      {in(workload, "custom: 0"), in(workload, "custom: 1"), `{"f:spec":{"f:custom":{}}}`, "spec.custom"},
	} {
		for _, w := range []written{
			{manager: "kubectl", operation: "Apply"},
			{manager: "kubectl-client-side-apply", declarer: "kubectl-client-side-apply"},
			{},
		} {
			w.declared, w.live, w.fields = tc.declared, tc.live, tc.fields
			got := found(w.judge(t))
			if _, path, _ := strings.Cut(got, " "); path != tc.want {
				t.Errorf("%s by %q: %q, want %q", name, w.manager, got, tc.want)
			}
		}
	}
}

// TestUnsetEdited edits a field that is declared empty and that the API server derives.
func TestUnsetEdited(t *testing.T) {
	t.Parallel()
	const (
		declared = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {template: {spec: {containers: [{name: web, imagePullPolicy: ""}]}}}}`
		live     = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {template: {spec: {containers: [{name: web, imagePullPolicy: Never}]}}}}`
		fields   = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"web\"}":{"f:imagePullPolicy":{}}}}}}}`
	)
	w := written{declared: declared, live: live, manager: "kubectl-edit", fields: fields}
	if got, want := found(w.judge(t)), "undeclared spec.template.spec.containers[name=web].imagePullPolicy"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
