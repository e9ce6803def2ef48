package manifests_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// asking is a chart whose objects depend on the API versions of the cluster.
func asking() map[string]string {
	files := blog()
	files["charts/blog/templates/x.yaml"] = `{{- if .Capabilities.APIVersions.Has "monitoring.example.org/v1" }}
apiVersion: monitoring.example.org/v1
kind: Monitor
metadata: {name: web, namespace: monitors}
spec: {port: 80}
---
{{- end }}
{{- if not (.Capabilities.APIVersions.Has "gateway.example.org/v1/Route") }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
---
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: asking}
data:
  a: b
  monitored: {{ .Capabilities.APIVersions.Has "monitoring.example.org/v1" | quote }}
`
	return files
}

// TestCapabilities renders a chart that asks for API versions: objects that depend on them may be
// absent, and fields that depend on them are not compared.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	const by = "the API versions of the cluster: the chart asks for gateway.example.org/v1/Route, monitoring.example.org/v1"
	for name, tc := range map[string]struct {
		reason   string
		template string
		versions []string
		optional []string
		certain  []string
		fields   []string
	}{
		"Both": {reason: "the cluster may have both, one or none", optional: []string{"Ingress.networking.k8s.io web/web", "Monitor.monitoring.example.org monitors/web"},
			certain: []string{"ConfigMap web/asking"}, fields: []string{"data.monitored: " + by}},
		"Settings": {reason: "the settings decide", versions: []string{"monitoring.example.org/v1", "gateway.example.org/v1/Route"},
			certain: []string{"ConfigMap web/asking", "Monitor.monitoring.example.org monitors/web"}},
		"Kubernetes": {reason: "every cluster has the stable versions", template: `{{ if and (.Capabilities.APIVersions.Has "networking.k8s.io/v1/Ingress") (.Capabilities.APIVersions.Has "v1") (has "batch/v1" .Capabilities.APIVersions) }}
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
{{ end }}`, certain: []string{"ConfigMap web/a"}},
		"Beta": {reason: "Kubernetes drops other versions", template: `{{ if .Capabilities.APIVersions.Has "policy/v1beta1/PodSecurityPolicy" }}
apiVersion: policy/v1beta1
kind: PodSecurityPolicy
metadata: {name: a}
{{ end }}`, optional: []string{"PodSecurityPolicy.policy web/a"}},
		"One of them": {reason: "an object that only a cluster with the second version has", template: `{{ if .Capabilities.APIVersions.Has "a.example.org/v1" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
{{ else if has "b.example.org/v1" .Capabilities.APIVersions }}
apiVersion: v1
kind: ConfigMap
metadata: {name: b}
{{ end }}`, optional: []string{"ConfigMap web/a", "ConfigMap web/b"}},
		"mustHas": {reason: "the other name of has", template: `{{ if mustHas "a.example.org/v1" .Capabilities.APIVersions }}
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
{{ end }}`, optional: []string{"ConfigMap web/a"}},
		"Required": {reason: "a cluster for which it cannot be rendered cannot have the release", template: `{{ if not (.Capabilities.APIVersions.Has "a.example.org/v1") }}{{ fail "no" }}{{ end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: a}`, certain: []string{"ConfigMap web/a"}},
		"No version": {reason: "a value that is no version is never had, and not shown", template: `apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {b: {{ .Capabilities.APIVersions.Has "hunter2" | quote }}, c: {{ len .Capabilities.APIVersions | quote }}}`, certain: []string{"ConfigMap web/a"}},
		"Chance beside": {reason: "fields left to chance beside some that depend on the cluster", template: `apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {b: {{ randAlphaNum 20 }}, c: "{{ now | unixEpoch }}", d: {{ .Capabilities.APIVersions.Has "a.example.org/v1" | quote }}}`, certain: []string{"ConfigMap web/a"},
			fields: []string{"data.b: chance: the chart calls now and randAlphaNum", "data.c: chance: the chart calls now and randAlphaNum",
				"data.d: the API versions of the cluster: the chart asks for a.example.org/v1"}},
		"Chance": {reason: "fields left to chance in an object that may be absent", template: `{{ if .Capabilities.APIVersions.Has "a.example.org/v1" }}
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {b: {{ randAlphaNum 20 }}}
{{ end }}`, optional: []string{"ConfigMap web/a"}, fields: []string{"data.b: chance: the chart calls randAlphaNum"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := asking()
			if tc.template != "" {
				files["charts/blog/templates/x.yaml"] = tc.template
			}
			dir := deploy(t, files)
			config := releaseConfig(dir)
			config.APIVersions = tc.versions
			d, err := loadRelease(t, config)
			if err != nil || len(d.Problems) > 0 {
				t.Fatal(err, d.Problems)
			}
			optional, certain, fields := asked(d)
			if diff := cmp.Diff([][]string{tc.optional, tc.certain, tc.fields}, [][]string{optional, certain, fields}); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
			if slices.ContainsFunc(d.Scopes, func(s model.Scope) bool { return s.Place == "monitors" }) != (name == "Settings") {
				t.Errorf("%s: governs %v", tc.reason, d.Scopes)
			}
		})
	}
}

// TestUpgrades renders a chart that asks whether it is upgraded: both are right, and the number of the revision is not compared.
func TestUpgrades(t *testing.T) {
	t.Parallel()
	const by = "whether the release is installed or upgraded"
	files := blog()
	files["charts/blog/templates/x.yaml"] = `{{- if .Release.IsInstall }}
apiVersion: v1
kind: ConfigMap
metadata: {name: first}
---
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {b: {{ ternary "up" "in" .Release.IsUpgrade }}, c: "{{ .Release.Revision }}", d: e}
`
	d, err := loadRelease(t, releaseConfig(deploy(t, files)))
	if err != nil || len(d.Problems) > 0 {
		t.Fatal(err, d.Problems)
	}
	optional, certain, fields := asked(d)
	want := [][]string{{"ConfigMap web/first"}, {"ConfigMap web/a"}, {"data.c: chance: the chart calls .Release.Revision", "data.b: " + by}}
	if diff := cmp.Diff(want, [][]string{optional, certain, fields}); diff != "" {
		t.Error(diff)
	}
	notes := []model.Note{{Text: "ConfigMap first: compared only while live or recorded, because of " + by}}
	if diff := cmp.Diff(notes, d.Notes); diff != "" {
		t.Error(diff)
	}
}

// TestOptionalObjectsAreNamed names the objects that may be absent, so that their absence is not taken for a comparison.
func TestOptionalObjectsAreNamed(t *testing.T) {
	t.Parallel()
	d, err := loadRelease(t, releaseConfig(deploy(t, asking())))
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Note{{Text: "Ingress.networking.k8s.io web, Monitor.monitoring.example.org monitors/web: compared only while live or recorded, because of the API versions " +
		"of the cluster: the chart asks for gateway.example.org/v1/Route, monitoring.example.org/v1. List the versions that the cluster has in api_versions to compare always"}}
	if diff := cmp.Diff(want, d.Notes); diff != "" {
		t.Error(diff)
	}
}

// TestTooManyVersions does not compare a chart that asks for more API versions than are tried.
func TestTooManyVersions(t *testing.T) {
	t.Parallel()
	files := blog()
	files["charts/blog/templates/x.yaml"] = `{{ range until 400 }}{{ $has := $.Capabilities.APIVersions.Has (printf "g%d.example.org/v1" .) }}{{ end }}`
	d, err := loadRelease(t, releaseConfig(deploy(t, files)))
	if err != nil || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Reason, "too many API versions: list those that the cluster has in api_versions") {
		t.Error(err, d.Problems)
	}
}

// asked returns the claims of the template x.yaml that may be absent, the others, and the fields
// that are not compared.
func asked(d model.Declaration) (optional, certain, fields []string) {
	for _, c := range d.Claims {
		if c.Address != "blog/templates/x.yaml" {
			continue
		}
		name := c.Kind[len("kubernetes/"):] + " " + c.ID
		if c.OnlyLive {
			optional = append(optional, name)
		} else {
			certain = append(certain, name)
		}
		for _, field := range c.Delegated {
			fields = append(fields, field.Path+": "+field.To)
		}
	}
	slices.Sort(optional)
	slices.Sort(certain)
	return optional, certain, fields
}
