package manifests

import (
	"regexp"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"
)

// TestHasField compares hasField with a regular expression, which is slower.
func TestHasField(t *testing.T) {
	t.Parallel()
	want := regexp.MustCompile(`(?m)(^|[{,-])\s*["']?kind["']?\s*:`)
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"kind", "kind", ":", ":", " ", "\n", "\t", "{", ",", "-", `"`, "'", "x", "kin", "\r\n"}), 0, 9).Draw(t, "pieces")
		text := ""
		for _, piece := range pieces {
			text += piece
		}
		if got := hasField([]byte(text), "kind"); got != want.MatchString(text) {
			t.Errorf("%q: got %t", text, got)
		}
	})
}

// TestResembles checks what files appear to declare.
func TestResembles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want Resemblance
	}{
		"web.yaml":           {"apiVersion: v1\nkind: Service\nmetadata: {name: web}\n", Resemblance{Manifest: true}},
		"list.json":          {`{"kind":"List","apiVersion":"v1","items":[]}`, Resemblance{Manifest: true}},
		"kubelet.yaml":       {"apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n", Resemblance{}},
		"values.yaml":        {"kind: Service\nmetadata: {}\n# apiVersion: v1\n", Resemblance{}},
		"marked.yml":         {"\ufeffapiVersion: v1\nkind: Service\nmetadata: {}\n", Resemblance{Manifest: true}},
		"web.txt":            {"apiVersion: v1\nkind: Service\nmetadata: {}\n", Resemblance{}},
		"kustomization.yaml": {"resources: [web.yaml]\n", Resemblance{Manifest: true, Kustomization: true}},
		"flux.yaml":          {"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n", Resemblance{Manifest: true, Flux: true}},
		"named.yaml":         {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: fluxcd.io/, y: argoproj.io/}\n", Resemblance{Manifest: true}},
		"app.yaml":           {"apiVersion: \"argoproj.io/v1alpha1\"\nkind: Application\nmetadata: {name: a}\n", Resemblance{Manifest: true, ArgoCD: true}},
		"rollout.yaml":       {"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: a}\n", Resemblance{Manifest: true}},
	} {
		got, err := Resembles(fstest.MapFS{name: {Data: []byte(tc.text)}}, name)
		if err != nil || got != tc.want {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}
