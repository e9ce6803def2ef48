package manifests_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// generator returns an ArtifactGenerator of Flux with one artifact "apps", and the fields of its copies.
func generator(copies ...string) string {
	return "apiVersion: source.extensions.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: all, namespace: flux-system}\nspec:\n" +
		"  sources:\n  - {alias: repo, kind: GitRepository, name: flux-system}\n  - {alias: other, kind: GitRepository, name: other}\n" +
		"  artifacts:\n  - {name: first, copy: [{from: '@repo/web/**', to: '@artifact/'}]}\n  - {name: apps, copy: [{" + strings.Join(copies, "}, {") + "}]}\n"
}

// TestFluxArtifacts checks that a Kustomization whose source is an artifact of an ArtifactGenerator applies the folders of the
// repository from which it was copied, and which copies are followed.
func TestFluxArtifacts(t *testing.T) {
	t.Parallel()
	from := func(from, to string) string { return "from: '@" + from + "', to: '@artifact/" + to + "'" }
	const unfollowed = "its source ExternalArtifact flux-system/apps is made by copy[0], and driftd follows only copies of whole folders"
	for name, tc := range map[string]struct {
		path   string
		copies []string
		// want is the reason why the objects are unchecked, or "".
		want string
	}{
		"A folder":                       {"./prod", []string{from("repo/apps/**", "")}, ""},
		"Folders":                        {"./prod", []string{from("repo/apps/base/**", "base/"), from("repo/apps/prod/**", "prod")}, ""},
		"At its own path":                {"./apps/prod", []string{from("repo/apps/**", "apps/")}, ""},
		"The whole repository":           {"./apps/prod", []string{from("repo/**", "")}, ""},
		"A folder that is not copied":    {"./prod", []string{from("repo/apps/base/**", "base/")}, "its path ./prod has files that are not copied to its source"},
		"All of them, some not copied":   {"./", []string{from("repo/apps/prod/**", "prod/")}, "its path ./ has files that are not copied to its source"},
		"Another path":                   {"./live", []string{from("repo/apps/prod/**", "live/")}, unfollowed},
		"Part of a name":                 {"./prod", []string{from("repo/shop-prod/**", "prod/")}, unfollowed},
		"Two folders in one":             {"./prod", []string{from("repo/apps/prod/**", "prod/"), from("repo/web/**", "")}, "has files at other paths than their source"},
		"Two sources":                    {"./prod", []string{from("repo/apps/prod/**", "prod/"), from("other/apps/base/**", "base/")}, "has files at other paths than their source"},
		"A file":                         {"./prod", []string{from("repo/apps/prod/a.yaml", "prod/a.yaml")}, unfollowed},
		"One level":                      {"./prod", []string{from("repo/apps/*", "")}, unfollowed},
		"A pattern":                      {"./prod", []string{from("repo/*/prod/**", "prod/")}, unfollowed},
		"Without some":                   {"./prod", []string{from("repo/apps/**", "") + ", exclude: ['*.md']"}, unfollowed},
		"Merged":                         {"./prod", []string{from("repo/apps/**", "") + ", strategy: Merge"}, unfollowed},
		"A source that does not exist":   {"./prod", []string{from("none/apps/**", "")}, unfollowed},
		"A source of another repository": {"./prod", []string{from("other/apps/**", "")}, "its source is GitRepository flux-system/other (https://git.example.org/other), and driftd reads another repository"},
		"Upwards":                        {"./prod", []string{from("repo/../apps/**", "")}, unfollowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := loadFlux(t, map[string]string{
				"clusters/prod/a.yaml": strings.Replace(applies("web", "  path: "+tc.path+"\n  targetNamespace: web\n"), "kind: GitRepository, name: flux-system", "kind: ExternalArtifact, name: apps", 1),
				"clusters/prod/g.yaml": generator(tc.copies...),
				"clusters/prod/s.yaml": strings.Replace(gitRepository("https://git.example.org/other", "branch: main"), "name: flux-system", "name: other", 1),
				"apps/base/b.yaml":     configMap("b"), "apps/prod/kustomization.yaml": "resources: [../base/b.yaml, a.yaml]\n", "apps/prod/a.yaml": configMap("a"),
				"shop-prod/a.yaml": configMap("wrong"), "web/a.yaml": configMap("wrong"),
			}, func(c *manifests.FluxConfig) { c.SameRepository = []string{"https://git.example.org/Team/shop.git"} })
			found := slices.DeleteFunc(problems(d), func(line string) bool { return strings.Contains(line, "the artifacts of ArtifactGenerator") })
			switch {
			case tc.want != "" && (len(found) != 1 || !strings.Contains(found[0], tc.want)):
				t.Errorf("problems %q, want one with %s", found, tc.want)
			case tc.want == "" && len(found) > 0:
				t.Errorf("problems %q", found)
			case tc.want == "":
				if diff := cmp.Diff([]string{"apps/prod/a.yaml:1 ConfigMap web/a", "apps/base/b.yaml:1 ConfigMap web/b"}, others(d)); diff != "" {
					t.Errorf("claims (-want +got):\n%s", diff)
				}
			}
		})
	}
}
