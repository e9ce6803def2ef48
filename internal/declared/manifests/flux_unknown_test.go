package manifests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// TestFluxUnknown checks that what depends on values that are not in git is not compared, also if
// they reach an object through another Kustomization.
func TestFluxUnknown(t *testing.T) {
	t.Parallel()
	const secret = "Secret flux-system/keys, from which Flux takes variables"
	const settings = "ConfigMap flux-system/keys, from which Flux takes variables"
	keys := func(mark string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: keys, namespace: flux-system, annotations: {" + mark + "}}\ndata: {V: git}\n"
	}
	// child returns files in which one Kustomization substitutes variables in another.
	child := func(spec string) map[string]string {
		return map[string]string{
			"clusters/prod/a.yaml": applies("parent", "  path: ks\n  postBuild: {substituteFrom: [{kind: Secret, name: keys}]}\n"),
			"ks/child.yaml":        applies("child", "  path: apps\n"+spec), "apps/a.yaml": configMap("a") + "  c: ${V}\n",
		}
	}
	// from returns files with a Kustomization that takes variables from a ConfigMap.
	from := func(optional, text, keys, spec string) map[string]string {
		files := map[string]string{
			"clusters/prod/a.yaml": applies("web", "  path: apps\n  postBuild: {substituteFrom: [{kind: ConfigMap, name: keys"+optional+"}]}\n"),
			"apps/a.yaml":          configMap("a") + "  c: " + text + "\n",
		}
		if keys != "" {
			files["clusters/prod/z.yaml"], files["keys/keys.yaml"] = applies("keys", "  path: keys\n"+spec), keys
		}
		return files
	}
	for name, tc := range map[string]struct {
		files map[string]string
		// problem is a part of the only problem; "" for none.
		problem string
		// delegated is that of the claim on default/a; "-" if there is no claim.
		delegated string
	}{
		"Variable":               {child("  postBuild: {substitute: {V: \"${SECRET}\"}}\n"), "", "data.c to " + secret},
		"Target namespace":       {child("  targetNamespace: \"${NS}\"\n"), "its targetNamespace is left to " + secret, "-"},
		"Suspended":              {child("  suspend: ${X:=false}\n"), "its suspend is left to " + secret, "-"},
		"Patch":                  {child("  patches: [{patch: \"${X}\"}]\n"), "its patches is left to " + secret, "-"},
		"Absent and optional":    {from(", optional: true", "echo $$", "", ""), "", "data.c to " + settings},
		"Absent":                 {from("", "echo $$", "", ""), "", ""},
		"Declared":               {from("", "${V}", keys(""), ""), "", ""},
		"Only created":           {from("", "${V}", keys("kustomize.toolkit.fluxcd.io/ssa: IfNotPresent"), ""), "", "data.c to " + settings},
		"Not applied":            {from("", "${W}", keys("kustomize.toolkit.fluxcd.io/reconcile: disabled"), ""), "", "data.c to " + settings},
		"Suspended with the map": {from("", "${V}", keys(""), "  suspend: true\n"), "", "data.c to " + settings},
		"Other cluster with the same folder": {map[string]string{
			"clusters/prod/a.yaml": applies("edge", "  path: clusters/prod\n  kubeConfig: {secretRef: {name: edge}}\n"), "clusters/prod/b.yaml": configMap("a"),
		}, "Kustomization flux-system/edge of Flux applies to another cluster", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := loadFlux(t, tc.files, nil)
			found := strings.Join(problems(d), "\n")
			if !strings.Contains(found, tc.problem) || (tc.problem == "") != (found == "") {
				t.Errorf("problems %q, want %q", found, tc.problem)
			}
			if tc.delegated == "-" {
				if got := others(d); len(got) > 0 || !maybe(d, "web", "a") {
					t.Errorf("claims %q; any object may be declared", got)
				}
				return
			}
			var delegated []string
			for _, d := range claimOf(t, d, "default/a").Delegated {
				delegated = append(delegated, d.Path+" to "+d.To)
				if !d.Hidden {
					t.Errorf("output may show %s, which may contain a secret", d.Path)
				}
			}
			if diff := cmp.Diff(tc.delegated, strings.Join(delegated, ", ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFluxIgnore checks that files which a source leaves out are not declared.
func TestFluxIgnore(t *testing.T) {
	t.Parallel()
	const url = "https://git.example.org/shop.git"
	source := strings.Replace(gitRepository(url, "branch: main"), "spec: {", "spec: {ignore: \"/*\\n!/apps\\n/apps/skip.yaml\", ", 1)
	for _, first := range []string{"a", "z"} {
		d := loadFlux(t, map[string]string{
			"clusters/prod/" + first + ".yaml": source, "clusters/prod/b.yaml": applies("web", "  path: apps\n"),
			"apps/a.yaml": configMap("a"), "apps/skip.yaml": configMap("skip"), "apps/.github/b.yaml": configMap("b"),
		}, func(c *manifests.FluxConfig) { c.SameRepository = []string{url} })
		if got := strings.Join(others(d), " "); len(others(d)) != 2 || strings.Contains(got, "skip") || len(problems(d)) != 0 {
			t.Errorf("claims %q, problems %q", got, problems(d))
		}
	}
}
