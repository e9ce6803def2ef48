package manifests_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
		Log: slog.New(slog.DiscardHandler), Boxes: box.NewPool(), Helm: program,
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
			[]string{"blog/templates/web.yaml ConfigMap web/blog-web", "blog/templates/migrate.yaml ConfigMap web/migrate", "blog/crds/post.yaml CustomResourceDefinition.apiextensions.k8s.io posts.example.org"},
			"1",
		},
		"Values": {
			func(c *manifests.HelmConfig) { c.Values = []string{"envs/prod.yaml"} },
			[]string{"blog/templates/web.yaml ConfigMap web/blog-web", "blog/templates/migrate.yaml ConfigMap web/migrate", "blog/crds/post.yaml CustomResourceDefinition.apiextensions.k8s.io posts.example.org"},
			"3",
		},
		"Set": {
			func(c *manifests.HelmConfig) {
				c.Values, c.Set = []string{"envs/prod.yaml"}, []string{"replicas=5,cache.enabled=true"}
			},
			[]string{"blog/charts/cache/templates/a.yaml ConfigMap caches/blog-cache", "blog/templates/web.yaml ConfigMap web/blog-web", "blog/templates/migrate.yaml ConfigMap web/migrate", "blog/crds/post.yaml CustomResourceDefinition.apiextensions.k8s.io posts.example.org"},
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
		"Broken template":    {"a function that does not exist", map[string]string{"charts/blog/templates/x.yaml": "{{ nosuch }}"}, nil, `function "nosuch" not defined`},
		"Secret":             {"a template that fails with a value", map[string]string{"charts/blog/templates/x.yaml": `{{ fail .Values.a.b }}`, "envs/prod.yaml": "a: {b: hunter2-secret}"}, values, "…"},
		"Default":            {"a template that fails with a default", map[string]string{"charts/blog/templates/x.yaml": `{{ fail .Values.password }}`, "charts/blog/values.yaml": "password: hunter2-secret"}, nil, "…"},
		"SOPS":               {"encrypted values", map[string]string{"envs/prod.yaml": "a: ENC[hunter2-secret]\nsops: {version: 3}"}, values, "envs/prod.yaml is encrypted with SOPS; driftd does not decrypt it"},
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
	files["charts/blog/templates/x.yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: random}\ndata:\n  token: {{ randAlphaNum 20 }}\n  year: {{ now | date \"2006\" | quote }}\n  same: a\n" +
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: job-{{ randNumeric 9 }}}\n"
	d, err := loadRelease(t, releaseConfig(deploy(t, files)))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, c := range d.Claims {
		switch {
		case c.ID == "web/random":
			found++
			var paths []string
			for _, by := range c.Delegated {
				paths = append(paths, by.Path+": "+by.To)
			}
			want := []string{"data.token: chance: the chart calls now and randAlphaNum and randNumeric", "data.year: chance: the chart calls now and randAlphaNum and randNumeric"}
			if diff := cmp.Diff(want, paths); diff != "" {
				t.Error(diff)
			}
		case strings.HasPrefix(c.ID, "web/job-"):
			found++
			if !strings.HasPrefix(c.Unchecked, "its name is left to chance") {
				t.Errorf("%s is compared: %q", c.ID, c.Unchecked)
			}
		case len(c.Delegated) > 0:
			t.Errorf("%s: %v", c.ID, c.Delegated)
		}
	}
	if found != 2 {
		t.Errorf("%d objects, want 2", found)
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
		{func(c *manifests.HelmConfig) { c.Release = "Blog" }, `release "Blog" is not the name of a release: want lower-case letters, digits and dashes`},
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
