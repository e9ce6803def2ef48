package kube_test

import (
	"fmt"
	"testing"
)

// TestJobsOfACronJob has Jobs that name the CronJob backup as their controller. That
// controller stops no Job, so a template that was written later does not excuse what
// runs with more power, or was made by hand.
func TestJobsOfACronJob(t *testing.T) {
	t.Parallel()
	const (
		named, same = "backup-29453400", `containers: [{name: b, image: "backup:1"}]`
		privileged  = `hostPID: true, containers: [{name: b, image: "backup:1", securityContext: {privileged: true}}]`
		other, env  = `containers: [{name: b, image: "backup:0"}]`, `containers: [{name: b, image: "backup:1", env: [{name: LD_PRELOAD, value: x}]}]`
		controller  = "kube-controller-manager"
		later       = "2026-01-01T10:00:06Z"
	)
	for reason, tc := range map[string]struct {
		name, manager, written, pod string
		want                        bool
	}{
		"the controller made it":                        {named, controller, "2026-01-01T09:00:00Z", same, true},
		"the controller made it of an earlier template": {named, controller, later, other, true},
		"written in the same second":                    {named, controller, "2026-01-01T10:00:05Z", other, true},
		"another image than the template":               {named, controller, "2026-01-01T10:00:04Z", other, false},
		"privileged, with another name":                 {"evil", "kubectl-create", "2026-01-01T09:00:00Z", privileged, false},
		"privileged, and the template is written later": {named, controller, later, privileged, false},
		"privileged, and the time is set to any later":  {named, controller, "2099-01-01T00:00:00Z", privileged, false},
		"privileged, in the same second":                {named, controller, "2026-01-01T10:00:05Z", privileged, false},
		"by hand, with the name of a controller's":      {named, "kubectl-create", later, other, false},
		"another name":                                  {"backup-now", controller, later, other, false},
		"a name that only begins so":                    {named + "x", controller, later, other, false},
		"no number in the name":                         {"backup-", controller, later, other, false},
		"the number alone":                              {"29453400", controller, later, other, false},
		"kubectl create job --from":                     {"by-hand", "kubectl-create", "2026-01-01T09:00:00Z", same, true},
		"kubectl create job --from, and a deploy later": {"by-hand", "kubectl-create", later, same, true},
		"kubectl create job --from, then another image": {"by-hand", "kubectl-create", later, other, false},
		"by hand, with another environment":             {"by-hand", "kubectl-create", "2026-01-01T09:00:00Z", env, false},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := related(t, fmt.Sprintf(`
{apiVersion: batch/v1, kind: CronJob, metadata: {name: backup, namespace: ns, uid: c, generation: 2, managedFields: [{manager: kubectl, operation: Apply, time: %q, fieldsV1: {"f:spec": {"f:jobTemplate": {}}}}]}, spec: {jobTemplate: {spec: {template: {spec: {containers: [{name: b, image: "backup:1"}]}}}}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: %q, namespace: ns, generation: 1, creationTimestamp: "2026-01-01T10:00:05Z", managedFields: [{manager: %s, operation: Update, time: "2026-01-01T10:00:05Z", fieldsV1: {"f:spec": {"f:template": {}}}}], ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: backup, uid: c, controller: true}]}, spec: {template: {spec: {%s}}}}
`, tc.written, tc.name, tc.manager, tc.pod), whole)["Job "+tc.name]
			if (r.SystemOwned != "") != tc.want {
				t.Errorf("automatic = %q", r.SystemOwned)
			}
		})
	}
}

// TestReplacedPods has a privileged pod whose template was written after it and has
// no privileges: only a controller that replaces such pods excuses it.
func TestReplacedPods(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		kind, spec string
		want       bool
	}{
		"a rollout of a DaemonSet":                  {"DaemonSet", "", true},
		"a DaemonSet that waits for deletion":       {"DaemonSet", "updateStrategy: {type: OnDelete}, ", false},
		"a rollout of a StatefulSet":                {"StatefulSet", "updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}, ", true},
		"a StatefulSet that waits for deletion":     {"StatefulSet", "updateStrategy: {type: OnDelete}, ", false},
		"a StatefulSet that keeps some of its pods": {"StatefulSet", "updateStrategy: {rollingUpdate: {partition: 1}}, ", false},
		"a ReplicaSet leaves the pods that it has":  {"ReplicaSet", "", false},
		"a Deployment stops ReplicaSets of before":  {"Deployment", "", true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			version, child := "v1", "Pod"
			pod := `spec: {containers: [{name: a, image: "a:1", securityContext: {privileged: true}}]}`
			if tc.kind == "Deployment" {
				version, child, pod = "apps/v1", "ReplicaSet", "spec: {replicas: 1, template: {"+pod+"}}"
			}
			r := related(t, fmt.Sprintf(`
{apiVersion: apps/v1, kind: %s, metadata: {name: d, namespace: ns, uid: d, generation: 2, managedFields: [{manager: m, operation: Update, time: "2026-01-01T10:00:06Z", fieldsV1: {"f:spec": {"f:template": {}}}}]}, spec: {%stemplate: {spec: {containers: [{name: a, image: "a:2"}]}}}}
---
{apiVersion: %s, kind: %s, metadata: {name: d-1, namespace: ns, creationTimestamp: "2026-01-01T10:00:05Z", ownerReferences: [{apiVersion: apps/v1, kind: %s, name: d, uid: d, controller: true}]}, %s}
`, tc.kind, tc.spec, version, child, tc.kind, pod), whole)[child+" d-1"]
			if (r.SystemOwned != "") != tc.want {
				t.Errorf("automatic = %q", r.SystemOwned)
			}
		})
	}
}
