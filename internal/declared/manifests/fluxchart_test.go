package manifests_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// TestChartsInGit checks what source-controller makes of a chart in git.
func TestChartsInGit(t *testing.T) {
	t.Parallel()
	const source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: web}\nspec:\n  url: https://git.example.org/shop/fleet.git\n  ref: {branch: main}\n"
	const chance = "data.version to the version of the HelmChart, which Flux completes"
	secret := "secret: ENC[AES256_GCM,data:x]\n"
	for name, tc := range map[string]struct {
		spec, ignore string
		more         map[string]string
		// replicas is the value in the object of the chart, delegated are its fields that are not compared, also a further file of it, and problem a part of the
		// only problem.
		replicas, delegated, also, problem string
	}{
		"plain":                  {replicas: "1"},
		"by revision":            {spec: "reconcileStrategy: Revision", replicas: "1", delegated: chance},
		"values files":           {spec: "valuesFiles: [charts/blog/values.yaml, envs/prod.yaml]", more: map[string]string{"envs/prod.yaml": "replicas: 7\n"}, replicas: "7", delegated: chance, also: "envs/prod.yaml"},
		"the last one wins":      {spec: "valuesFiles: [envs/prod.yaml, ./charts/blog/values.yaml]", more: map[string]string{"envs/prod.yaml": "replicas: 7\n"}, replicas: "1", delegated: chance, also: "envs/prod.yaml"},
		"no file":                {spec: "valuesFiles: [charts/blog/values.yaml, envs/none.yaml]", problem: "its file of values envs/none.yaml cannot be read: no such file"},
		"no file, ignored":       {spec: "valuesFiles: [charts/blog/values.yaml, envs/none.yaml], ignoreMissingValuesFiles: true", replicas: "1", delegated: chance},
		"none of the files":      {spec: "valuesFiles: [envs/none.yaml], ignoreMissingValuesFiles: true", problem: "none of its valuesFiles is there"},
		"outside":                {spec: "valuesFiles: [../../etc/values.yaml]", problem: "its file of values etc/values.yaml cannot be read: no such file"},
		"a list":                 {spec: "valuesFiles: [envs/list.yaml]", more: map[string]string{"envs/list.yaml": "[1]\n"}, problem: "envs/list.yaml cannot be read: it is not a map"},
		"not YAML":               {spec: "valuesFiles: [envs/bad.yaml]", more: map[string]string{"envs/bad.yaml": "a: [\n"}, problem: "envs/bad.yaml cannot be read: it is not one document of YAML"},
		"SOPS":                   {spec: "valuesFiles: [envs/sops.yaml]", more: map[string]string{"envs/sops.yaml": secret}, problem: "envs/sops.yaml cannot be read: it is encrypted with SOPS"},
		"a huge file":            {spec: "valuesFiles: [envs/huge.yaml]", more: map[string]string{"envs/huge.yaml": "a: " + strings.Repeat("x", 256<<10)}, problem: "envs/huge.yaml cannot be read: "},
		"an ignored values file": {spec: "valuesFiles: [charts/blog/values.yaml, envs/prod.yaml]", ignore: "/envs", more: map[string]string{"envs/prod.yaml": "replicas: 7\n"}, problem: "envs/prod.yaml cannot be read: it is excluded"},
		"an ignored template":    {ignore: "/charts/blog/templates/more.yaml", more: map[string]string{"charts/blog/templates/more.yaml": "{{ fail \"never\" }}"}, replicas: "1"},
		"a file in the chart":    {more: map[string]string{"charts/blog/.sourceignore": "/templates/more.yaml\n", "charts/blog/templates/more.yaml": "{{ fail \"never\" }}"}, replicas: "1"},
		"a file above the chart": {more: map[string]string{"charts/.sourceignore": "more.yaml\n", "charts/blog/templates/more.yaml": "{{ fail \"never\" }}"}, replicas: "1"},
		"all but the chart":      {ignore: "/*\n    !/charts", replicas: "1"},
		"an ignored chart":       {ignore: "/charts", problem: "a .sourceignore, or spec.ignore of its source, excludes its chart"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := blog()
			maps.Copy(files, tc.more)
			files["charts/blog/templates/web.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {replicas: {{ .Values.replicas | quote }}, version: {{ .Chart.Version | quote }}}\n"
			files["clusters/prod/release.yaml"] = helmRelease("  chart: {spec: {chart: charts/blog, sourceRef: {kind: GitRepository, name: flux-system}, " + tc.spec + "}}\n")
			files["clusters/prod/source.yaml"] = source
			if tc.ignore != "" {
				files["clusters/prod/source.yaml"] += "  ignore: |\n    " + tc.ignore + "\n"
			}
			d := loadFlux(t, files, func(c *manifests.FluxConfig) {
				c.SameRepository, c.SourceBranch = []string{"https://git.example.org/shop/fleet.git"}, "main"
			})
			if checkRefused(t, d, tc.problem) {
				return
			}
			web := claimOf(t, d, "web/web")
			if diff := cmp.Diff([]string{tc.replicas, tc.delegated}, []string{web.Value.At("data", "replicas").Str(), delegated(web)}); diff != "" {
				t.Error(diff)
			}
			if also := strings.Join(web.AlsoIn, " "); !strings.Contains(also, tc.also) {
				t.Errorf("also in %s", also)
			}
		})
	}
}

// TestValuesFilesOfFetchedCharts replaces the values of a fetched chart by those of its files, as source-controller does.
func TestValuesFilesOfFetchedCharts(t *testing.T) {
	t.Parallel()
	files := blog()
	files["charts/blog/templates/web.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: blog-web}\ndata: {replicas: {{ .Values.replicas | quote }}, a: {{ .Values.a | quote }}, version: {{ .Chart.Version | quote }}}\n"
	files["charts/blog/envs/prod.yaml"], files["charts/blog/a.yaml"] = "replicas: 7\ncache: {enabled: false}\n", "a: b\ncache: {enabled: false}\n"
	files["charts/blog/list.yaml"], files["charts/blog/sops.yaml"] = "[1]\n", "a: hunter2\nsops: {mac: x}\n"
	url := repositoryOf(t, packedFiles(t, files))
	const chance = "data.version to the version of the HelmChart, which Flux completes"
	for name, tc := range map[string]struct {
		files, more, spec    string
		replicas, a, problem string
	}{
		"one":              {files: "[./envs/prod.yaml]", replicas: "7"},
		"several":          {files: "[values.yaml, a.yaml]", replicas: "1", a: "b"},
		"the last one":     {files: "[envs/prod.yaml, values.yaml]", replicas: "1"},
		"spec":             {files: "[envs/prod.yaml]", spec: "  values: {replicas: 9}\n", replicas: "9"},
		"missing":          {files: "[values.yaml, none.yaml]", problem: "its file of values \"none.yaml\" is not in the chart"},
		"missing, ignored": {files: "[values.yaml, none.yaml]", more: ", ignoreMissingValuesFiles: true", replicas: "1"},
		"none":             {files: "[none.yaml]", more: ", ignoreMissingValuesFiles: true", problem: "none of its valuesFiles"},
		"outside":          {files: "[../../etc/passwd]", problem: "is not in the chart"},
		"of git":           {files: "[clusters/prod/release.yaml]", problem: "is not in the chart"},
		"a template":       {files: "[templates/web.yaml]", problem: "is not in the chart"},
		"a list":           {files: "[list.yaml]", problem: "\"list.yaml\" is not valid YAML"},
		"SOPS":             {files: "[sops.yaml]", problem: "encrypted with SOPS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := strings.Replace(ofRepository("1.0.0", tc.spec), "version:", "valuesFiles: "+tc.files+tc.more+", version:", 1)
			d := loadReleases(t, url, map[string]string{"clusters/prod/release.yaml": release}, nil)
			got := strings.Join(problems(d), "\n")
			if !strings.Contains(got, tc.problem) || tc.problem == "" && got != "" || strings.Contains(got, "hunter2") {
				t.Fatalf("problems %q", got)
			}
			if tc.problem != "" {
				return
			}
			web := claimOf(t, d, "web/blog-web")
			data := web.Value.At("data")
			if diff := cmp.Diff([]string{tc.replicas, tc.a, chance}, []string{data.At("replicas").Str(), data.At("a").Str(), delegated(web)}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// checkRefused checks that a declaration with a release in the namespace web has the problem, or none for "". It reports whether there is one.
func checkRefused(t *testing.T, d model.Declaration, problem string) bool {
	t.Helper()
	got := strings.Join(problems(d), "\n")
	if !strings.Contains(got, problem) || problem == "" && got != "" {
		t.Fatalf("problems %q", got)
	}
	if problem != "" && !maybe(d, "web", "anything") {
		t.Error("an object in the namespace of the release may be declared")
	}
	return problem != ""
}
