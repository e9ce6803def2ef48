package manifests_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// postRendered reads a HelmRelease with a chart in git, of which the objects go through post-renderers.
func postRendered(t *testing.T, spec string, more map[string]string) model.Declaration {
	t.Helper()
	files := blog()
	files["charts/blog/templates/app.yaml"] = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: {{ .Release.Name }}.app, labels: {app: web}}\nspec:\n  replicas: {{ .Values.replicas }}\n" +
		"  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: ghcr.io/shop/web:1.0}]}\n"
	files["clusters/prod/release.yaml"] = helmRelease("  chart: {spec: {chart: charts/blog, sourceRef: {kind: GitRepository, name: flux-system}}}\n" + spec)
	maps.Copy(files, more)
	return loadFlux(t, files, nil)
}

// image returns the image of the first container.
func image(c model.Claim) string {
	for _, container := range c.Value.At("spec", "template", "spec", "containers").Items() {
		return container.At("image").Str()
	}
	return ""
}

// TestPostRenderers changes the objects of a chart as helm-controller does.
func TestPostRenderers(t *testing.T) {
	t.Parallel()
	patches := func(text string) string { return "  postRenderers: [{kustomize: {patches: [" + text + "]}}]\n" }
	const digest = "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
	for name, tc := range map[string]struct {
		reason, spec string
		image        string
		replicas     string
		problem      string
		without      bool
	}{
		"nothing":         {spec: patches(""), image: "ghcr.io/shop/web:1.0", replicas: "1"},
		"merge":           {spec: patches("{patch: 'apiVersion: apps/v1\n\n          kind: Deployment\n\n          metadata: {name: blog.app}\n\n          spec: {replicas: 4}'}"), image: "ghcr.io/shop/web:1.0", replicas: "4"},
		"JSON":            {spec: patches("{patch: '- {op: replace, path: /spec/replicas, value: 5}', target: {kind: Deployment, name: 'bl.*p'}}"), replicas: "5"},
		"whole names":     {reason: "A regular expression must match the whole name.", spec: patches("{patch: '- {op: replace, path: /spec/replicas, value: 5}', target: {kind: Deployment, name: 'blog'}}"), replicas: "1"},
		"dots":            {reason: "A dot matches any character.", spec: patches("{patch: '- {op: replace, path: /spec/replicas, value: 5}', target: {name: 'b.og.app'}}"), replicas: "5"},
		"labels":          {spec: patches("{patch: '- {op: replace, path: /spec/replicas, value: 5}', target: {labelSelector: 'app in (web)'}}"), replicas: "5"},
		"in order":        {reason: "The second one gets the output of the first one.", spec: "  postRenderers:\n  - kustomize: {images: [{name: ghcr.io/shop/web, newName: mirror/web}]}\n  - kustomize: {images: [{name: mirror/web, newTag: '2.0'}]}\n", image: "mirror/web:2.0", replicas: "1"},
		"one image twice": {spec: "  postRenderers: [{kustomize: {images: [{name: ghcr.io/shop/web, newTag: '2.0'}, {name: ghcr.io/shop/web, newName: mirror/web}]}}]\n", image: "mirror/web:2.0", replicas: "1"},
		"digest":          {spec: "  postRenderers: [{kustomize: {images: [{name: ghcr.io/shop/web, digest: '" + digest + "'}]}}]\n", image: "ghcr.io/shop/web@" + digest, replicas: "1"},
		"no object":       {reason: "A target that matches nothing is fine.", spec: patches("{patch: '- {op: remove, path: /spec}', target: {kind: StatefulSet}}"), replicas: "1"},
		"annotations":     {reason: "The template is found, although the annotations are replaced.", spec: patches("{patch: '- {op: add, path: /metadata/annotations, value: {a: b}}', target: {kind: Deployment}}"), replicas: "1"},
		"one more":        {reason: "Helm gives each object annotations before.", spec: patches("{patch: '- {op: add, path: /metadata/annotations/a, value: b}', target: {kind: Deployment}}"), replicas: "1"},
		"removed":         {spec: patches("{patch: '$patch: delete\n\n          apiVersion: apps/v1\n\n          kind: Deployment\n\n          metadata: {name: blog.app}'}"), without: true},
		"other fields":    {reason: "The API has no path and no options.", spec: patches("{path: ../../secret.yaml, options: {allowNameChange: true}, patch: '- {op: replace, path: /spec/replicas, value: 5}', target: {kind: Deployment}}"), replicas: "5"},
		"no match": {spec: patches("{patch: 'apiVersion: v1\n\n          kind: Secret\n\n          metadata: {name: hunter2}\n\n          stringData: {a: hunter2}'}"),
			problem: "Flux cannot install it: postRenderers[0] cannot be applied: no resource matches strategic merge patch: no matches for Id"},
		"no patch":   {spec: patches("{patch: 'https://git.example.org/hunter2.yaml', target: {kind: Deployment}}"), problem: "unable to parse SM or JSON patch"},
		"no path":    {spec: patches("{patch: '- {op: add, path: /spec/hunter2/a, value: 1}', target: {kind: Deployment}}"), problem: "add operation does not apply"},
		"no target":  {spec: patches("{patch: '- {op: remove, path: /spec/hunter2}'}"), problem: "must specify a target for JSON patch"},
		"regexp":     {spec: patches("{patch: '- {op: test, path: /kind, value: a}', target: {name: 'hunter2('}}"), problem: "postRenderers[0] cannot be applied"},
		"malformed":  {spec: "  postRenderers: [{kustomize: {patches: hunter2}}]\n", problem: "postRenderers[0] is malformed"},
		"a strategy": {spec: "  postRenderStrategy: hunter2\n" + patches(""), problem: "its postRenderStrategy is none that Flux has"},
		"no field": {reason: "v2 has patches only.", spec: "  postRenderers: [{kustomize: {patchesStrategicMerge: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: blog.app}, spec: {replicas: 6}}]}}]\n",
			replicas: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := postRendered(t, tc.spec, nil)
			got := strings.Join(problems(d), "\n")
			if !strings.Contains(got, tc.problem) || tc.problem == "" && got != "" || strings.Contains(got, "hunter2") {
				t.Fatalf("problems %q", got)
			}
			if tc.problem != "" {
				if !maybe(d, "web", "anything") {
					t.Error("an object in the namespace of the release may be declared")
				}
				return
			}
			if tc.without {
				if got := strings.Join(claims(d), "\n"); strings.Contains(got, "blog.app") {
					t.Error(got)
				}
				return
			}
			app := claimOf(t, d, "web/blog.app")
			if app.Address != "charts/blog/templates/app.yaml" || app.Value.At("metadata", "labels", "helm.toolkit.fluxcd.io/name").Str() != "blog" {
				t.Errorf("%s has %v", app.Address, app.Value)
			}
			if got := app.Value.At("spec", "replicas").Text(); got != tc.replicas || tc.image != "" && image(app) != tc.image {
				t.Errorf("replicas %s, image %s. %s", got, image(app), tc.reason)
			}
			if also := strings.Join(app.AlsoIn, " "); !strings.Contains(also, "clusters/prod/release.yaml") {
				t.Errorf("also in %s", also)
			}
		})
	}
}

// TestPostRenderersOfOldVersions reads the fields for patches that v2beta2 has, in the order in which kustomize applies them.
func TestPostRenderersOfOldVersions(t *testing.T) {
	t.Parallel()
	release := strings.Replace(helmRelease("  chart: {spec: {chart: charts/blog, sourceRef: {kind: GitRepository, name: flux-system}}}\n"), "/v2\n", "/v2beta2\n", 1)
	d := postRendered(t, "", map[string]string{"clusters/prod/release.yaml": release + "  postRenderers:\n  - kustomize:\n" +
		"      patchesStrategicMerge: [{apiVersion: v1, kind: ConfigMap, metadata: {name: blog-web}, data: {a: first, b: first}}]\n" +
		"      patches: [{patch: '- {op: replace, path: /data/b, value: second}', target: {name: blog-web}}]\n" +
		"      patchesJson6902: [{patch: [{op: add, path: /data/c, value: third}], target: {version: v1, kind: ConfigMap, name: blog-web}}]\n"})
	data := claimOf(t, d, "web/blog-web").Value.At("data")
	if got := []string{data.At("a").Str(), data.At("b").Str(), data.At("c").Str()}; !cmp.Equal(got, []string{"first", "second", "third"}) || len(d.Problems) > 0 {
		t.Errorf("%q, %q", got, problems(d))
	}
}

// TestPostRenderersHooks checks which objects of hooks are post-rendered: helm-controller 1.6 does so by default, and older ones do not.
func TestPostRenderersHooks(t *testing.T) {
	t.Parallel()
	const patch = "  postRenderers: [{kustomize: {patches: [{patch: '- {op: add, path: /data, value: {a: b}}', target: {kind: ConfigMap, name: migrate}}]}}]\n"
	const label = "helm.toolkit.fluxcd.io/name"
	for name, tc := range map[string]struct {
		strategy, data, label, delegated string
		crd                              bool
	}{
		"unset":    {data: "b", label: "blog", delegated: "data.a to whether helm-controller post-renders hooks (spec.postRenderStrategy)"},
		"nohooks":  {strategy: "nohooks"},
		"combined": {strategy: "combined", data: "b", label: "blog"},
		"separate": {strategy: "separate", data: "b", label: "blog"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := patch
			if tc.strategy != "" {
				spec += "  postRenderStrategy: " + tc.strategy + "\n"
			}
			d := postRendered(t, spec, nil)
			hook := claimOf(t, d, "web/migrate")
			if got := []string{hook.Value.At("data", "a").Str(), hook.Value.At("metadata", "labels", label).Str()}; !cmp.Equal(got, []string{tc.data, tc.label}) || len(d.Problems) > 0 {
				t.Errorf("%q, %q", got, problems(d))
			}
			if got := delegated(hook); !strings.Contains(got, tc.delegated) || tc.delegated == "" && got != "" {
				t.Errorf("delegated %s", got)
			}
			if got := delegated(claimOf(t, d, "web/blog-web")); got != "" {
				t.Errorf("another object has %s", got)
			}
		})
	}
}

// TestPostRenderersDuplicates renders a hook with the name of another object, which only two of the strategies can.
func TestPostRenderersDuplicates(t *testing.T) {
	t.Parallel()
	twice := map[string]string{"charts/blog/templates/more.yaml": configMap("migrate")}
	for strategy, problem := range map[string]string{"combined": "may not add resource with an already registered id", "separate": "", "nohooks": "", "\"\"": ""} {
		d := postRendered(t, "  postRenderStrategy: "+strategy+"\n  postRenderers: [{kustomize: {images: [{name: a, newTag: b}]}}]\n", twice)
		if got := strings.Join(problems(d), "\n"); !strings.Contains(got, problem) || problem == "" && got != "" {
			t.Errorf("%s: %q", strategy, got)
		}
	}
}

// TestPostRenderersUnknown follows values that driftd must not use, or cannot compare, through post-renderers.
func TestPostRenderersUnknown(t *testing.T) {
	t.Parallel()
	const copied = "  postRenderers: [{kustomize: {patches: [{patch: '- {op: copy, from: /data/replicas, path: /data/copy}', target: {name: blog-web}}]}}]\n"
	const secret = "Secret web/keys, from which Flux takes values"
	d := postRendered(t, "  valuesFrom: [{kind: Secret, name: keys, valuesKey: key, targetPath: replicas}]\n"+copied, nil)
	if got := delegated(claimOf(t, d, "web/blog-web")); got != "data.copy to "+secret+"; data.replicas to "+secret || len(d.Problems) > 0 {
		t.Errorf("%s, %q", got, problems(d))
	}
	chance := map[string]string{"charts/blog/templates/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: blog-web}\ndata: {replicas: {{ uuidv4 }}}\n"}
	d = postRendered(t, copied, chance)
	web := claimOf(t, d, "web/blog-web")
	if len(web.Violations) != 1 || !strings.Contains(web.Violations[0].Reason, "data.copy, data.replicas") {
		t.Errorf("%+v, %q", web.Violations, problems(d))
	}
	some := map[string]string{"charts/blog/templates/web.yaml": "{{ if .Capabilities.APIVersions.Has \"monitoring.coreos.com/v1\" }}\n" + configMap("blog-web") + "{{ end }}\n"}
	const needed = "  postRenderers: [{kustomize: {patches: [{patch: 'apiVersion: v1\n\n          kind: ConfigMap\n\n          metadata: {name: blog-web}\n\n          data: {a: c}'}]}}]\n"
	d = postRendered(t, needed, some)
	if web := claimOf(t, d, "web/blog-web"); web.Value.At("data", "a").Str() != "c" || len(d.Problems) > 0 {
		t.Errorf("%v, %q", web.Value, problems(d))
	}
	d = postRendered(t, "  postRenderers: [{kustomize: {patches: [{patch: '- {op: add, path: /stringData, value: {key: hunter2}}', target: {kind: Secret}}]}}]\n",
		map[string]string{"charts/blog/templates/more.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: keys}\n"})
	if keys := claimOf(t, d, "web/keys"); strings.Contains(string(keys.Value.AppendJSON(nil)), "hunter2") || keys.Value.At("data", "key").IsNull() || len(d.Problems) > 0 {
		t.Errorf("%s, %q", keys.Value.AppendJSON(nil), problems(d))
	}
	files := map[string]string{"clusters/prod/web.yaml": applies("web", "  path: apps\n  postBuild: {substituteFrom: [{kind: Secret, name: keys}]}\n"),
		"apps/release.yaml": strings.Replace(ofRepository("1.0.0", copied), "/data/copy", "/data/${KEY}", 1)}
	d = loadFlux(t, files, nil)
	if got := strings.Join(problems(d), "\n"); !strings.Contains(got, "a field of its spec, besides the values, is left to Secret flux-system/keys") {
		t.Errorf("%q", got)
	}
}

// TestPostRenderersBounds ends post-renderers that make a huge output.
func TestPostRenderersBounds(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'k'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(c-1)+", ", 10), ", ") + "]\n"
	}
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: blog-web}\ndata:\n  " + strings.ReplaceAll(bomb, "\n", "\n  ")
	quoted := string(model.StringOf(text).AppendJSON(nil))
	d := postRendered(t, "  postRenderers: [{kustomize: {patches: [{patch: "+quoted+"}]}}]\n", nil)
	if got := strings.Join(problems(d), "\n"); got == "" || !maybe(d, "web", "anything") {
		t.Errorf("problems %q", got)
	}
}

// TestHelmReleaseTexts reads words such as yes without quotes as helm-controller does, with and without post-renderers: to Helm alone they are booleans.
func TestHelmReleaseTexts(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"", "  postRenderers: [{kustomize: {images: []}}]\n"} {
		d := postRendered(t, spec+"  values: {replicas: 'no'}\n", map[string]string{
			"charts/blog/templates/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: {{ .Values.replicas }}, b: 2020-01-01, c: 'on'}\n",
		})
		data := claimOf(t, d, "web/web").Value.At("data")
		if got := []string{data.At("a").Str(), data.At("b").Str(), data.At("c").Str()}; !cmp.Equal(got, []string{"no", "2020-01-01T00:00:00Z", "on"}) || len(d.Problems) > 0 {
			t.Errorf("%v, %q", data, problems(d))
		}
	}
}
