package manifests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestChanceIsNondeterministic gives each object that differs between renderings a violation whose text
// is the same in each scan: it has no name that is left to chance.
func TestChanceIsNondeterministic(t *testing.T) {
	t.Parallel()
	files := blog()
	files["charts/blog/templates/x.yaml"] = `apiVersion: v1
kind: Secret
metadata: {name: one}
stringData: {user: blog, password: {{ randAlphaNum 20 }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: keys}
data:
  {{ randAlpha 20 }}: a
---
apiVersion: v1
kind: ConfigMap
metadata: {name: same}
data: {a: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: pods}
spec:
  template:
    metadata: {annotations: {rendered: {{ now | date "2006-01-02" | quote }}}}
    spec: {containers: [{name: web, image: "web:1"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: many}
data:
{{- range until 7 }}
  k{{ . }}: {{ randAlphaNum 9 }}
{{- end }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: quoted}
data: {"{{ randAlpha 9 }}.{{ randAlpha 9 }}": a, "a.conf": {{ randAlpha 9 }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: element, labels: {x: {{ randAlpha 9 }}}}
spec:
  template:
    spec:
      containers:
      - {name: web, image: "web:1", env: [{name: {{ randAlpha 20 }}, value: a}]}
      - {name: "a.b", image: "web:1", env: [{name: A, value: {{ randAlpha 9 }}}]}
---
apiVersion: example.org/v1
kind: Thing
metadata: {name: nested}
spec: {template: {a: {{ randAlpha 9 }}}, parts: { {{ randAlpha 20 }}: {a: {b: 1}}, fixed: {{ randAlpha 9 }}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: label, labels: {x: {{ randAlpha 9 }}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: cron}
spec: {jobTemplate: {spec: {template: {metadata: {annotations: {x: {{ randAlpha 9 }}}}}}}}
---
apiVersion: example.org/v1
kind: Thing
metadata: {name: top}
{{ randAlpha 9 }}: {a: 1}
`
	got := map[string][]string{}
	for range 2 {
		d, err := loadRelease(t, releaseConfig(deploy(t, files)))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Claims {
			for _, v := range c.Violations {
				if v.Check != "helm/nondeterministic" || v.Verdict != model.Nondeterministic || v.Path != "" {
					t.Errorf("%s: %+v", c.ID, v)
				}
				before, _, _ := strings.Cut(v.Reason, ": set it in the values")
				got[c.ID] = append(got[c.ID], string(v.Severity)+" "+before)
			}
		}
	}
	const calls = "the chart calls now and randAlpha and randAlphaNum, so that each rendering has another "
	want := map[string][]string{}
	for id, text := range map[string]string{
		"web/one": "low " + calls + "data.password", "web/keys": "low " + calls + "data",
		"web/pods":   "medium " + calls + "spec.template.metadata.annotations.rendered",
		"web/quoted": "low " + calls + "data", "web/nested": "low " + calls + "spec.parts, spec.template.a", "web/top": "low " + calls + "field at the top",
		"web/element": "medium " + calls + `metadata.labels.x, spec.template.spec.containers[name=a.b].env[name=A].value, spec.template.spec.containers[name=web].env`,
		"web/label":   "low " + calls + "metadata.labels.x", "web/cron": "medium " + calls + "spec.jobTemplate.spec.template.metadata.annotations.x",
		"web/many": "low " + calls + "data.k0, data.k1, data.k2, data.k3, data.k4 and 2 more",
	} {
		want[id] = []string{text, text}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestFewResultsOfChance finds each field that depends on a function with few results, in each scan.
func TestFewResultsOfChance(t *testing.T) {
	t.Parallel()
	files := blog()
	files["charts/blog/templates/x.yaml"] = `apiVersion: v1
kind: ConfigMap
metadata: {name: few}
data:
  coin: "{{ randInt 0 2 }}"
  digit: {{ randNumeric 1 | quote }}
  half: {{ if gt (randInt 0 100) 50 }}high{{ else }}low{{ end }}
  first: {{ keys (dict "a" 1 "b" 2) | first }}
  none: "{{ randInt 4 5 }}{{ randAlpha 0 }}{{ shuffle "" }}{{ keys (dict) }}{{ keys (dict "a" 1 "b" 2) | sortAlpha }}"
---
apiVersion: v1
kind: ConfigMap
metadata: {name: order}
data:
  order: {{ shuffle "ab" }}
  value: "{{ values (dict "a" 1 "b" 2) | last }}"
`
	const calls = "low the chart calls keys and randAlpha and randInt and randNumeric and shuffle and values, so that each rendering has another "
	want := map[string]string{"web/few": calls + "data.coin, data.digit, data.first, data.half", "web/order": calls + "data.order, data.value"}
	for range 5 {
		got := map[string]string{}
		d, err := loadRelease(t, releaseConfig(deploy(t, files)))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Claims {
			for _, v := range c.Violations {
				before, _, _ := strings.Cut(v.Reason, ": set it in the values")
				got[c.ID] = string(v.Severity) + " " + before
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}
