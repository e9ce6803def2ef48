package manifests_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

const (
	fleetURL = "https://git.example.org/shop/fleet.git"
	appsURL  = "https://git.example.org/shop/apps.git"
)

// source returns a GitRepository.
func source(name, url, ref string) string {
	return strings.Replace(gitRepository(url, ref), "name: flux-system", "name: "+name, 1)
}

// from returns a Kustomization of Flux with a source.
func from(name, source, spec string) string {
	return strings.Replace(applies(name, spec), "GitRepository, name: flux-system", "GitRepository, name: "+source, 1)
}

// permit returns the permission for a repository that sources name by a URL.
func (h *history) permit(url string) manifests.Permission {
	return manifests.Permission{Git: h.dir, SameRepository: []string{url}}
}

func (h *history) fluxConfig(permissions ...manifests.Permission) manifests.FluxConfig {
	config := manifests.FluxDefaults()
	config.Git, config.Path, config.SameRepository, config.Repositories = h.dir, "clusters/prod", []string{fleetURL}, permissions
	return config
}

// TestFluxReadsOtherRepositories checks that Kustomizations of a listed repository are built from it, from where they lead on to each
// repository.
func TestFluxReadsOtherRepositories(t *testing.T) {
	t.Parallel()
	fleet, apps := newHistory(t), newHistory(t)
	apps.commit(map[string]string{"web/a.yaml": configMap("old")})
	apps.git("", "tag", "v1")
	apps.commit(map[string]string{
		"web/a.yaml":       configMap("a") + "  b: ${PLACE}\n",
		"tenants/own.yaml": from("own", "apps", "  path: deep\n"), "tenants/back.yaml": from("back", "fleet", "  path: base\n"),
		"tenants/again.yaml": from("again", "apps", "  path: tenants\n"), "deep/b.yaml": configMap("b"),
		"base/not.yaml": configMap("not"), "clusters/prod/not.yaml": configMap("not"),
	})
	fleet.commit(map[string]string{
		"clusters/prod/sources.yaml": source("fleet", fleetURL, "branch: main") + "---\n" + source("apps", "ssh://git@git.example.org/shop/apps", "branch: main") +
			"---\n" + source("old", appsURL, "tag: v1"),
		"clusters/prod/web.yaml":     from("web", "apps", "  path: ./web\n  targetNamespace: web\n  postBuild: {substitute: {PLACE: berlin}}\n"),
		"clusters/prod/old.yaml":     from("old", "old", "  path: web\n  targetNamespace: old\n"),
		"clusters/prod/tenants.yaml": from("tenants", "apps", "  path: tenants\n"),
		"base/c.yaml":                configMap("c"), "web/not.yaml": configMap("not"),
	})
	d, err := openFlux(t, fleet.fluxConfig(apps.permit(appsURL))).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	at := apps.dir + "//"
	want := []string{at + "web/a.yaml:1 ConfigMap old/old", at + "web/a.yaml:1 ConfigMap web/a", at + "deep/b.yaml:1 ConfigMap default/b", "base/c.yaml:1 ConfigMap default/c"}
	got := others(d)
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" || len(d.Problems) > 0 {
		t.Errorf("%s %q", diff, problems(d))
	}
	a := claimOf(t, d, "web/a")
	if a.Value.At("data", "b").Str() != "berlin" || d.Revision != fleet.commits[0] {
		t.Errorf("%s at %s", a.Value, d.Revision)
	}
	if diff := cmp.Diff([]string{"clusters/prod/web.yaml"}, a.AlsoIn); diff != "" {
		t.Error(diff)
	}
	for _, id := range []string{"default/b", "default/c"} {
		c := claimOf(t, d, id)
		if len(c.AuditEvents) != 1 {
			t.Fatalf("%s: %v", id, c.AuditEvents)
		}
		if evidence := c.AuditEvents[0].Actor.Evidence; strings.Contains(evidence, at) != (id == "default/b") {
			t.Errorf("%s: %s", id, evidence)
		}
	}
	if c := claimOf(t, d, "default/b"); !strings.Contains(c.AuditEvents[0].Actor.Evidence, apps.commits[1][:12]) {
		t.Errorf("%v", c.AuditEvents)
	}
}

func sorted(lines []string) []string { slices.Sort(lines); return lines }

var _ = model.Claim{}
var _ = os.WriteFile
var _ = filepath.Join
var _ = gitrepo.Access{}
