package kubernetes

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkReadPage decodes a list of 1,000 small Deployments.
func BenchmarkReadPage(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"1"},"items":[`)
	for i := range 1000 {
		if i > 0 {
			text.WriteByte(',')
		}
		fmt.Fprintf(&text, `{"metadata":{"name":"web-%d","namespace":"shop","uid":"%d","resourceVersion":"7","generation":1,
			"creationTimestamp":"2026-01-02T03:04:05Z","labels":{"app":"web"},"managedFields":[{"manager":"kubectl","operation":"Apply",
			"apiVersion":"apps/v1","time":"2026-01-02T03:04:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:app":{}}},
			"f:spec":{"f:replicas":{},"f:selector":{},"f:template":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:containers":
			{"k:{\"name\":\"web\"}":{".":{},"f:name":{},"f:image":{},"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}}}}}}}}]},
			"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":
			[{"name":"web","image":"registry.example.org/web:1.4","env":[{"name":"A","value":"b"}],"ports":[{"containerPort":8080,"protocol":"TCP"}],
			"resources":{"requests":{"cpu":"100m","memory":"128Mi"}},"imagePullPolicy":"IfNotPresent","terminationMessagePath":"/dev/termination-log"}],
			"restartPolicy":"Always","dnsPolicy":"ClusterFirst","schedulerName":"default-scheduler","securityContext":{}}},
			"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%%","maxSurge":"25%%"}}},"status":{"replicas":2}}`, i, i)
	}
	text.WriteString(`]}`)
	r := &reader{config: Defaults(), source: "prod", sealer: testSealer(), now: time.Now}
	a := api{kind: deployment, object: "Deployment", group: "apps", version: "v1", resource: "deployments", namespaced: true}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		var p page
		if err := r.readPage(strings.NewReader(text.String()), a, &p); err != nil || len(p.resources) != 1000 {
			b.Fatalf("%d of 1000 read: %v", len(p.resources), err)
		}
	}
}
