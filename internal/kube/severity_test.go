package kube_test

import (
	"testing"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// An unmanaged workload that may take over its node is never low.
func TestSeverityOfUnmanagedObjects(t *testing.T) {
	t.Parallel()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	pod := func(spec string) string {
		return `{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: ns}, spec: ` + spec + `}`
	}
	template := func(kind, spec string) string {
		return `{apiVersion: apps/v1, kind: ` + kind + `, metadata: {name: a, namespace: ns}, spec: {template: {spec: ` + spec + `}}}`
	}
	container := func(list, context string) string {
		return `{` + list + `: [{name: x}, {name: y, securityContext: ` + context + `}]}`
	}
	for reason, tc := range map[string]struct {
		object string
		high   bool
	}{
		"an ordinary pod":             {pod(`{containers: [{name: a, securityContext: {privileged: false, capabilities: {add: [NET_BIND_SERVICE]}}}], volumes: [{name: v, emptyDir: {}}]}`), false},
		"a privileged pod":            {pod(container("containers", `{privileged: true}`)), true},
		"a privileged init container": {pod(container("initContainers", `{privileged: true}`)), true},
		"a privileged debugger":       {pod(container("ephemeralContainers", `{privileged: true}`)), true},
		"the host's network":          {pod(`{hostNetwork: true}`), true},
		"the host's processes":        {pod(`{hostPID: true}`), true},
		"the host's memory":           {pod(`{hostIPC: true}`), true},
		"the host's users":            {pod(`{hostUsers: true}`), false},
		"the host's files":            {pod(`{volumes: [{name: e, emptyDir: {}}, {name: v, hostPath: {path: /}}]}`), true},
		"all capabilities":            {pod(container("containers", `{capabilities: {add: [ALL]}}`)), true},
		"a strong capability":         {pod(container("containers", `{capabilities: {add: [CHOWN, CAP_SYS_ADMIN]}}`)), true},
		"dropped capabilities":        {pod(container("containers", `{capabilities: {drop: [ALL]}}`)), false},
		"a Windows host process":      {pod(`{securityContext: {windowsOptions: {hostProcess: true}}}`), true},
		"an unmasked /proc":           {pod(container("containers", `{procMount: Unmasked}`)), true},
		"a masked /proc":              {pod(container("containers", `{procMount: Default}`)), false},
		"a Deployment":                {template("Deployment", `{hostPID: true}`), true},
		"a plain Deployment":          {template("Deployment", `{containers: [{name: a}]}`), false},
		"a DaemonSet":                 {template("DaemonSet", `{hostPID: true}`), true},
		"a StatefulSet":               {template("StatefulSet", `{hostPID: true}`), true},
		"a ReplicaSet":                {template("ReplicaSet", `{hostPID: true}`), true},
		"a Job":                       {`{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {hostPID: true}}}}`, true},
		"a CronJob":                   {`{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {spec: {template: {spec: {hostPID: true}}}}}}`, true},
		"a plain CronJob":             {`{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {jobTemplate: {spec: {template: {spec: {}}}}}}`, false},
		"a token of an account":       {`{apiVersion: v1, kind: Secret, metadata: {name: a}, type: kubernetes.io/service-account-token}`, true},
		"a token that joins nodes":    {`{apiVersion: v1, kind: Secret, metadata: {name: a}, type: bootstrap.kubernetes.io/token}`, true},
		"an ordinary secret":          {`{apiVersion: v1, kind: Secret, metadata: {name: a}, type: Opaque}`, false},
		"Endpoints":                   {`{apiVersion: v1, kind: Endpoints, metadata: {name: a}}`, true},
		"an EndpointSlice":            {`{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: a}}`, true},
		"an admission policy":         {`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: a}}`, true},
		"a webhook":                   {`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}}`, true},
		"a binding":                   {`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: a}}`, true},
		"a ConfigMap":                 {`{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := resource(t, tc.object)
			kind := kinds[r.Kind]
			if kind == nil {
				t.Fatalf("%s is not known", r.Kind)
			}
			high := false
			for _, rule := range kind.Severities {
				high = high || unmanagedFits(rule, r) && rule.Severity == model.High
			}
			if high != tc.high {
				t.Errorf("high: %t", high)
			}
			if privileged := kube.Privileged(&r); privileged && !high {
				t.Error("a privileged workload is not rated high")
			}
		})
	}
}

func unmanagedFits(rule model.SeverityRule, r model.Resource) bool {
	if len(rule.Verdicts) > 0 && rule.Verdicts[0] != model.Unmanaged || rule.Path != "" {
		return false
	}
	for _, condition := range rule.Where {
		if !condition.Holds(r.Value) {
			return false
		}
	}
	return true
}
