package kube_test

import (
	"strings"
	"testing"
)

// TestCreated writes objects as kubectl create and kubectl replace do: the writer
// owns what the API server fills in, and no record of what was applied is kept.
func TestCreated(t *testing.T) {
	t.Parallel()
	const (
		cron      = `{apiVersion: batch/v1, kind: CronJob, metadata: {name: x, namespace: ns}, spec: {schedule: "1 * * * *"`
		probe     = `{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{"f:livenessProbe":{"f:grpc":{"f:service":{}}}}},"f:volumes":{"k:{\"name\":\"v\"}":{"f:hostPath":{"f:type":{}}}}}}}}`
		job       = `{apiVersion: batch/v1, kind: Job, metadata: {name: x, namespace: ns}, spec: {backoffLimit: 6`
		driver    = `{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: x}, spec: {attachRequired: true`
		daemon    = `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: x, namespace: ns`
		suspend   = `{"f:spec":{"f:suspend":{}}}`
		annotated = `{"f:metadata":{"f:annotations":{"f:deprecated.daemonset.template.generation":{},"f:note":{}}}}`
		storage   = `{"f:spec":{"f:podInfoOnMount":{},"f:requiresRepublish":{},"f:seLinuxMount":{},"f:storageCapacity":{}}}`
	)
	tests := map[string]struct {
		reason       string
		object       string
		live, fields string
		want         string
	}{
		"a schedule":               {"the default", cron, ", suspend: false", suspend, ""},
		"a suspended schedule":     {"somebody stopped it", cron, ", suspend: true", suspend, "undeclared spec.suspend"},
		"a job":                    {"the default", job, ", suspend: false", suspend, ""},
		"a suspended job":          {"somebody stopped it", job, ", suspend: true", suspend, "undeclared spec.suspend"},
		"a job's selector":         {"the default", job, ", manualSelector: false", `{"f:spec":{"f:manualSelector":{}}}`, ""},
		"a probe":                  {"the defaults of a probe and of a volume", job, `, template: {spec: {containers: [{name: c, livenessProbe: {grpc: {port: 1, service: ""}}}], volumes: [{name: v, hostPath: {path: /v, type: ""}}]}}`, probe, ""},
		"a driver":                 {"the defaults", driver, ", podInfoOnMount: false, requiresRepublish: false, seLinuxMount: false, storageCapacity: false", storage, ""},
		"a driver that learns":     {"not the default", driver, ", podInfoOnMount: true", storage, "undeclared spec.podInfoOnMount"},
		"a generation":             {"the API server computes it", daemon, `, annotations: {deprecated.daemonset.template.generation: "3"}`, annotated, ""},
		"a generation with a note": {"somebody wrote the note", daemon, `, annotations: {deprecated.daemonset.template.generation: "3", note: n}`, annotated, "undeclared metadata.annotations.note"},
	}
	for name, tt := range tests {
		for _, manager := range []string{"kubectl-create", "kubectl-replace"} {
			t.Run(name+" by "+manager, func(t *testing.T) {
				t.Parallel()
				w := written{declared: tt.object + declares(tt.live) + "}}", live: tt.object + tt.live + "}}", declarer: manager, manager: manager, fields: tt.fields}
				if got := found(w.judge(t)); got != tt.want {
					t.Errorf("%s: found %q, want %q", tt.reason, got, tt.want)
				}
			})
		}
	}
}

// declares returns what is declared of a template: all but the empty defaults.
func declares(live string) string {
	if !strings.Contains(live, "template: ") {
		return ""
	}
	return strings.NewReplacer(`, service: ""`, "", `, type: ""`, "").Replace(live)
}
