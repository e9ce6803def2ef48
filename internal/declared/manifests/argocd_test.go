package manifests_test

import (
	"fmt"
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

// ownURL is the URL of the repository in the tests.
const ownURL = "https://git.example.org/shop/deploy.git"

// app returns an Application in the namespace argocd. source are the fields of its source in flow style.
func app(name, namespace, source string) string {
	return fmt.Sprintf("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: %s}\nspec:\n  project: default\n"+
		"  destination: {server: 'https://kubernetes.default.svc', namespace: %s}\n  source: {repoURL: 'git@git.example.org:shop/deploy', %s}\n", name, namespace, source)
}

func argoConfig(dir string) manifests.ArgoCDConfig {
	c := manifests.ArgoCDDefaults()
	c.Dir, c.SameRepository = filepath.Join(dir, "apps"), []string{ownURL}
	return c
}

func openArgo(t testing.TB, config manifests.ArgoCDConfig) declared.Loader {
	t.Helper()
	return openCheckedArgo(t, config, nil)
}

func openCheckedArgo(t testing.TB, config manifests.ArgoCDConfig, check declared.Check) declared.Loader {
	t.Helper()
	env := declared.Env{
		Check: check,
		Name:  "apps", Governs: []string{"prod"}, Sealer: model.NewSealer([]byte("key")), MaxMemory: 512 << 20,
		Log: slog.New(slog.DiscardHandler), Boxes: box.NewPool(), Helm: os.Args[0], CacheDir: t.TempDir(),
	}
	loader, err := manifests.ArgoCDDefinition().Open(env, func(into any) error {
		*into.(*manifests.ArgoCDConfig) = config
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return loader
}

// loadArgo reads the Applications in the folder apps of a work tree.
func loadArgo(t testing.TB, files map[string]string, change func(*manifests.ArgoCDConfig)) model.Declaration {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	write(t, dir, map[string]string{".git/HEAD": "ref: refs/heads/main\n"})
	config := argoConfig(dir)
	if change != nil {
		change(&config)
	}
	d, err := openArgo(t, config).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const kustomization = "resources: [web.yaml]\n"

func TestApplications(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		files  map[string]string
		want   []string
	}{
		"Directory": {
			"objects without a namespace are in that of the destination, and subfolders are not read",
			map[string]string{"apps/web.yaml": app("web", "shop", "path: web"), "web/a.yaml": configMap("a"), "web/sub/b.yaml": configMap("b"), "other/c.yaml": configMap("c")},
			[]string{"apps/web.yaml:1 Application.argoproj.io argocd/web", "web/a.yaml:1 ConfigMap shop/a"},
		},
		"Skipped file": {
			"a mark anywhere in a file makes Argo CD skip it, also one that is no manifest",
			map[string]string{"apps/web.yaml": app("web", "shop", "path: web"), "web/a.yaml": configMap("a"), "web/b.yaml": configMap("b") + "# +argocd:skip-file-rendering\n", "web/c.yaml": "{{/* +argocd:skip-file-rendering */}}\n", "apps/no.yaml": "# +argocd:skip-file-rendering\n" + app("no", "shop", "path: none")},
			[]string{"apps/web.yaml:1 Application.argoproj.io argocd/web", "web/a.yaml:1 ConfigMap shop/a"},
		},
		"Recursion": {
			"patterns match paths from the folder, with slashes",
			map[string]string{"apps/web.yaml": app("web", "shop", "path: web, directory: {recurse: true, include: '{a,sub/*}.yaml', exclude: '*/x.yaml'}"),
				"web/a.yaml": configMap("a"), "web/sub/b.yaml": configMap("b"), "web/sub/x.yaml": configMap("x"), "web/d.yaml": configMap("d")},
			[]string{"apps/web.yaml:1 Application.argoproj.io argocd/web", "web/a.yaml:1 ConfigMap shop/a", "web/sub/b.yaml:1 ConfigMap shop/b"},
		},
		"Kustomize": {
			"the settings of the Application change the build",
			map[string]string{"apps/web.yaml": app("web", "shop", "path: web, kustomize: {namePrefix: blue-, images: ['web:1.5'], replicas: [{name: web, count: '5'}]}"),
				"web/kustomization.yaml": kustomization, "web/web.yaml": deployment},
			[]string{"apps/web.yaml:1 Application.argoproj.io argocd/web", "web/web.yaml:1 Deployment.apps shop/blue-web"},
		},
		"Chart": {
			"the release is named like the Application",
			map[string]string{"apps/web.yaml": app("web", "shop", "path: chart"), "chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n",
				"chart/templates/a.yaml": configMap("{{ .Release.Name }}-{{ .Release.Namespace }}")},
			[]string{"apps/web.yaml:1 Application.argoproj.io argocd/web", "chart/templates/a.yaml ConfigMap shop/web-shop"},
		},
		"Applications of Applications": {
			"an Application that deploys Applications, itself among them",
			map[string]string{"apps/root.yaml": app("root", "argocd", "path: apps"), "apps/web.yaml": app("web", "shop", "path: web"), "web/a.yaml": configMap("a")},
			[]string{"apps/root.yaml:1 Application.argoproj.io argocd/root", "apps/web.yaml:1 Application.argoproj.io argocd/web", "web/a.yaml:1 ConfigMap shop/a"},
		},
		"Cycle": {
			"Applications that deploy each other",
			map[string]string{"apps/a/a.yaml": app("a", "argocd", "path: apps/b"), "apps/b/b.yaml": app("b", "argocd", "path: apps/a")},
			[]string{"apps/a/a.yaml:1 Application.argoproj.io argocd/a", "apps/b/b.yaml:1 Application.argoproj.io argocd/b"},
		},
		"Namespace": {
			"Argo CD creates it",
			map[string]string{"apps/web.yaml": app("web", "shop", "path: web") + "  syncPolicy: {syncOptions: [CreateNamespace=true], managedNamespaceMetadata: {labels: {team: shop}}}\n", "web/a.yaml": configMap("a")},
			[]string{"apps/web.yaml:1 Application.argoproj.io argocd/web", "web/a.yaml:1 ConfigMap shop/a", "apps/web.yaml:1 Namespace shop"},
		},
		"Own namespace": {
			"it exists before Argo CD",
			map[string]string{"apps/root.yaml": app("root", "argocd", "path: apps") + "  syncPolicy: {syncOptions: [CreateNamespace=true]}\n"},
			[]string{"apps/root.yaml:1 Application.argoproj.io argocd/root"},
		},
		"Chart of Applications": {
			"the declared folder is a chart",
			map[string]string{"apps/Chart.yaml": "apiVersion: v2\nname: apps\nversion: 1.0.0\n", "apps/values.yaml": "names: [web, api]\n",
				"apps/templates/apps.yaml": "{{ range .Values.names }}\n---\n" + app("{{ . }}", "{{ . }}", "path: web") + "{{ end }}", "web/a.yaml": configMap("a")},
			[]string{"apps/templates/apps.yaml Application.argoproj.io argocd/api", "apps/templates/apps.yaml Application.argoproj.io argocd/web",
				"web/a.yaml:1 ConfigMap api/a", "web/a.yaml:1 ConfigMap web/a"},
		},
		"List": {
			"an ApplicationSet with a list",
			map[string]string{"apps/set.yaml": set("list: {elements: [{name: web, where: shop}, {name: api, where: back}]}", "{{name}}", "{{where}}", "web", false), "web/a.yaml": configMap("a")},
			[]string{"apps/set.yaml:1 Application.argoproj.io argocd/api", "apps/set.yaml:1 Application.argoproj.io argocd/web", "apps/set.yaml:1 ApplicationSet.argoproj.io argocd/set", "web/a.yaml:1 ConfigMap back/a", "web/a.yaml:1 ConfigMap shop/a"},
		},
		"Directories": {
			"an ApplicationSet with the folders of this repository",
			map[string]string{"apps/set.yaml": set("git: {repoURL: '"+ownURL+"', revision: HEAD, directories: [{path: teams/*}, {path: teams/no, exclude: true}]}", "{{.path.basename}}", "{{ .path.basenameNormalized }}", "{{index .path.segments 0}}/{{.path.basename}}", true),
				"teams/web/a.yaml": configMap("a"), "teams/web/sub/a.yaml": configMap("sub"), "teams/no/a.yaml": configMap("no")},
			[]string{"apps/set.yaml:1 Application.argoproj.io argocd/web", "apps/set.yaml:1 ApplicationSet.argoproj.io argocd/set", "teams/web/a.yaml:1 ConfigMap web/a"},
		},
		"Folders at the top": {
			"the top of the repository is no folder for the generator",
			map[string]string{"apps/set.yaml": set("git: {repoURL: '"+ownURL+"', revision: HEAD, directories: [{path: '*'}, {path: apps, exclude: true}]}", "{{path.basename}}", "{{path.basename}}", "{{path}}", false),
				"web/a.yaml": configMap("a"), "top.yaml": configMap("top"), ".hidden/a.yaml": configMap("hidden")},
			[]string{"apps/set.yaml:1 Application.argoproj.io argocd/web", "apps/set.yaml:1 ApplicationSet.argoproj.io argocd/set", "web/a.yaml:1 ConfigMap web/a"},
		},
		"Hidden files": {
			"the generator reads files in hidden folders",
			map[string]string{"apps/set.yaml": set("git: {repoURL: '"+ownURL+"', revision: HEAD, files: [{path: '.envs/*.json'}]}", "{{name}}", "{{name}}", "web", false),
				".envs/web.json": `{"name": "web"}`, "web/a.yaml": configMap("a")},
			[]string{"apps/set.yaml:1 Application.argoproj.io argocd/web", "apps/set.yaml:1 ApplicationSet.argoproj.io argocd/set", "web/a.yaml:1 ConfigMap web/a"},
		},
		"Files": {
			"an ApplicationSet with files of this repository",
			map[string]string{"apps/set.yaml": set("git: {repoURL: '"+ownURL+"', revision: '', files: [{path: '**/app.json'}]}", "{{app.name}}", "{{app.name}}", "{{path}}", false),
				"teams/web/app.json": `{"app": {"name": "front"}}`, "teams/web/a.yaml": configMap("a")},
			[]string{"apps/set.yaml:1 Application.argoproj.io argocd/front", "apps/set.yaml:1 ApplicationSet.argoproj.io argocd/set", "teams/web/a.yaml:1 ConfigMap front/a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := loadArgo(t, tc.files, nil)
			if got := problems(d); len(got) > 0 {
				t.Errorf("%s: problems %q", tc.reason, got)
			}
			if diff := cmp.Diff(tc.want, claims(d)); diff != "" {
				t.Errorf("%s: %s", tc.reason, diff)
			}
		})
	}
}

// set returns an ApplicationSet.
func set(generator, name, namespace, path string, goTemplate bool) string {
	return fmt.Sprintf("apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: set}\nspec:\n  goTemplate: %t\n  generators: [{%s}]\n"+
		"  template:\n    metadata: {name: '%s'}\n    spec:\n      project: default\n      destination: {name: in-cluster, namespace: '%s'}\n      source: {repoURL: '%s', path: '%s'}\n", goTemplate, generator, name, namespace, ownURL, path)
}

// TestUnreadApplications checks that a source that is not read is a problem, and that no object
// of it is missing.
func TestUnreadApplications(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"Repository": {map[string]string{"apps/a.yaml": strings.Replace(app("a", "shop", "path: web"), "shop/deploy", "shop/other", 1)}, "deploys from git@git.example.org:shop/other, which is another repository"},
		"Mirror":     {map[string]string{"apps/a.yaml": strings.Replace(app("a", "shop", "path: web"), "git.example.org", "evil.example.org", 1)}, "deploys from git@evil.example.org:shop/deploy, which is another repository"},
		"Chart":      {map[string]string{"apps/a.yaml": app("a", "shop", "chart: redis, targetRevision: 1.0.0")}, "deploys the chart redis, which is not compared: its chart comes from oci://git@git.example.org:shop/deploy/redis, from where driftd fetches no charts"},
		"Cluster":    {map[string]string{"apps/a.yaml": strings.Replace(app("a", "shop", "path: web"), "kubernetes.default", "other", 1)}, "deploys to https://other.svc, which is not among the clusters"},
		"No place":   {map[string]string{"apps/a.yaml": app("a", "''", "path: web")}, "Deployment web has no namespace, and the destination of its Application has none"},
		"Both":       {map[string]string{"apps/a.yaml": strings.Replace(app("a", "shop", "path: web"), "server:", "name: other, server:", 1)}, "deploys to https://kubernetes.default.svc and other, which is not among"},
		"Outside":    {map[string]string{"apps/a.yaml": app("a", "shop", "path: ../web")}, "deploys ../web, which is not a path in the repository"},
		"Absolute":   {map[string]string{"apps/a.yaml": app("a", "shop", "path: /web")}, "deploys /web, which is not a path in the repository"},
		"Folder":     {map[string]string{"apps/a.yaml": app("a", "shop", "path: none")}, "deploys none, which does not exist"},
		"Plugin":     {map[string]string{"apps/a.yaml": app("a", "shop", "path: web, plugin: {name: x}")}, "with a plugin, which driftd does not run"},
		"Version":    {map[string]string{"apps/a.yaml": app("a", "shop", "path: web, targetRevision: v1.2.0")}, "deploys the revision v1.2.0"},
		"Jsonnet":    {map[string]string{"apps/a.yaml": app("a", "shop", "path: web"), "web/a.jsonnet": "{}"}, "a Jsonnet file"},
		"Values":     {map[string]string{"apps/a.yaml": app("a", "shop", "path: chart, helm: {valueFiles: [../../out.yaml]}"), "chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n"}, "leads out of the repository"},
		"Setting":    {map[string]string{"apps/a.yaml": app("a", "shop", "path: chart, helm: {fileParameters: [{name: a, path: b}]}"), "chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n"}, "has the setting helm.fileParameters"},
		"Variable":   {map[string]string{"apps/a.yaml": app("a", "shop", "path: web, kustomize: {commonLabels: {a: $ARGOCD_APP_REVISION}}"), "web/kustomization.yaml": kustomization}, "uses the variable ARGOCD_APP_REVISION"},
		"Generator":  {map[string]string{"apps/a.yaml": set("clusters: {selector: {a: b}}", "x", "x", "x", false)}, "has the generator clusters, which driftd does not evaluate"},
		"Function":   {map[string]string{"apps/a.yaml": set("list: {elements: [{a: b}]}", "{{ .a | upper }}", "x", "x", true)}, "has {{ .a | upper }} in its template, which driftd does not evaluate"},
		"Parameter":  {map[string]string{"apps/a.yaml": set("list: {elements: [{a: b}]}", "{{b}}", "x", "x", false)}, "has {{b}} in its template"},
		"Matrix":     {map[string]string{"apps/a.yaml": set("matrix: {generators: [{list: {elements: []}}]}", "x", "x", "x", false)}, "has the generator matrix"},
		"Globbing": {map[string]string{"apps/a.yaml": set("git: {repoURL: '"+ownURL+"', files: [{path: 'envs/*/c.json'}]}", "{{name}}", "x", "web", false), "envs/a/c.json": `{"name": "a"}`, "envs/a/b/c.json": `{"name": "b"}`},
			"has a git generator of files whose patterns match envs/a/b/c.json in one of the two globbing modes"},
		"Folder of files": {map[string]string{"apps/a.yaml": set("git: {repoURL: '"+ownURL+"', files: [{path: envs}]}", "{{name}}", "x", "web", false), "envs/c.json": `{"name": "a"}`},
			"has a git generator of files whose patterns match envs/c.json in one of the two globbing modes"},
		"Any character": {map[string]string{"apps/a.yaml": set("git: {repoURL: '"+ownURL+"', files: [{path: 'envs?c.json'}]}", "{{name}}", "x", "web", false), "envs/c.json": `{"name": "a"}`},
			"has a git generator of files whose patterns match envs/c.json in one of the two globbing modes"},
		"Branch": {map[string]string{"apps/a.yaml": app("a", "shop", "path: web, targetRevision: next")}, "deploys the revision next, and the declaration is read at another one: set source_branch"},
		"Left out": {map[string]string{"apps/root.yaml": app("root", "argocd", "path: apps"), "apps/sub/left.yaml": app("left", "shop", "path: web")},
			"apps/sub/left.yaml:1: Application argocd/left is in a folder that Application argocd/root deploys, which leaves it out"},
		"Excluded": {map[string]string{"apps/root.yaml": app("root", "argocd", "path: apps, directory: {exclude: 'left*'}"), "apps/left.yaml": app("left", "shop", "path: web")},
			"apps/left.yaml:1: Application argocd/left is in a folder that Application argocd/root deploys, which leaves it out"},
		"Twice": {map[string]string{"apps/a.yaml": app("a", "shop", "path: none"), "apps/b.yaml": app("a", "shop", "path: web")},
			"apps/b.yaml:1: Application argocd/a is declared with another spec in apps/a.yaml:1, too"},
		"Tools": {map[string]string{"apps/a.yaml": app("a", "shop", "path: web, helm: {releaseName: a}, kustomize: {namePrefix: b}")}, "has settings for several tools: helm, kustomize"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"web/readme": "", "web/web.yaml": deployment}
			for file, text := range tc.files {
				files[file] = text
			}
			d := loadArgo(t, files, nil)
			if got := strings.Join(problems(d), "\n"); !strings.Contains(got, tc.want) {
				t.Errorf("problems %q, want %q", got, tc.want)
			}
			for _, c := range d.Claims {
				if !strings.HasSuffix(c.Kind, ".argoproj.io") && name != "Jsonnet" {
					t.Errorf("claims %s %s", c.Kind, c.ID)
				}
			}
		})
	}
}

// TestSourceBranch checks for which revisions a folder stands.
func TestSourceBranch(t *testing.T) {
	t.Parallel()
	for revision, want := range map[string]bool{"main": false, "next": true, "refs/heads/next": true, "HEAD": true, "''": true, "v1.0.0": false} {
		d := loadArgo(t, map[string]string{"apps/a.yaml": app("a", "shop", "path: web, targetRevision: "+revision), "web/a.yaml": configMap("a")},
			func(c *manifests.ArgoCDConfig) { c.SourceBranch = "next" })
		if got := len(d.Claims) == 2; got != want || (len(d.Problems) == 0) != want {
			t.Errorf("%s: claims %q, problems %q", revision, claims(d), problems(d))
		}
	}
}

// TestLeftOut checks that an Application that its parent leaves out hides no other object.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	d := loadArgo(t, map[string]string{"apps/root.yaml": app("root", "argocd", "path: apps, directory: {exclude: 'left*'}"), "apps/left.yaml": app("left", "shop", "path: web")}, nil)
	left := model.Resource{Key: model.Key{Kind: "kubernetes/Application.argoproj.io", ID: "argocd/left"}, Place: "argocd", Name: "left"}
	other := model.Resource{Key: model.Key{Kind: "kubernetes/ConfigMap", ID: "shop/a"}, Place: "shop", Name: "a"}
	if len(d.Problems) != 1 || !d.Problems[0].MayDeclare(&left) || d.Problems[0].MayDeclare(&other) {
		t.Errorf("problems %+v", d.Problems)
	}
}

// TestSharedNamespace checks that a namespace which the cluster has does not become governed because Argo CD would create it.
func TestSharedNamespace(t *testing.T) {
	t.Parallel()
	for namespace, want := range map[string]string{"shop": "governed", "kube-system": "shared, optional"} {
		d := loadArgo(t, map[string]string{"apps/web.yaml": app("web", namespace, "path: web") + "  syncPolicy: {syncOptions: [CreateNamespace=true]}\n", "web/a.yaml": configMap("a")}, nil)
		var got []string
		if slices.Contains(d.Scopes, model.Scope{Place: namespace}) {
			got = append(got, "governed")
		}
		if slices.ContainsFunc(d.NotGoverned, func(n model.NotGoverned) bool { return n.Place == namespace }) {
			got = append(got, "shared")
		}
		if claimOf(t, d, namespace).OnlyLive {
			got = append(got, "optional")
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s is %s, want %s", namespace, got, want)
		}
	}
}

// TestLabelTracking checks that the label by which Argo CD may track objects can have the declared value and that of the
// Application, and no other.
func TestLabelTracking(t *testing.T) {
	t.Parallel()
	labelled := func(labels string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {" + labels + "}}\n"
	}
	for name, tc := range map[string]struct{ app, object, want, among string }{
		"Another value":      {app("web", "shop", "path: web"), labelled("app.kubernetes.io/instance: web-prod"), `metadata.labels["app.kubernetes.io/instance"] to the tracking method of Argo CD`, "web"},
		"Another namespace":  {strings.Replace(app("web", "shop", "path: web"), "{name: web}", "{name: web, namespace: teams}", 1), labelled("app.kubernetes.io/instance: web"), `metadata.labels["app.kubernetes.io/instance"] to the tracking method of Argo CD`, "teams_web"},
		"The same value":     {app("web", "shop", "path: web"), labelled("app.kubernetes.io/instance: web"), "", ""},
		"No label":           {app("web", "shop", "path: web"), labelled("app.kubernetes.io/name: x"), "", ""},
		"Another annotation": {app("web", "shop", "path: web"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {app.kubernetes.io/instance: x}}\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := loadArgo(t, map[string]string{"apps/web.yaml": tc.app, "web/a.yaml": tc.object}, nil)
			c := claimOf(t, d, "shop/a")
			var among []string
			for _, v := range c.Otherwise {
				among = append(among, v.At("metadata", "labels", "app.kubernetes.io/instance").Str())
			}
			if delegated(c) != tc.want || strings.Join(among, " ") != tc.among || c.OnlyLive {
				t.Errorf("delegated %q, otherwise %q, optional %t", delegated(c), among, c.OnlyLive)
			}
		})
	}
}

// TestElsewhere checks that an Application for another cluster does not take the others of its folder
// with it.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	d := loadArgo(t, map[string]string{"apps/a.yaml": strings.Replace(app("a", "argocd", "path: apps"), "kubernetes.default", "other", 1), "apps/web.yaml": app("web", "shop", "path: web"), "web/a.yaml": configMap("a")}, nil)
	want := []string{"apps/a.yaml:1 Application.argoproj.io argocd/a", "apps/web.yaml:1 Application.argoproj.io argocd/web", "web/a.yaml:1 ConfigMap shop/a"}
	if diff := cmp.Diff(want, claims(d)); diff != "" {
		t.Error(diff)
	}
}

// TestOverrides checks the values of objects that are built with the settings of an Application.
func TestOverrides(t *testing.T) {
	t.Parallel()
	chart := map[string]string{
		"chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "chart/values.yaml": "a: chart\n", "chart/prod.yaml": "a: file\n", "env/all.yaml": "a: top\n",
		"chart/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ .Values.a | quote }}, kind: {{ kindOf .Values.a }}}\n",
	}
	base := map[string]string{"web/kustomization.yaml": "resources: [web.yaml]\ncommonAnnotations: {old: a}\nimages: [{name: web, newTag: '9'}]\n", "web/web.yaml": deployment}
	for name, tc := range map[string]struct {
		files  map[string]string
		source string
		path   []string
		want   string
	}{
		"Values":       {chart, "path: chart", []string{"data", "a"}, "chart"},
		"File":         {chart, "path: chart, helm: {valueFiles: [prod.yaml]}", []string{"data", "a"}, "file"},
		"Top":          {chart, "path: chart, helm: {valueFiles: [/env/all.yaml]}", []string{"data", "a"}, "top"},
		"Missing":      {chart, "path: chart, helm: {valueFiles: [none.yaml], ignoreMissingValueFiles: true}", []string{"data", "a"}, "chart"},
		"Inline":       {chart, "path: chart, helm: {valueFiles: [prod.yaml], values: 'a: inline'}", []string{"data", "a"}, "inline"},
		"Object":       {chart, "path: chart, helm: {values: 'a: inline', valuesObject: {a: object}}", []string{"data", "a"}, "object"},
		"Parameter":    {chart, "path: chart, helm: {values: 'a: inline', parameters: [{name: a, value: 'x,y $ARGOCD_APP_NAME'}]}", []string{"data", "a"}, "x,y app"},
		"Number":       {chart, "path: chart, helm: {parameters: [{name: a, value: '5'}]}", []string{"data", "kind"}, "int64"},
		"Text":         {chart, "path: chart, helm: {parameters: [{name: a, value: '5', forceString: true}]}", []string{"data", "kind"}, "string"},
		"No label":     {chart, "path: chart", []string{"metadata", "labels", "app.kubernetes.io/managed-by"}, ""},
		"Image":        {base, "path: web, kustomize: {images: ['web=registry.example.org/web:2']}", []string{"spec", "template", "spec", "containers", "0", "image"}, "registry.example.org/web:2"},
		"Same image":   {base, "path: web", []string{"spec", "template", "spec", "containers", "0", "image"}, "web:9"},
		"Replicas":     {base, "path: web, kustomize: {replicas: [{name: web, count: 7}]}", []string{"spec", "replicas"}, "7"},
		"Labels":       {base, "path: web, kustomize: {commonLabels: {app: $ARGOCD_APP_NAME}}", []string{"spec", "selector", "matchLabels", "app"}, "app"},
		"Loose labels": {base, "path: web, kustomize: {commonLabels: {tier: x}, labelWithoutSelector: true}", []string{"spec", "selector", "matchLabels", "tier"}, ""},
		"Annotations":  {base, "path: web, kustomize: {commonAnnotations: {new: b}}", []string{"metadata", "annotations", "old"}, "a"},
		"Patch":        {base, "path: web, kustomize: {patches: [{target: {kind: Deployment}, patch: '[{\"op\": \"replace\", \"path\": \"/spec/replicas\", \"value\": 8}]'}]}", []string{"spec", "replicas"}, "8"},
		"Committed": {map[string]string{"web/kustomization.yaml": kustomization, "web/web.yaml": deployment, "web/.argocd-source-app.yaml": "kustomize: {images: ['web:3']}"},
			"path: web", []string{"spec", "template", "spec", "containers", "0", "image"}, "web:3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"apps/app.yaml": app("app", "shop", tc.source)}
			for file, text := range tc.files {
				files[file] = text
			}
			d := loadArgo(t, files, nil)
			if len(d.Problems) > 0 || len(d.Claims) != 2 {
				t.Fatalf("problems %q, claims %q", problems(d), claims(d))
			}
			v := d.Claims[0].Value
			if d.Claims[0].Kind == "kubernetes/Application.argoproj.io" {
				v = d.Claims[1].Value
			}
			for _, step := range tc.path {
				if items := v.Items(); len(items) > 0 {
					v = items[0]
				} else {
					v = v.At(step)
				}
			}
			if v.Text() != tc.want {
				t.Errorf("%s is %q, want %q", tc.path, v.Text(), tc.want)
			}
		})
	}
}
