package manifests_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// TestChartsInOtherRepositories renders charts of HelmReleases in another repository, if it is listed.
func TestChartsInOtherRepositories(t *testing.T) {
	t.Parallel()
	const at, address = "charts/blog/templates/web.yaml", "clusters/prod/release.yaml:1"
	release := func(name, spec string) string {
		return strings.Replace(helmRelease("  chart: {spec: {chart: charts/blog, sourceRef: {kind: GitRepository, name: apps}"+spec), "name: blog", "name: "+name, 1)
	}
	for name, tc := range map[string]struct {
		reason, release, source string
		more                    map[string]string
		permitted, broken       bool
		replicas, also, problem string
	}{
		"branch":       {permitted: true, release: release("blog", "}}\n"), source: "branch: main", replicas: "2"},
		"tag":          {permitted: true, release: release("blog", "}}\n"), source: "tag: v1", replicas: "1"},
		"values":       {permitted: true, release: release("blog", "}}\n  values: {replicas: 5}\n"), source: "branch: main", replicas: "5"},
		"value source": {permitted: true, release: release("blog", "}}\n  valuesFrom: [{kind: ConfigMap, name: values}]\n"), source: "branch: main", more: map[string]string{"clusters/prod/values.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: values, namespace: web}\ndata: {values.yaml: \"replicas: 6\"}\n"}, replicas: "6", also: "clusters/prod/values.yaml"},
		"values files": {reason: "They are in the repository of the chart.", permitted: true, release: release("blog", ", valuesFiles: [charts/blog/values.yaml, envs/prod.yaml]}}\n"), source: "branch: main",
			more: map[string]string{"envs/prod.yaml": "replicas: 8\n"}, replicas: "3", also: "//envs/prod.yaml"},
		"post renderers": {permitted: true, release: release("blog", "}}\n  postRenderers: [{kustomize: {patches: [{patch: '- {op: replace, path: /data/replicas, value: \"7\"}', target: {name: blog-web}}]}}]\n"), source: "branch: main", replicas: "7"},
		"not listed":     {release: release("blog", "}}\n"), source: "branch: main", problem: "list the URL in repositories to read that one, too"},
		"no ref":         {permitted: true, release: release("blog", "}}\n"), source: "branch: none", problem: "the source of its chart, web/apps, cannot be read: "},
		"a range":        {permitted: true, release: release("blog", "}}\n"), source: "semver: 1.x", problem: "reads the semver 1.x"},
		"no chart":       {permitted: true, release: strings.Replace(release("blog", "}}\n"), "charts/blog", "../charts/none", 1), source: "branch: main", problem: "there is no Chart.yaml"},
		"broken":         {permitted: true, broken: true, release: release("blog", "}}\n"), source: "branch: main", problem: "the source of its chart, web/apps, cannot be read: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fleet, apps := newHistory(t), newHistory(t)
			files := blog()
			delete(files, ".git/HEAD")
			apps.commit(files)
			apps.git("", "tag", "v1")
			apps.commit(map[string]string{"charts/blog/values.yaml": "replicas: 2\ncache: {enabled: false}\n"})
			own := map[string]string{
				"clusters/prod/release.yaml": tc.release, "charts/blog/not.yaml": configMap("not"),
				"clusters/prod/sources.yaml": strings.Replace(source("apps", appsURL, tc.source), "namespace: flux-system", "namespace: web", 1),
			}
			maps.Copy(own, tc.more)
			fleet.commit(own)
			var permissions []manifests.Permission
			if tc.permitted {
				permissions = append(permissions, apps.permit(appsURL))
			}
			if tc.broken {
				permissions[0].Git += "-none"
			}
			d, err := openFlux(t, fleet.fluxConfig(permissions...)).Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if checkRefused(t, d, tc.problem) {
				return
			}
			web := claimOf(t, d, "web/blog-web")
			if diff := cmp.Diff([]string{tc.replicas, apps.dir + "//" + at}, []string{web.Value.At("data", "replicas").Str(), web.Address}); diff != "" {
				t.Error(diff, tc.reason)
			}
			also := strings.Join(web.AlsoIn, " ")
			for _, file := range []string{tc.also, apps.dir + "//charts/blog/Chart.yaml", "clusters/prod/release.yaml"} {
				if !strings.Contains(also, file) {
					t.Errorf("%s is not among %s", file, also)
				}
			}
			if got := claimOf(t, d, "web/blog").Address; got != address {
				t.Errorf("the release is at %s", got)
			}
			if len(web.AuditEvents) != 1 {
				t.Errorf("%v", web.AuditEvents)
			}
		})
	}
}
