package manifests_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/chart/fetch"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// appOf returns an Application with a source in another repository.
func appOf(name, url, source string) string {
	return strings.Replace(app(name, name, source), "git@git.example.org:shop/deploy", url, 1)
}

// configMaps returns the address and the value a of each ConfigMap, by its namespace.
func configMaps(d model.Declaration) map[string]string {
	found := map[string]string{}
	for _, c := range d.Claims {
		if c.Kind == "kubernetes/ConfigMap" {
			found[c.Place] = c.Address + " " + c.Value.At("data", "a").Str()
		}
	}
	return found
}

const echoChart = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '{{ .Values.a }}{{ .Values.b }}'}\n"

// TestArgoReadsOtherRepositories checks that sources in a listed repository are read at their revisions, with values and generators in it,
// and that they lead on to each repository.
func TestArgoReadsOtherRepositories(t *testing.T) {
	t.Parallel()
	own, apps := newHistory(t), newHistory(t)
	apps.commit(map[string]string{"web/a.yaml": data("old")})
	apps.git("", "tag", "v1")
	apps.commit(map[string]string{
		"web/a.yaml": data("new"), "env/one/a.yaml": data("one"), "env/two/a.yaml": data("two"), "values/a.yaml": "a: x\n",
		"more/back.yaml": app("back", "back", "path: web"), "more/deep.yaml": appOf("deep", appsURL, "path: web, targetRevision: v1"),
		"chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "chart/templates/a.yaml": echoChart,
		"kustom/kustomization.yaml": "resources: [a.yaml]\n", "kustom/a.yaml": data("kustom"),
	})
	set := "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: set}\nspec:\n  goTemplate: true\n  generators:\n" +
		"  - git: {repoURL: '" + appsURL + "', revision: main, directories: [{path: env/*}]}\n  - list: {elements: [{path: {basename: listed, path: web}}]}\n" +
		"  template:\n    metadata: {name: 'set-{{.path.basename}}'}\n    spec: {project: default, destination: {server: 'https://kubernetes.default.svc', namespace: '{{.path.basename}}'}, " +
		"source: {repoURL: '" + appsURL + "', targetRevision: main, path: '{{.path.path}}'}}\n"
	chart := func(name, chart, values string) string {
		return "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: " + name + "}\nspec:\n  project: default\n" +
			"  destination: {server: 'https://kubernetes.default.svc', namespace: " + name + "}\n  sources:\n" +
			"  - {repoURL: '" + chart + "', path: chart, helm: {valueFiles: [$v/values/a.yaml, $v/values/none.yaml, $w/values/b.yaml], ignoreMissingValueFiles: true}}\n" +
			"  - {repoURL: '" + values + "', ref: v}\n  - {repoURL: '" + ownURL + "', ref: w}\n"
	}
	own.commit(map[string]string{
		"apps/main.yaml": appOf("main", appsURL, "path: web, targetRevision: main"), "apps/head.yaml": appOf("head", "ssh://git@git.example.org/shop/apps", "path: web"),
		"apps/tag.yaml": appOf("tag", appsURL, "path: web, targetRevision: v1"), "apps/hash.yaml": appOf("hash", appsURL, "path: web, targetRevision: "+apps.commits[0]),
		"apps/more.yaml": appOf("more", appsURL, "path: more"), "apps/set.yaml": set, "apps/kustom.yaml": appOf("kustom", appsURL, "path: kustom, kustomize: {namePrefix: x-}"),
		"apps/owned.yaml": chart("owned", ownURL, appsURL), "apps/foreign.yaml": chart("foreign", appsURL, appsURL),
		"web/a.yaml": data("own"), "values/b.yaml": "b: z\n", "env/not/a.yaml": data("not"),
		"chart/Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n", "chart/templates/a.yaml": echoChart,
	})
	at := apps.dir + "//"
	want := map[string]string{
		"main": at + "web/a.yaml:1 new", "head": at + "web/a.yaml:1 new", "tag": at + "web/a.yaml:1 old", "hash": at + "web/a.yaml:1 old",
		"back": "web/a.yaml:1 own", "deep": at + "web/a.yaml:1 old", "one": at + "env/one/a.yaml:1 one", "two": at + "env/two/a.yaml:1 two", "listed": at + "web/a.yaml:1 new",
		"kustom": at + "kustom/a.yaml:1 kustom", "owned": "chart/templates/a.yaml xz", "foreign": at + "chart/templates/a.yaml xz",
	}
	config := own.argoConfig()
	config.Repositories = []manifests.Permission{apps.permit(appsURL)}
	loader := openArgo(t, config)
	for range 2 { // the second time, charts are not rendered again
		d, err := loader.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, configMaps(d)); diff != "" || len(d.Problems) > 0 || d.Revision != own.commits[0] {
			t.Errorf("%s %q", diff, problems(d))
		}
		owned, foreign := claimOf(t, d, "owned/a"), claimOf(t, d, "foreign/a")
		if diff := cmp.Diff([]string{at + "values/a.yaml", "chart/Chart.yaml", "values/b.yaml"}, owned.AlsoIn[:3]); diff != "" {
			t.Error(diff)
		}
		for _, name := range foreign.AlsoIn {
			if strings.Contains(name, at) == (name == "values/b.yaml") {
				t.Errorf("also in %s", name)
			}
		}
		if c := claimOf(t, d, "main/a"); len(c.AuditEvents) != 1 || !strings.Contains(c.AuditEvents[0].Actor.Evidence, at+"web/a.yaml") {
			t.Errorf("%v", c.AuditEvents)
		}
		past, err := loader.(declared.Historian).History(t.Context(), d.Revision, []*model.Claim{&owned, &foreign})
		if err != nil || len(past.Pasts) != 2 || !strings.Contains(past.Pasts[0].Gap, "of which driftd reads no earlier commits") || !strings.Contains(past.Pasts[1].Gap, "of which driftd reads no earlier commits") {
			t.Errorf("%v %+v", err, past)
		}
	}
	folder := argoConfig(deploy(t, map[string]string{".git/HEAD": "ref: refs/heads/main\n", "apps/main.yaml": appOf("main", appsURL, "path: web, targetRevision: main")}))
	folder.Repositories = config.Repositories
	d, err := openArgo(t, folder).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"main": at + "web/a.yaml:1 new"}, configMaps(d)); diff != "" || len(d.Problems) > 0 {
		t.Errorf("%s %q", diff, problems(d))
	}
}

// TestArgoLeavesOtherRepositories checks that objects of a repository that is not read are unchecked, with the reason.
func TestArgoLeavesOtherRepositories(t *testing.T) {
	t.Parallel()
	own, apps := newHistory(t), newHistory(t)
	apps.commit(map[string]string{"web/a.yaml": data("new")})
	own.commit(map[string]string{
		"apps/other.yaml": appOf("other", "https://git.example.org/shop/other.git", "path: web"), "apps/evil.yaml": appOf("evil", "https://git.example.org.evil.example/shop/apps.git", "path: web"),
		"apps/none.yaml": appOf("none", appsURL, "path: web, targetRevision: none"), "apps/range.yaml": appOf("range", appsURL, "path: web, targetRevision: 1.*"),
		"apps/gone.yaml": appOf("gone", "https://git.example.org/shop/gone.git", "path: web"), "apps/token.yaml": appOf("token", "https://git.example.org/shop/token.git", "path: web"),
		"apps/ok.yaml": app("ok", "ok", "path: web"), "web/a.yaml": data("own"),
		"apps/folder.yaml": appOf("folder", appsURL, "path: none"), "apps/good.yaml": appOf("good", appsURL, "path: web, targetRevision: main"),
	})
	config := own.argoConfig()
	gone := apps.permit("https://git.example.org/shop/gone.git")
	gone.Git += "/none"
	config.Repositories = []manifests.Permission{
		apps.permit(appsURL), gone, {Git: "https://git.example.org/shop/token.git", Access: gitrepo.Access{TokenFile: "/none/token"}},
	}
	d, err := openArgo(t, config).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"ok": "web/a.yaml:1 own", "good": apps.dir + "//web/a.yaml:1 new"}, configMaps(d)); diff != "" {
		t.Error(diff)
	}
	text := strings.Join(problems(d), "\n")
	for _, want := range []string{
		"Application argocd/other deploys from https://git.example.org/shop/other.git, which is another repository: list it in repositories",
		"Application argocd/evil deploys from https://git.example.org.evil.example/shop/apps.git, which is another repository",
		"Application argocd/none deploys the revision none of " + apps.dir + ": read git repository", "Application argocd/range deploys the revision 1.* of " + apps.dir + ": ",
		"Application argocd/gone deploys the revision HEAD of " + apps.dir + "/none: read git repository", "Application argocd/token deploys the revision HEAD of https://git.example.org/shop/token.git: ",
		"Application argocd/folder deploys none, which does not exist in " + apps.dir + " at ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("problems %q, want %q", text, want)
		}
	}
	if len(d.Problems) != 7 {
		t.Errorf("%q", problems(d))
	}
	config.Repositories = []manifests.Permission{{Git: "git@git.example.org:shop/deploy"}}
	_, err = manifests.ArgoCDDefinition().Open(declared.Env{Log: slog.New(slog.DiscardHandler)}, func(into any) error {
		*into.(*manifests.ArgoCDConfig) = config
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "is the repository of the declaration") {
		t.Error(err)
	}
}

// TestFetchedChartWithValuesElsewhere checks that a chart of a repository of charts has values of a listed repository.
func TestFetchedChartWithValuesElsewhere(t *testing.T) {
	t.Parallel()
	url := chartRepository(t)
	own, apps := newHistory(t), newHistory(t)
	apps.commit(map[string]string{"values/a.yaml": "replicas: 7\n"})
	own.commit(map[string]string{"apps/a.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: journal}\nspec:\n  project: default\n" +
		"  destination: {server: 'https://kubernetes.default.svc', namespace: web}\n  sources:\n" +
		"  - {repoURL: '" + url + "/charts', chart: journal, targetRevision: 1.0.0, helm: {releaseName: blog, valueFiles: [$v/values/a.yaml]}}\n" +
		"  - {repoURL: '" + appsURL + "', ref: v}\n"})
	config := own.argoConfig()
	config.Charts, config.Repositories = []fetch.Entry{{URL: url + "/charts"}}, []manifests.Permission{apps.permit(appsURL)}
	d, err := openArgo(t, config).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	web := claimOf(t, d, "web/blog-web")
	if web.Value.At("data", "replicas").Str() != "7" || len(d.Problems) > 0 {
		t.Errorf("%s %q", web.Value, problems(d))
	}
	if diff := cmp.Diff([]string{apps.dir + "//values/a.yaml"}, web.AlsoIn); diff != "" || web.Address != "apps/a.yaml:1" {
		t.Errorf("%s at %s", diff, web.Address)
	}
}
