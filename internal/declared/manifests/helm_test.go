package manifests_test

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// blog is a chart with a subchart, a hook, a custom resource definition and notes.
func blog() map[string]string {
	return map[string]string{
		"charts/blog/Chart.yaml":                    "apiVersion: v2\nname: journal\nversion: 1.0.0\ndependencies:\n- {name: cache, version: 1.0.0, condition: cache.enabled}\n",
		"charts/blog/values.yaml":                   "replicas: 1\ncache: {enabled: false}\n",
		"charts/blog/templates/_helpers.tpl":        `{{- define "blog.name" }}{{ .Release.Name }}-web{{ end }}`,
		"charts/blog/templates/web.yaml":            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ include \"blog.name\" . }}\ndata:\n  replicas: {{ .Values.replicas | quote }}\n  place: {{ .Release.Namespace }}\n",
		"charts/blog/templates/NOTES.txt":           "kind: {{ .Release.Name }}",
		"charts/blog/templates/migrate.yaml":        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: migrate\n  annotations: {helm.sh/hook: pre-upgrade}\n",
		"charts/blog/crds/post.yaml":                "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: posts.example.org}\nspec:\n  group: example.org\n  scope: Namespaced\n  names: {kind: Post, plural: posts}\n  versions: [{name: v1, served: true, storage: true}]\n",
		"charts/blog/charts/cache/Chart.yaml":       "apiVersion: v2\nname: cache\nversion: 1.0.0\n",
		"charts/blog/charts/cache/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}-cache, namespace: caches}\n",
		"envs/prod.yaml":                            "replicas: 3\n",
		".git/HEAD":                                 "ref: refs/heads/main\n",
	}
}

func releaseConfig(dir string) manifests.HelmConfig {
	c := manifests.HelmDefaults()
	c.Dir, c.Namespace, c.Release = filepath.Join(dir, "charts/blog"), "web", "blog"
	return c
}

// loadRelease reads the declaration of a release.
func loadRelease(t *testing.T, config manifests.HelmConfig) (model.Declaration, error) {
	t.Helper()
	return openRelease(t, config, os.Args[0]).Load(t.Context())
}

func openRelease(t *testing.T, config manifests.HelmConfig, program string) declared.Loader {
	t.Helper()
	env := declared.Env{
		Name: "blog", Governs: []string{"prod"}, Sealer: model.NewSealer([]byte("key")), MaxMemory: 512 << 20,
		Log: slog.New(slog.DiscardHandler), Boxes: box.NewPool(), Helm: program, CacheDir: t.TempDir(),
	}
	loader, err := manifests.HelmDefinition().Open(env, func(into any) error {
		*into.(*manifests.HelmConfig) = config
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return loader
}

func TestRelease(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*manifests.HelmConfig)
		want   []string
		data   string
	}{
		"Defaults": {
			func(*manifests.HelmConfig) {},
			[]string{"blog/templates/web.yaml ConfigMap web/blog-web", "blog/templates/migrate.yaml ConfigMap web/migrate", "blog/crds/post.yaml CustomResourceDefinition.apiextensions.k8s.io posts.example.org", "blog/Chart.yaml Release.helm web/blog"},
			"1",
		},
		"Values": {
			func(c *manifests.HelmConfig) { c.Values = []string{"envs/prod.yaml"} },
			[]string{"blog/templates/web.yaml ConfigMap web/blog-web", "blog/templates/migrate.yaml ConfigMap web/migrate", "blog/crds/post.yaml CustomResourceDefinition.apiextensions.k8s.io posts.example.org", "blog/Chart.yaml Release.helm web/blog"},
			"3",
		},
		"Set": {
			func(c *manifests.HelmConfig) {
				c.Values, c.Set = []string{"envs/prod.yaml"}, []string{"replicas=5,cache.enabled=true"}
			},
			[]string{"blog/charts/cache/templates/a.yaml ConfigMap caches/blog-cache", "blog/templates/web.yaml ConfigMap web/blog-web", "blog/templates/migrate.yaml ConfigMap web/migrate", "blog/crds/post.yaml CustomResourceDefinition.apiextensions.k8s.io posts.example.org", "blog/Chart.yaml Release.helm web/blog"},
			"5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := deploy(t, blog())
			config := releaseConfig(dir)
			tc.change(&config)
			d, err := loadRelease(t, config)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{}, problems(d)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.want, claims(d)); diff != "" {
				t.Error(diff)
			}
			for _, c := range d.Claims {
				if c.ID == "web/blog-web" && c.Value.At("data", "replicas").Str() != tc.data {
					t.Errorf("replicas %s, want %s", c.Value.At("data", "replicas"), tc.data)
				}
				if c.MayBeAbsent != (c.ID == "web/migrate") {
					t.Errorf("%s may be absent: %t", c.ID, c.MayBeAbsent)
				}
			}
		})
	}
}

// TestReleaseProblems proves that a chart that cannot be rendered makes its objects unchecked,
// and that its values stay secret.
func TestReleaseProblems(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		files  map[string]string
		change func(*manifests.HelmConfig)
		want   string
	}{
		"Missing dependency": {"a chart that is not in the folder", map[string]string{"charts/blog/charts/cache/Chart.yaml": ""}, nil, "lacks the dependencies cache"},
		"Broken template":    {"a function that does not exist", map[string]string{"charts/blog/templates/x.yaml": "{{ nosuch }}"}, nil, `journal/templates/x.yaml:1: function "nosuch" not defined`},
		"Secret":             {"a template that fails with a value", map[string]string{"charts/blog/templates/x.yaml": `{{ fail (toJson .Values) }}`, "envs/prod.yaml": "a: {b: \"hunter2 & co\"}"}, values, "templates/x.yaml:1:3"},
		"Encoded":            {"a template that fails with an encoded value", map[string]string{"charts/blog/templates/x.yaml": `{{ fail (b64dec .Values.a) }}`, "envs/prod.yaml": "a: aHVudGVyMg=="}, values, "templates/x.yaml:1:3"},
		"Subchart":           {"a value of a subchart", map[string]string{"charts/blog/charts/cache/values.yaml": "password: hunter2", "charts/blog/charts/cache/templates/a.yaml": `{{ fail .Values.password }}`}, func(c *manifests.HelmConfig) { c.Set = []string{"cache.enabled=true"} }, "templates/a.yaml:1:3"},
		"Schema":             {"values that do not match the schema", map[string]string{"charts/blog/values.schema.json": `{"properties": {"replicas": {"type": "integer"}}}`, "envs/prod.yaml": "replicas: hunter2"}, values, "values don't meet the specifications of the schema"},
		"File":               {"a file of the chart in an error", map[string]string{"charts/blog/a.txt": "hunter2", "charts/blog/templates/x.yaml": `{{ fail (.Files.Get "a.txt") }}`}, nil, "templates/x.yaml:1:3"},
		"Folder":             {"a folder instead of a file of values", nil, func(c *manifests.HelmConfig) { c.Values = []string{"envs"} }, "values file envs is a folder"},
		"Encrypted chart":    {"a chart whose values are encrypted", map[string]string{"charts/blog/charts/cache/values.yaml": "a: ENC[hunter2]\nsops: {mac: x}"}, nil, "the values of the chart or of a subchart are encrypted with SOPS"},
		"SOPS":               {"encrypted values", map[string]string{"envs/prod.yaml": "a: ENC[hunter2-secret]\nsops: {mac: x, version: 3}"}, values, "envs/prod.yaml is encrypted with SOPS; driftd does not decrypt it"},
		"No values":          {"a file that does not exist", nil, func(c *manifests.HelmConfig) { c.Values = []string{"prod.yaml"} }, "values file prod.yaml does not exist: name it by its path from the top of the repository"},
		"Invalid values":     {"a file that is not YAML", map[string]string{"envs/prod.yaml": "a: [hunter2-secret"}, values, "values file envs/prod.yaml is not valid YAML"},
		"Library":            {"a library chart", map[string]string{"charts/blog/Chart.yaml": "apiVersion: v2\nname: blog\nversion: 1.0.0\ntype: library\n"}, nil, "a library chart, which declares no objects"},
		"Kubernetes":         {"a version that does not fit", map[string]string{"charts/blog/Chart.yaml": "apiVersion: v2\nname: blog\nversion: 1.0.0\nkubeVersion: '>= 9.0'\n"}, nil, "needs Kubernetes >= 9.0, and kube_version is 1.36.0"},
		"Loop":               {"a template that includes itself", map[string]string{"charts/blog/templates/x.yaml": `{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`}, nil, "error calling include"},
		"Output":             {"a template of 2 GB", map[string]string{"charts/blog/templates/x.yaml": `{{ range until 20000 }}{{ repeat 100000 "x" }}{{ end }}`}, nil, "memory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := blog()
			for file, text := range tc.files {
				if files[file] = text; text == "" {
					delete(files, file)
					delete(files, "charts/blog/charts/cache/templates/a.yaml")
				}
			}
			config := releaseConfig(deploy(t, files))
			config.Timeout = time.Hour // the bound of memory is reached first, on a slow machine, too
			if tc.change != nil {
				tc.change(&config)
			}
			d, err := loadRelease(t, config)
			if err != nil {
				t.Fatal(err)
			}
			found := strings.Join(problems(d), "\n")
			if len(d.Claims) > 0 || len(d.Problems) == 0 || !strings.Contains(found, tc.want) || strings.Contains(found, "hunter2") {
				t.Errorf("%s: %d claims, problems %q, want %q", tc.reason, len(d.Claims), found, tc.want)
			}
		})
	}
}

func values(c *manifests.HelmConfig) { c.Values = []string{"envs/prod.yaml"} }

// TestReleaseByChance proves that fields and names that change with each rendering are not
// compared, and that others are.
func TestReleaseByChance(t *testing.T) {
	t.Parallel()
	files := blog()
	files["charts/blog/values.yaml"] += "m: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1}\n"
	files["charts/blog/templates/x.yaml"] = `apiVersion: v1
kind: ConfigMap
metadata: {name: random}
data:
  keys: {{ keys .Values.m | join "," }}
  same: a
  time: {{ now | date "04:05" | quote }}
  token: {{ randAlphaNum 20 }}
  year: {{ now | date "2006" | quote }}
  years: {{ ago 1600000000 | quote }}
---
apiVersion: v1
kind: Secret
metadata: {name: random}
stringData: {user: blog, password: {{ randAlphaNum 20 }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: random}
spec:
  template:
    spec:
      containers:
      - {name: web, image: "web:1", env: [{name: TOKEN, value: {{ randAlphaNum 5 }}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: job-{{ randNumeric 9 }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: many}
data:
{{- range until 101 }}
  k{{ . }}: {{ randAlphaNum 9 }}
{{- end }}
`
	d, err := loadRelease(t, releaseConfig(deploy(t, files)))
	if err != nil {
		t.Fatal(err)
	}
	const to = ": chance: the chart calls ago and keys and now and randAlphaNum and randNumeric"
	got := map[string][]string{}
	for _, c := range d.Claims {
		for _, by := range c.Delegated {
			got[c.Kind] = append(got[c.Kind], strings.TrimSuffix(by.Path+": "+by.To, to))
		}
		if c.ID == "web/many" && !strings.HasPrefix(c.Unchecked, "101 fields are left to chance") {
			t.Errorf("%s is compared: %q", c.ID, c.Unchecked)
		}
	}
	want := map[string][]string{
		"kubernetes/ConfigMap":       {"data.keys", "data.time", "data.token", "data.year", "data.years"},
		"kubernetes/Secret":          {"data.password"},
		"kubernetes/Deployment.apps": {"spec.template.spec.containers[name=web].env[name=TOKEN].value"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"blog/templates/x.yaml: ConfigMap: its name is left to " + to[2:]}, problems(d)); diff != "" {
		t.Error(diff)
	}
	if p := d.Problems[0]; !p.Bounded || !slices.Contains(p.Extents, model.Extent{Kind: "kubernetes/ConfigMap", Place: "web"}) {
		t.Errorf("it may declare %v", p.Extents)
	}
}

// TestReleaseLikeHelm proves details in which Helm reads a chart otherwise than a folder of
// manifests is read.
func TestReleaseLikeHelm(t *testing.T) {
	t.Parallel()
	const template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {app.kubernetes.io/managed-by: me}}\n"
	for name, tc := range map[string]struct {
		reason string
		files  map[string]string
		want   string // a part of the claim on ConfigMap x; "" for none
	}{
		"Ignored folder": {"a folder in .helmignore", map[string]string{"charts/blog/.helmignore": "ci/\ntemplates/tests/\n", "charts/blog/templates/tests/x.yaml": template}, ""},
		"Dashes":         {"a separator without a line end", map[string]string{"charts/blog/templates/x.yaml": "---\n{{- if true -}}\n" + template + "{{- end }}"}, `"Helm"`},
		"Repeated key":   {"the last one counts", map[string]string{"charts/blog/templates/x.yaml": template + "data:\n  a: first\n  a: last\n"}, `"a":"last"`},
		"Label":          {"Helm sets the label", map[string]string{"charts/blog/templates/x.yaml": template}, `"app.kubernetes.io/managed-by":"Helm"`},
		"Nothing":        {"a chart without objects", map[string]string{"charts/blog/templates/web.yaml": "", "charts/blog/templates/migrate.yaml": "# nothing\n", "charts/blog/crds/post.yaml": ""}, ""},
		"SOPS is a name": {"values that are called sops", map[string]string{"charts/blog/values.yaml": "sops: {enabled: true}\ncache: {enabled: false}\n", "charts/blog/templates/x.yaml": template}, `"Helm"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := blog()
			maps.Copy(files, tc.files)
			d, err := loadRelease(t, releaseConfig(deploy(t, files)))
			if err != nil || len(d.Problems) > 0 {
				t.Fatalf("%v, %q", err, problems(d))
			}
			got := ""
			for _, c := range d.Claims {
				if c.ID == "web/x" {
					got = string(c.Value.AppendJSON(nil))
				}
			}
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s: declared %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// TestReleaseLinks proves that links to folders are followed, and that they do not lead outside.
func TestReleaseLinks(t *testing.T) {
	t.Parallel()
	files := blog()
	files["shared/x.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"
	dir := deploy(t, files)
	config := releaseConfig(dir)
	if err := os.Symlink("../../../shared", filepath.Join(dir, "charts/blog/templates/linked")); err != nil {
		t.Fatal(err)
	}
	d, err := loadRelease(t, config)
	if err != nil || !slices.Contains(claims(d), "blog/templates/linked/x.yaml ConfigMap web/x") {
		t.Errorf("%v, %q", err, claims(d))
	}
	if err := os.Remove(filepath.Join(dir, "charts/blog/templates/linked")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..", filepath.Join(dir, "charts/blog/templates/loop")); err != nil {
		t.Fatal(err)
	}
	if _, err = loadRelease(t, config); err == nil || !strings.Contains(err.Error(), "more than 4 links to folders within each other") {
		t.Errorf("a loop: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "charts/blog/templates/loop")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(dir, "charts/blog/templates/out")); err != nil {
		t.Fatal(err)
	}
	if _, err = loadRelease(t, config); err == nil || !strings.HasSuffix(err.Error(), "blog/templates/out: a symbolic link that cannot be followed") {
		t.Errorf("a link out of the repository: %v", err)
	}
}

// TestReleaseHistory proves that the past of a release is that of its chart and its values.
func TestReleaseHistory(t *testing.T) {
	t.Parallel()
	h := newHistory(t)
	files := blog()
	delete(files, ".git/HEAD")
	template := "charts/blog/templates/web.yaml"
	h.commit(map[string]string{"README": "no chart yet\n"}).commit(files).commit(map[string]string{"envs/prod.yaml": "replicas: 4\n"}).
		commit(map[string]string{"other.txt": "x\n"}).commit(map[string]string{template: "{{ nosuch }}"}).commit(map[string]string{template: files[template]})
	config := manifests.HelmDefaults()
	config.Git, config.Path, config.Namespace, config.Release, config.Values = h.dir, "charts/blog", "web", "blog", []string{"envs/prod.yaml"}
	loader := openRelease(t, config, os.Args[0])
	for range 2 {
		got, gap := h.past(loader, "web/blog-web", "data", "replicas")
		if diff := cmp.Diff([]string{"4 6--", "4 3-5", "3 2-3", "absent 1-2"}, got); diff != "" {
			t.Error(diff)
		}
		if !strings.Contains(gap, `function "nosuch" not defined`) {
			t.Errorf("the gap of the broken commit is %q", gap)
		}
	}
}

// TestReleaseWithoutProgram proves that a missing program makes the release unchecked, within
// its namespace.
func TestReleaseWithoutProgram(t *testing.T) {
	t.Parallel()
	d, err := openRelease(t, releaseConfig(deploy(t, blog())), "").Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"blog/Chart.yaml: the program driftd-helm, which renders charts, is not installed beside driftd: install it"}
	if diff := cmp.Diff(want, problems(d)); diff != "" || len(d.Claims) > 0 {
		t.Errorf("%d claims, %s", len(d.Claims), diff)
	}
	if p := d.Problems[0]; !p.Bounded || !slices.Contains(p.Extents, model.Extent{Kind: "kubernetes/ConfigMap", Place: "web"}) {
		t.Errorf("it may declare %v", p.Extents)
	}
}

func TestReleaseSettings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		change func(*manifests.HelmConfig)
		want   string
	}{
		{func(c *manifests.HelmConfig) { c.Namespace = "" }, "namespace is not set: name the namespace of the release"},
		{func(c *manifests.HelmConfig) { c.Namespace = "a b" }, `namespace "a b" is not the name of a namespace`},
		{func(c *manifests.HelmConfig) { c.Release = "Blog" }, `release "Blog" is not the name of a release: want at most 53 lower-case letters, digits, dots and dashes`},
		{func(c *manifests.HelmConfig) { c.Release, c.Dir = "", "/srv/My_Chart" }, `release "My_Chart" is not the name of a release: want at most 53 lower-case letters, digits, dots and dashes`},
		{func(c *manifests.HelmConfig) { c.Release, c.Dir, c.Git = "", "", "/srv/repository" }, "release is not set, and the chart is at the top of the repository: name the release"},
		{func(c *manifests.HelmConfig) { c.Values = []string{"../secret.yaml"} }, `values: "../secret.yaml" is not a path from the top of the repository`},
		{func(c *manifests.HelmConfig) { c.Values = []string{"/etc/passwd"} }, `values: "/etc/passwd" is not a path from the top of the repository`},
		{func(c *manifests.HelmConfig) { c.Dir = "" }, "neither dir nor git is set: name the folder or the repository that contains the chart"},
	} {
		config := releaseConfig("/srv/charts")
		tc.change(&config)
		_, err := manifests.HelmDefinition().Open(declared.Env{}, func(into any) error {
			*into.(*manifests.HelmConfig) = config
			return nil
		})
		if err == nil || err.Error() != tc.want {
			t.Errorf("%v, want %s", err, tc.want)
		}
	}
}

// TestReleaseRenderedOnce proves that an unchanged chart is not rendered again, and that a change
// of any file is seen.
func TestReleaseRenderedOnce(t *testing.T) {
	t.Parallel()
	files := blog()
	files["charts/blog/templates/x.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: random}\ndata: {token: {{ randAlphaNum 20 }}}\n"
	dir := deploy(t, files)
	config := releaseConfig(dir)
	config.Values = []string{"envs/prod.yaml"}
	loader := openRelease(t, config, os.Args[0])
	read := func(id, field string) string {
		t.Helper()
		d, err := loader.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(d.Claims, func(c model.Claim) bool { return c.ID == id })
		if i < 0 {
			t.Fatalf("%s is not in %q", id, claims(d))
		}
		return d.Claims[i].Value.At("data", field).Str()
	}
	token := read("web/random", "token")
	if again := read("web/random", "token"); again != token {
		t.Errorf("it was rendered again: %s, then %s", token, again)
	}
	write(t, dir, map[string]string{"envs/prod.yaml": "replicas: 7\n"})
	if got := read("web/blog-web", "replicas"); got != "7" {
		t.Errorf("replicas %s after the values changed", got)
	}
	if again := read("web/random", "token"); again == token {
		t.Error("it was not rendered again")
	}
}
