package postrender_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/provider"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/yaml"

	"github.com/driftd/driftd/internal/chart"
)

// TestWithTexts compares scalars with those of kustomize itself, in which helm-controller reads the output of templates.
func TestWithTexts(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	for _, data := range []string{
		"yes", "Off", "y", "N", "on", "ON # no", "true", "~", "", "014", "0x1F", "1_000", "1.50", "2020-01-01", "2020-01-01T10:00:00Z", "2020-01-01 10:00:00.5 +02:00", "12:30", "!!str no", `"no"`, "'2020-01-01'",
		"|\n  yes\n  no\n", "no\n  yes", "[yes, [no, on], {on: off, \"ü\": no}]", "{y: 1, no: [2020-01-01, off]}", "\n  yes: no\n  ü: {on: yes, b: [no, no]}", "\n- yes\n- - no\n  - k: off\n", "&a yes", "[&yes yes, &b no, *yes]", "yesterday", "! yes",
		"\n  a: &b {c: no}\n  d: *b\n  e:\n    <<: *b\n    on: off\n", "off\r",
	} {
		document := head + "data: " + data + "\n"
		made, err := resmap.NewFactory(provider.NewDefaultDepProvider().GetResourceFactory()).NewResMapFromBytes([]byte(document))
		if err != nil {
			t.Errorf("%q: %v", data, err)
			continue
		}
		text, err := made.AsYaml()
		if err != nil {
			t.Errorf("%q: %v", data, err)
			continue
		}
		var want, got any
		if err := yaml.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(chart.WithTexts(document)), &got); err != nil {
			t.Fatalf("%q: %v\n%s", data, err, chart.WithTexts(document))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", data, d)
		}
	}
	for _, same := range []string{"", "a: b\n---\n\tno: [", "---\na: \"yes\"\n", "- k: ok\n---\nv: maybe\n"} {
		if got := chart.Documents(chart.WithTexts(same)); !cmp.Equal(got, chart.Documents(same)) {
			t.Errorf("%q has %v", same, got)
		}
	}
}
