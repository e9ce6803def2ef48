package manifests_test

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/chart/fetch"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// helmRelease returns the HelmRelease web/blog.
func helmRelease(spec string) string {
	return "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: blog, namespace: web}\nspec:\n" + spec
}

// ofRepository is the chart of a HelmRelease in a HelmRepository, with more of its spec.
func ofRepository(version, more string) string {
	return helmRelease("  chart: {spec: {chart: journal, version: " + version + ", sourceRef: {kind: HelmRepository, name: charts}}}\n" + more)
}

func helmRepository(url string) string {
	return "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: web}\nspec: {url: " + url + "}\n"
}

// loadReleases reads HelmReleases with charts from url.
func loadReleases(t *testing.T, url string, files map[string]string, change func(*manifests.FluxConfig)) model.Declaration {
	t.Helper()
	all := map[string]string{"clusters/prod/charts.yaml": helmRepository(url + "/charts")}
	maps.Copy(all, files)
	return loadFlux(t, all, func(c *manifests.FluxConfig) {
		c.Charts = []fetch.Entry{{URL: url + "/charts"}}
		if change != nil {
			change(c)
		}
	})
}

// delegated returns the fields of a claim that are not compared, with the reasons.
func delegated(c model.Claim) string {
	var all []string
	for _, d := range c.Delegated {
		all = append(all, d.Path+" to "+d.To)
	}
	return strings.Join(all, "; ")
}

// TestHelmRelease renders the chart of a HelmRelease as helm-controller does.
func TestHelmRelease(t *testing.T) {
	t.Parallel()
	url := chartRepository(t)
	const at = "clusters/prod/release.yaml:1 "
	d := loadReleases(t, url, map[string]string{"clusters/prod/release.yaml": ofRepository("1.0.0", "  values: {replicas: 3}\n  commonMetadata: {labels: {team: shop}}\n")}, nil)
	want := []string{
		at + "ConfigMap web/blog-web", at + "ConfigMap web/migrate", at + "CustomResourceDefinition.apiextensions.k8s.io posts.example.org",
		at + "Release.helm web/blog",
	}
	if diff := cmp.Diff(want, others(d)); diff != "" || len(d.Problems) > 0 {
		t.Fatal(diff, problems(d))
	}
	web := claimOf(t, d, "web/blog-web")
	if web.Value.At("data", "replicas").Str() != "3" || web.InstalledBy.ID != "web/blog" || delegated(web) != "" {
		t.Errorf("%v, installed by %v, delegated %s", web.Value, web.InstalledBy, delegated(web))
	}
	labels := map[string]string{}
	for _, f := range web.Value.At("metadata", "labels").Fields() {
		labels[f.Name] = f.Value.Str()
	}
	if diff := cmp.Diff(map[string]string{"team": "shop", "helm.toolkit.fluxcd.io/name": "blog", "helm.toolkit.fluxcd.io/namespace": "web"}, labels); diff != "" {
		t.Error(diff)
	}
	if got := delegated(claimOf(t, d, "web/migrate")); !strings.HasPrefix(got, "metadata.labels.team to what helm-controller does with hooks") {
		t.Errorf("the hook has %s", got)
	}
	made := claimOf(t, d, "web/web-blog")
	if made.Kind != "kubernetes/HelmChart.source.toolkit.fluxcd.io" || !made.OnlyLive || made.Value.At("spec", "version").Str() != "1.0.0" {
		t.Errorf("%+v", made)
	}
}

// TestHelmChartOfTemplate compares the HelmChart with the one that helm-controller applies.
func TestHelmChartOfTemplate(t *testing.T) {
	t.Parallel()
	url := chartRepository(t)
	for name, tc := range map[string]struct{ chart, metadata, wantMarks, wantSpec string }{
		"the interval of the release": {"", "", "null null",
			`{"chart":"journal","interval":"1h0m0s","reconcileStrategy":"ChartVersion","sourceRef":{"kind":"HelmRepository","name":"charts"},"version":"1.0.0"}`},
		"its own interval": {", interval: 90s, ignoreMissingValuesFiles: false", "", "null null",
			`{"chart":"journal","interval":"1m30s","reconcileStrategy":"ChartVersion","sourceRef":{"kind":"HelmRepository","name":"charts"},"version":"1.0.0"}`},
		"every field": {", reconcileStrategy: Revision, valuesFiles: [values.yaml], ignoreMissingValuesFiles: true, verify: {secretRef: {name: key}}",
			"metadata: {labels: {a: b}, annotations: {c: d}}, ", `{"a":"b"} {"c":"d"}`,
			`{"chart":"journal","ignoreMissingValuesFiles":true,"interval":"1h0m0s","reconcileStrategy":"Revision",` +
				`"sourceRef":{"kind":"HelmRepository","name":"charts"},"valuesFiles":["values.yaml"],"verify":{"provider":"cosign","secretRef":{"name":"key"}},"version":"1.0.0"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			release := helmRelease("  interval: 1h\n  chart: {" + tc.metadata + "spec: {chart: journal, version: 1.0.0, sourceRef: {apiVersion: source.toolkit.fluxcd.io/v1, kind: HelmRepository, name: charts}" + tc.chart + "}}\n")
			made := claimOf(t, loadReleases(t, url, map[string]string{"clusters/prod/release.yaml": release}, nil), "web/web-blog")
			metadata := made.Value.At("metadata")
			marks := string(metadata.At("labels").AppendJSON(nil)) + " " + string(metadata.At("annotations").AppendJSON(nil))
			if diff := cmp.Diff([]string{tc.wantMarks, tc.wantSpec}, []string{marks, string(made.Value.At("spec").AppendJSON(nil))}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestHelmReleaseSettings applies the settings of HelmReleases.
func TestHelmReleaseSettings(t *testing.T) {
	t.Parallel()
	url := chartRepository(t)
	values := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: values, namespace: web}\ndata:\n  values.yaml: \"replicas: 5\"\n  count: \"7\"\n"
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: keys, namespace: web}\nstringData: {key: hunter2}\n"
	const unknown = "data.replicas to Secret web/keys, from which Flux takes values"
	for name, tc := range map[string]struct {
		spec string
		more map[string]string
		// claims are the claims without those of Flux; replicas is the value of the first one. problem is part of the only problem.
		claims              []string
		replicas, delegated string
		problem             string
	}{
		"names":   {spec: "  targetNamespace: apps\n  storageNamespace: flux-system\n", claims: []string{"apps/apps-blog-web", "apps/migrate", "posts.example.org", "flux-system/apps-blog"}, replicas: "1"},
		"no CRDs": {spec: "  releaseName: other\n  install: {crds: Skip}\n", claims: []string{"web/migrate", "web/other-web", "web/other"}, replicas: "1"},
		"long":    {spec: "  releaseName: " + strings.Repeat("a", 60) + "\n  install: {crds: Skip}\n", claims: []string{"web/" + strings.Repeat("a", 40) + "-11ee391211c6-web", "web/migrate", "web/" + strings.Repeat("a", 40) + "-11ee391211c6"}, replicas: "1"},
		"values of a ConfigMap": {spec: "  valuesFrom: [{kind: ConfigMap, name: values}]\n", more: map[string]string{"values": values},
			replicas: "5"},
		"values in both": {spec: "  valuesFrom: [{kind: ConfigMap, name: values}]\n  values: {replicas: 9}\n", more: map[string]string{"values": values}, replicas: "9"},
		"target path":    {spec: "  valuesFrom: [{kind: ConfigMap, name: values, valuesKey: count, targetPath: replicas}]\n", more: map[string]string{"values": values}, replicas: "7"},
		"twice set": {spec: "  valuesFrom: [{kind: ConfigMap, name: values, valuesKey: count, targetPath: replicas}]\n  values: {replicas: 1}\n", more: map[string]string{"values": values},
			problem: "its valuesFrom sets replicas, which spec.values sets, too"},
		"optional":           {spec: "  valuesFrom: [{kind: ConfigMap, name: values, valuesKey: none, optional: true}]\n", more: map[string]string{"values": values}, replicas: "1"},
		"no key":             {spec: "  valuesFrom: [{kind: ConfigMap, name: values, valuesKey: none}]\n", more: map[string]string{"values": values}, problem: "its ConfigMap web/values has no key none"},
		"secret":             {spec: "  valuesFrom: [{kind: Secret, name: keys, valuesKey: key, targetPath: replicas}]\n", more: map[string]string{"keys": secret}, delegated: unknown},
		"not in git":         {spec: "  valuesFrom: [{kind: Secret, name: keys, valuesKey: key, targetPath: replicas, optional: true}]\n", delegated: unknown},
		"whole secret":       {spec: "  valuesFrom: [{kind: Secret, name: keys}]\n", more: map[string]string{"keys": secret}, problem: "its values come from Secret web/keys, which driftd does not read"},
		"decides":            {spec: "  valuesFrom: [{kind: Secret, name: keys, valuesKey: key, targetPath: cache.enabled}]\n", problem: "ConfigMap: its name is left to Secret web/keys, from which Flux takes values"},
		"in another cluster": {spec: "  kubeConfig: {secretRef: {name: edge}}\n", problem: "installs in another cluster"},
		"keeps values":       {spec: "  upgrade: {preserveValues: true}\n", problem: "spec.upgrade.preserveValues"},
		"namespace":          {spec: "  targetNamespace: \"A B\"\n", problem: "are no names of namespaces"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"clusters/prod/release.yaml": ofRepository("1.0.0", tc.spec)}
			for name, text := range tc.more {
				files["clusters/prod/"+name+".yaml"] = text
			}
			d := loadReleases(t, url, files, nil)
			got := strings.Join(problems(d), "\n")
			if !strings.Contains(got, tc.problem) || tc.problem == "" && got != "" || strings.Contains(got, "hunter2") {
				t.Errorf("problems %q", got)
			}
			if tc.problem != "" {
				return
			}
			var ids []string
			var web model.Claim
			for _, c := range d.Claims {
				if c.InstalledBy.ID == "" {
					continue
				}
				if ids = append(ids, c.ID); strings.HasSuffix(c.ID, "-web") {
					web = c
				}
			}
			slices.Sort(ids)
			slices.Sort(tc.claims)
			if len(tc.claims) > 0 && !slices.Equal(ids, tc.claims) {
				t.Errorf("claims %q", ids)
			}
			if got := delegated(web); got != tc.delegated || tc.replicas != "" && web.Value.At("data", "replicas").Str() != tc.replicas {
				t.Errorf("%v, delegated %q", web.Value, got)
			}
		})
	}
}

// TestHelmReleaseCharts reads charts only where git has them exactly and their place is permitted.
func TestHelmReleaseCharts(t *testing.T) {
	t.Parallel()
	url := chartRepository(t)
	from := func(ref string) string {
		return helmRelease("  chart: {spec: {chart: charts/blog, sourceRef: " + ref + "}}\n")
	}
	oci := func(ref string) map[string]string {
		return map[string]string{"release.yaml": helmRelease("  chartRef: {kind: OCIRepository, name: blog}\n"),
			"oci.yaml": "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: blog, namespace: web}\nspec: {url: \"oci://registry.example.org/blog\", ref: " + ref + "}\n"}
	}
	one := func(text string) map[string]string { return map[string]string{"release.yaml": text} }
	for name, tc := range map[string]struct {
		files   map[string]string
		change  func(*manifests.FluxConfig)
		problem string
	}{
		"range":               {one(ofRepository("1.x", "")), nil, "not an exact version"},
		"no version":          {one(ofRepository("\"*\"", "")), nil, "it has no exact version of the chart"},
		"other chart":         {one(ofRepository("2.0.0", "")), nil, "the archive has another version of the chart than 2.0.0"},
		"unknown version":     {one(ofRepository("3.0.0", "")), nil, "the repository does not have version 3.0.0"},
		"not permitted":       {one(ofRepository("1.0.0", "")), func(c *manifests.FluxConfig) { c.Charts = nil }, "from where driftd fetches no charts: list the URL in the setting charts"},
		"near":                {one(ofRepository("1.0.0", "")), func(c *manifests.FluxConfig) { c.Charts = []fetch.Entry{{URL: url + "/chart"}} }, "list the URL in the setting charts"},
		"credentials":         {map[string]string{"release.yaml": ofRepository("1.0.0", ""), "charts.yaml": helmRepository(strings.Replace(url, "//", "//robot:hunter2@", 1) + "/charts")}, nil, "the URL of its chart has a user name or a password, which driftd does not use"},
		"leads out":           {one(strings.Replace(ofRepository("1.0.0", ""), "chart: journal", "chart: ../../journal", 1)), nil, "is not the name of a chart"},
		"no source":           {one(strings.Replace(ofRepository("1.0.0", ""), "name: charts", "name: others", 1)), nil, "HelmRepository web/others, which is not in git"},
		"in git":              {one(from("{kind: GitRepository, name: flux-system, namespace: flux-system}")), nil, ""},
		"in git, by revision": {one(strings.Replace(from("{kind: GitRepository, name: flux-system}"), "spec: {chart:", "spec: {reconcileStrategy: Revision, chart:", 1)), nil, ""},
		"bucket":              {one(from("{kind: Bucket, name: all}")), nil, "its chart comes from Bucket web/all"},
		"oci range":           {oci("{semver: 1.x}"), nil, "its OCIRepository has no exact tag or digest"},
		"oci latest":          {oci("{tag: latest}"), func(c *manifests.FluxConfig) { c.Charts = []fetch.Entry{{URL: "oci://registry.example.org"}} }, "is not an exact version"},
		"oci not permitted":   {oci("{tag: 1.0.0}"), nil, "its chart comes from oci://registry.example.org/blog, from where driftd fetches no charts"},
		"suspended source":    {map[string]string{"release.yaml": ofRepository("1.0.0", ""), "charts.yaml": strings.Replace(helmRepository(url), "spec: {", "spec: {suspend: true, ", 1)}, nil, "which is suspended in git"},
		"same release": {map[string]string{"release.yaml": ofRepository("1.0.0", ""), "second.yaml": strings.Replace(ofRepository("1.0.0", "  releaseName: blog\n"), "name: blog,", "name: second,", 1)},
			nil, "its release web/blog is that of HelmRelease web/blog, too"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := blog()
			for name, text := range tc.files {
				files["clusters/prod/"+name] = text
			}
			d := loadReleases(t, url, files, tc.change)
			got := strings.Join(problems(d), "\n")
			if !strings.Contains(got, tc.problem) || tc.problem == "" && got != "" {
				t.Errorf("problems %q", got)
			}
			if tc.problem != "" && !maybe(d, "web", "anything") {
				t.Error("an object in the namespace of the release may be declared")
			}
			if tc.problem == "" && claimOf(t, d, "web/blog-web").Value.At("data", "replicas").Str() != "1" {
				t.Errorf("claims %q", claims(d))
			}
		})
	}
}

// TestHelmReleaseOfOthers reads HelmReleases that Kustomizations change.
func TestHelmReleaseOfOthers(t *testing.T) {
	t.Parallel()
	url := chartRepository(t)
	load := func(spec, release string) model.Declaration {
		return loadReleases(t, url, map[string]string{"clusters/prod/web.yaml": applies("web", "  path: apps\n"+spec), "apps/release.yaml": release}, nil)
	}
	d := load("  postBuild: {substitute: {N: \"4\"}}\n", ofRepository("1.0.0", "  values: {replicas: \"${N}\"}\n"))
	if got := claimOf(t, d, "web/blog-web").Value.At("data", "replicas").Str(); got != "4" {
		t.Errorf("replicas %s", got)
	}
	d = load("  postBuild: {substituteFrom: [{kind: Secret, name: keys}]}\n", ofRepository("1.0.0", "  values: {replicas: \"a.${N}\"}\n"))
	const secret = "Secret flux-system/keys, from which Flux takes variables"
	if got := delegated(claimOf(t, d, "web/blog-web")); got != "data.replicas to "+secret || len(d.Problems) > 0 {
		t.Errorf("%q, %q", got, problems(d))
	}
	if got := delegated(claimOf(t, d, "web/blog")); !strings.Contains(got, secret) {
		t.Errorf("the release has %q", got)
	}
	d = load("  postBuild: {substituteFrom: [{kind: Secret, name: keys}]}\n", ofRepository("\"${N}\"", ""))
	if got := strings.Join(problems(d), "\n"); !strings.Contains(got, "a field of its spec, besides the values, is left to "+secret) {
		t.Errorf("%q", got)
	}
	d = load("  suspend: true\n", ofRepository("1.0.0", ""))
	if got := strings.Join(problems(d), "\n"); !strings.Contains(got, "Kustomization flux-system/web of Flux is suspended in git") {
		t.Errorf("%q", got)
	}
	d = load("", ofRepository("1.0.0", "  suspend: true\n"))
	if got := claimOf(t, d, "web/blog-web").Unchecked; !strings.Contains(got, "HelmRelease web/blog is suspended in git") {
		t.Errorf("%q", got)
	}
}

// TestHelmReleaseVersion renders the chart of an OCIRepository with the digest in its version, as helm-controller does.
func TestHelmReleaseVersion(t *testing.T) {
	t.Parallel()
	files := blog()
	files["charts/blog/templates/web.yaml"] += "  chart: {{ .Chart.Version }}\n"
	chart := packedFiles(t, files)
	blob := fmt.Sprintf("sha256:%x", sha256.Sum256(chart))
	manifest := fmt.Sprintf(`{"schemaVersion": 2, "layers": [{"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "digest": %q, "size": %d}]}`, blob, len(chart))
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(manifest)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v2/charts/journal/manifests/1.0.0", "/v2/charts/journal/manifests/" + digest:
			w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
			w.Header().Set("Docker-Content-Digest", digest)
			_, _ = w.Write([]byte(manifest))
		case "/v2/charts/journal/blobs/" + blob:
			_, _ = w.Write(chart)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(s.Close)
	host := strings.Replace(s.URL, "http:", "oci:", 1)
	for name, tc := range map[string]struct {
		ref, want string
		off       bool
	}{
		"tag": {"{tag: 1.0.0}", "1.0.0+" + digest[7:19], false}, "digest": {"{tag: latest, digest: \"" + digest + "\"}", "1.0.0+" + digest[7:19], false}, "not tracked": {"{tag: 1.0.0}", "1.0.0", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := loadReleases(t, s.URL, map[string]string{
				"clusters/prod/release.yaml": helmRelease("  chartRef: {kind: OCIRepository, name: blog}\n"),
				"clusters/prod/oci.yaml":     "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: blog, namespace: web}\nspec: {url: \"" + host + "/charts/journal\", ref: " + tc.ref + "}\n",
			}, func(c *manifests.FluxConfig) {
				c.Charts, c.DisableChartDigestTracking = []fetch.Entry{{URL: host + "/charts"}}, tc.off
			})
			if len(d.Problems) > 0 {
				t.Fatal(problems(d))
			}
			if got := claimOf(t, d, "web/blog-web").Value.At("data", "chart").Str(); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			if got := delegated(claimOf(t, d, "posts.example.org")); !strings.Contains(got, "with definitions that exist") {
				t.Errorf("the definition has %q", got)
			}
		})
	}
}

// TestHelmReleaseAgain renders a chart once, and asks the server once. While it does not answer, the release is unchecked, and
// nothing in its namespace counts as missing.
func TestHelmReleaseAgain(t *testing.T) {
	t.Parallel()
	chart, down, requests := packed(t), false, []string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.URL.Path)
		switch {
		case down:
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/charts/index.yaml":
			_, _ = fmt.Fprintf(w, "entries:\n  journal: [{version: 1.0.0, digest: %x, urls: [journal.tgz]}]\n", sha256.Sum256(chart))
		default:
			_, _ = w.Write(chart)
		}
	}))
	t.Cleanup(s.Close)
	config := manifests.FluxDefaults()
	config.Charts = []fetch.Entry{{URL: s.URL}}
	config.Dir = deploy(t, map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", "clusters/prod/charts.yaml": helmRepository(s.URL + "/charts"), "clusters/prod/release.yaml": ofRepository("1.0.0", ""),
		"clusters/prod/second.yaml": strings.Replace(ofRepository("1.0.0", ""), "name: blog,", "name: second,", 1),
	}) + "/clusters/prod"
	loader := openFlux(t, config)
	for range 2 {
		d, err := loader.Load(t.Context())
		if err != nil || len(d.Problems) > 0 || len(requests) != 2 || claimOf(t, d, "web/blog-web").Address == "" || claimOf(t, d, "web/second-web").Address == "" {
			t.Fatalf("%v, %q, requests %q", err, problems(d), requests)
		}
	}
	down = true
	d, err := openFlux(t, config).Load(t.Context())
	if err != nil || len(d.Problems) != 2 || !strings.Contains(d.Problems[0].Reason, "the server answers 502 Bad Gateway") || !maybe(d, "web", "blog-web") {
		t.Errorf("%v, %q", err, problems(d))
	}
}

// TestApplicationCharts renders charts of Applications with values from the repository.
func TestApplicationCharts(t *testing.T) {
	t.Parallel()
	url := chartRepository(t)
	chart := func(more string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: blog}\nspec:\n  destination: {server: 'https://kubernetes.default.svc', namespace: web}\n" +
			"  sources:\n  - {repoURL: '" + ownURL + "', targetRevision: main, ref: values}\n  - {repoURL: '" + url + "/charts', chart: journal, " + more + "}\n"
	}
	for name, tc := range map[string]struct{ source, replicas, problem string }{
		"values":      {"targetRevision: 1.0.0, helm: {valuesObject: {replicas: 4}}", "4", ""},
		"ref":         {"targetRevision: 1.0.0, helm: {valueFiles: [$values/envs/prod.yaml]}", "3", ""},
		"parameters":  {"targetRevision: 1.0.0, helm: {parameters: [{name: replicas, value: '6'}]}", "6", ""},
		"in chart":    {"targetRevision: 1.0.0, helm: {valueFiles: [prod.yaml]}", "", "has values at prod.yaml in the chart itself"},
		"range":       {"targetRevision: 1.*", "", "is not an exact version"},
		"no revision": {"helm: {}", "", "has no exact targetRevision"},
		"wrong":       {"targetRevision: 2.0.0", "", "the archive has another version"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"apps/blog.yaml": chart(tc.source), "envs/prod.yaml": "replicas: 3\n"}
			d := loadArgo(t, files, func(c *manifests.ArgoCDConfig) {
				c.Charts, c.SourceBranch = []fetch.Entry{{URL: url + "/charts"}}, "main"
			})
			got := strings.Join(problems(d), "\n")
			if !strings.Contains(got, tc.problem) || tc.problem == "" && got != "" {
				t.Fatalf("problems %q", got)
			}
			if tc.problem != "" {
				return
			}
			web := claimOf(t, d, "web/blog-web")
			if web.Address != "apps/blog.yaml:1" || web.Value.At("data", "replicas").Str() != tc.replicas || slices.Contains(web.AlsoIn, "envs/prod.yaml") != (name == "ref") {
				t.Errorf("%s, %v, also in %q", web.Address, web.Value, web.AlsoIn)
			}
		})
	}
}

// TestHelmReleaseHistory checks that the objects of a chart have a gap as their history, instead of one without versions.
func TestHelmReleaseHistory(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	files := blog()
	delete(files, ".git/HEAD")
	files["clusters/prod/release.yaml"] = helmRelease("  chart: {spec: {chart: charts/blog, sourceRef: {kind: GitRepository, name: flux-system}}}\n")
	files["clusters/prod/a.yaml"] = configMap("a")
	h.commit(files)
	h.commit(map[string]string{"charts/blog/values.yaml": "replicas: 2\ncache: {enabled: false}\n"})
	config := manifests.FluxDefaults()
	config.Git, config.Path = h.dir, "clusters/prod"
	loader := openFlux(t, config)
	d, err := loader.Load(t.Context())
	if err != nil || len(d.Problems) > 0 {
		t.Fatal(err, problems(d))
	}
	web, plain := claimOf(t, d, "web/blog-web"), claimOf(t, d, "default/a")
	if web.Value.At("data", "replicas").Str() != "2" || web.Address != "charts/blog/templates/web.yaml" {
		t.Errorf("%s, %v", web.Address, web.Value)
	}
	past, err := loader.(declared.Historian).History(t.Context(), d.Revision, []*model.Claim{&web, &plain})
	if err != nil || len(past.Pasts) != 2 || past.Pasts[0].Gap != "charts of HelmReleases are not rendered for earlier commits" || past.Pasts[1].Gap != "" {
		t.Errorf("%+v, %v", past, err)
	}
}
