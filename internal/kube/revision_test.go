package kube_test

import (
	"testing"
)

// TestForgedRevisions tests that a ControllerRevision, which any client may create, hides no pod
// that is more powerful than the template of its owner, unless the owner's controller is replacing
// that revision.
func TestForgedRevisions(t *testing.T) {
	t.Parallel()
	const (
		plain      = `containers: [{name: db, image: "db:1"}]`
		older      = `containers: [{name: db, image: "db:0"}]`
		privileged = `hostPID: true, containers: [{name: db, image: "evil:1", securityContext: {privileged: true}}]`
		rolling    = `status: {currentRevision: db-old, updateRevision: db-1}`
		rolled     = `status: {currentRevision: db-1, updateRevision: db-1}`
	)
	revision := func(kind, place, name, pod string) string {
		return `
---
{apiVersion: apps/v1, kind: ControllerRevision, metadata: {name: ` + name + `, namespace: ` + place + `, ownerReferences: [{apiVersion: apps/v1, kind: ` + kind +
			`, name: db, uid: db, controller: true}]}, data: {spec: {template: {spec: {` + pod + `}}}}}`
	}
	set := func(prefix string) string { return revision("StatefulSet", "ns", prefix, privileged) }
	for reason, tc := range map[string]struct {
		kind, written, status, revisions, pod, hash, spec string
		want                                              bool
	}{
		"the current revision":                       {"StatefulSet", "10:00:01", rolled, revision("StatefulSet", "ns", "db-1", plain), "db-0", "db-1", plain, true},
		"an earlier revision":                        {"StatefulSet", "10:00:01", rolled, revision("StatefulSet", "ns", "db-old", older), "db-0", "db-old", older, true},
		"a forged revision of a longer name":         {"StatefulSet", "10:00:01", rolled, set("db-db-1") + revision("StatefulSet", "ns", "db-1", plain), "db-0", "db-1", privileged, false},
		"a forged revision in another namespace":     {"StatefulSet", "10:00:01", rolled, revision("StatefulSet", "evil", "db-1", older) + revision("StatefulSet", "ns", "db-1", plain), "db-0", "db-1", older, false},
		"a forged revision of a new name":            {"StatefulSet", "10:00:01", rolled, set("db-evil"), "db-0", "db-evil", privileged, false},
		"a forged revision during an update":         {"StatefulSet", "10:00:01", rolling, set("db-evil"), "db-0", "db-evil", privileged, false},
		"a revision without a status":                {"StatefulSet", "10:00:01", `status: {}`, set("db-old"), "db-0", "db-old", privileged, false},
		"the outgoing revision":                      {"StatefulSet", "10:00:01", rolling, set("db-old"), "db-0", "db-old", privileged, true},
		"more power than the outgoing revision":      {"StatefulSet", "10:00:01", rolling, revision("StatefulSet", "ns", "db-old", older), "db-0", "db-old", privileged, false},
		"a pod from before the last write":           {"StatefulSet", "10:00:09", rolled, set("db-old"), "db-0", "db-old", privileged, true},
		"a pod whose name has no ordinal":            {"StatefulSet", "10:00:01", rolled, revision("StatefulSet", "ns", "db-1", plain), "db-evil", "db-1", plain, false},
		"a DaemonSet":                                {"DaemonSet", "10:00:01", "", revision("DaemonSet", "ns", "db-h1", plain), "db-x", "h1", plain, true},
		"a revision of a DaemonSet without its name": {"DaemonSet", "10:00:01", "", revision("DaemonSet", "ns", "h1", older) + revision("DaemonSet", "ns", "db-h1", plain), "db-x", "h1", older, false},
		"a forged revision of a DaemonSet":           {"DaemonSet", "10:00:01", "", revision("DaemonSet", "ns", "db-evil", privileged), "db-x", "evil", privileged, false},
		"a pod of a DaemonSet in a rollout":          {"DaemonSet", "10:00:09", "", revision("DaemonSet", "ns", "db-old", privileged), "db-x", "old", privileged, true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := related(t, `
{apiVersion: apps/v1, kind: `+tc.kind+`, metadata: {name: db, namespace: ns, uid: db, generation: 3, managedFields: [{manager: m, operation: Update, time: "2026-01-01T`+tc.written+
				`Z", fieldsV1: {"f:spec": {"f:template": {}}}}]}, spec: {selector: {matchLabels: {app: db}}, template: {spec: {`+plain+`}}}, `+tc.status+`}`+tc.revisions+`
---
{apiVersion: v1, kind: Pod, metadata: {name: `+tc.pod+`, namespace: ns, labels: {app: db, controller-revision-hash: `+tc.hash+`}, creationTimestamp: "2026-01-01T10:00:05Z", ownerReferences: [{apiVersion: apps/v1, kind: `+
				tc.kind+`, name: db, uid: db, controller: true}]}, spec: {`+tc.spec+`}}
`, whole)["Pod "+tc.pod]
			if (r.SystemOwned != "") != tc.want {
				t.Errorf("automatic = %q", r.SystemOwned)
			}
		})
	}
}
