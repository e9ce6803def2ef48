package manifests_test

import (
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// openFlux returns a loader of a declaration "shop" of type flux.
func openFlux(t testing.TB, config manifests.FluxConfig) declared.Loader {
	t.Helper()
	env := declared.Env{
		Name: "shop", Governs: []string{"prod"}, Sealer: model.NewSealer([]byte("key")), MaxMemory: 512 << 20,
		Log: slog.New(slog.DiscardHandler), Boxes: box.NewPool(), Helm: os.Args[0], CacheDir: t.TempDir(),
	}
	loader, err := manifests.FluxDefinition().Open(env, func(into any) error {
		*into.(*manifests.FluxConfig) = config
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return loader
}

// loadFlux reads the folder clusters/prod of a repository with files.
func loadFlux(t testing.TB, files map[string]string, change func(*manifests.FluxConfig)) model.Declaration {
	t.Helper()
	all := map[string]string{".git/HEAD": "ref: refs/heads/main\n"}
	maps.Copy(all, files)
	config := manifests.FluxDefaults()
	config.Dir = deploy(t, all) + "/clusters/prod"
	if change != nil {
		change(&config)
	}
	d, err := openFlux(t, config).Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// applies returns a Kustomization of Flux.
func applies(name, spec string) string {
	return "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: " + name + ", namespace: flux-system}\nspec:\n" +
		"  sourceRef: {kind: GitRepository, name: flux-system}\n" + spec
}

// others returns the claims that are no objects of Flux.
func others(d model.Declaration) []string {
	return slices.DeleteFunc(claims(d), func(line string) bool { return strings.Contains(line, "fluxcd.io") })
}

func claimOf(t testing.TB, d model.Declaration, id string) model.Claim {
	t.Helper()
	i := slices.IndexFunc(d.Claims, func(c model.Claim) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("no claim on %s in %q", id, claims(d))
	}
	return d.Claims[i]
}

// TestFlux checks that the objects of a Kustomization of Flux are declared as Flux applies them.
func TestFlux(t *testing.T) {
	t.Parallel()
	settings := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata: {PLACE: berlin, A: from}\n"
	for name, tc := range map[string]struct {
		files map[string]string
		want  []string
		// id and value are a claim and a part of its value; also are its further files.
		id, value string
		also      []string
	}{
		"Plain folder": {
			map[string]string{"clusters/prod/web.yaml": applies("web", "  path: ./apps/web\n"), "apps/web/sub/a.yaml": configMap("a"), "apps/web/b.json": "{}", "apps/web/.sops.yaml": "a: b"},
			[]string{"apps/web/sub/a.yaml:1 ConfigMap default/a"}, "", "", nil,
		},
		"Target namespace": {
			map[string]string{
				"clusters/prod/web.yaml":      applies("web", "  path: apps/web\n  targetNamespace: web\n  namePrefix: x-\n  nameSuffix: -y\n"),
				"apps/web/kustomization.yaml": "resources: [a.yaml]\nnamespace: other\n", "apps/web/a.yaml": configMap("a"),
			},
			[]string{"apps/web/a.yaml:1 ConfigMap web/x-a-y"}, "", "", nil,
		},
		"Patches": {
			map[string]string{
				"clusters/prod/web.yaml": applies("web", "  path: ./apps/web/\n  patches:\n  - target: {kind: ConfigMap}\n    patch: |\n      - {op: replace, path: /data/a, value: z}\n"),
				"apps/web/a.yaml":        configMap("a"),
			},
			[]string{"apps/web/a.yaml:1 ConfigMap default/a"}, "default/a", `"a":"z"`, []string{"clusters/prod/web.yaml"},
		},
		"Patches of v1beta2": {
			map[string]string{
				"clusters/prod/web.yaml": strings.Replace(applies("web", "  path: apps\n  patchesStrategicMerge:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: z}}\n"+
					"  patchesJson6902:\n  - target: {version: v1, kind: ConfigMap, name: a}\n    patch: [{op: add, path: /data/b, value: y}]\n"), "/v1\n", "/v1beta2\n", 1),
				"apps/a.yaml": configMap("a"),
			},
			[]string{"apps/a.yaml:1 ConfigMap default/a"}, "default/a", `"b":"y"`, []string{"clusters/prod/web.yaml"},
		},
		"Images": {
			map[string]string{
				"clusters/prod/web.yaml":      applies("web", "  path: apps/web\n  images: [{name: web, newTag: '2'}]\n"),
				"apps/web/kustomization.yaml": "resources: [a.yaml]\nimages: [{name: web, newTag: '1'}]\n", "apps/web/a.yaml": deployment,
			},
			[]string{"apps/web/a.yaml:1 Deployment.apps default/web"}, "default/web", `"image":"web:2"`, []string{"apps/web/kustomization.yaml", "clusters/prod/web.yaml"},
		},
		"Components": {
			map[string]string{
				"clusters/prod/web.yaml": applies("web", "  path: apps/web\n  components: [../part, ../missing]\n  ignoreMissingComponents: true\n"),
				"apps/web/a.yaml":        configMap("a"), "apps/part/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [b.yaml]\n", "apps/part/b.yaml": configMap("b"),
			},
			[]string{"apps/web/a.yaml:1 ConfigMap default/a", "apps/part/b.yaml:1 ConfigMap default/b"}, "", "", nil,
		},
		"Common metadata": {
			map[string]string{"clusters/prod/web.yaml": applies("web", "  path: apps\n  commonMetadata: {labels: {team: shop}}\n"), "apps/a.yaml": configMap("a")},
			[]string{"apps/a.yaml:1 ConfigMap default/a"}, "default/a", `"labels":{"team":"shop"}`, nil,
		},
		"Substitution": {
			map[string]string{
				"clusters/prod/web.yaml":      applies("web", "  path: apps\n  postBuild:\n    substitute: {A: inline}\n    substituteFrom: [{kind: ConfigMap, name: settings}]\n"),
				"clusters/prod/settings.yaml": settings,
				"apps/a.yaml":                 configMap("a") + "  c: ${PLACE}-${A}-${B:=c}${D}\n  e: ${E}\n",
			},
			[]string{"apps/a.yaml:1 ConfigMap default/a", "clusters/prod/settings.yaml:1 ConfigMap flux-system/settings"}, "default/a", `"c":"berlin-inline-c","e":""`, []string{"clusters/prod/settings.yaml", "clusters/prod/web.yaml"},
		},
		"Late variables": {
			map[string]string{
				"clusters/prod/a.yaml": applies("web", "  path: apps\n  postBuild:\n    substituteFrom: [{kind: ConfigMap, name: settings}]\n"),
				"clusters/prod/z.yaml": applies("vars", "  path: vars\n"), "vars/settings.yaml": settings, "apps/a.yaml": configMap("a") + "  c: ${PLACE}\n",
			},
			[]string{"apps/a.yaml:1 ConfigMap default/a", "vars/settings.yaml:1 ConfigMap flux-system/settings"}, "default/a", `"c":"berlin"`, []string{"vars/settings.yaml"},
		},
		"No substitution": {
			map[string]string{
				"clusters/prod/web.yaml": applies("web", "  path: apps\n  postBuild: {substitute: {A: x}}\n"),
				"apps/a.yaml":            strings.Replace(configMap("a"), "  name: a\n", "  name: a\n  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}\n", 1) + "  c: ${A}\n",
			},
			[]string{"apps/a.yaml:1 ConfigMap default/a"}, "default/a", `"c":"${A}"`, nil,
		},
		"Kustomizations of a Kustomization": {
			map[string]string{
				"clusters/prod/all.yaml": applies("all", "  path: apps\n  dependsOn: [{name: other}]\n  prune: true\n"), "apps/web.yaml": applies("web", "  path: web\n"), "web/a.yaml": configMap("a"),
			},
			[]string{"web/a.yaml:1 ConfigMap default/a"}, "", "", nil,
		},
		"Itself": {
			map[string]string{
				"clusters/prod/sync.yaml": applies("flux-system", "  path: ./clusters/prod\n  commonMetadata: {labels: {by: flux}}\n"), "clusters/prod/a.yaml": configMap("a"),
			},
			[]string{"clusters/prod/a.yaml:1 ConfigMap default/a"}, "default/a", `"labels":{"by":"flux"}`, nil,
		},
		"Out of the repository": {
			map[string]string{"clusters/prod/web.yaml": applies("web", "  path: ../../../../apps\n"), "apps/a.yaml": configMap("a")},
			[]string{"apps/a.yaml:1 ConfigMap default/a"}, "", "", nil,
		},
		"Absolute": {
			map[string]string{"clusters/prod/web.yaml": applies("web", "  path: /apps\n"), "apps/a.yaml": configMap("a")},
			[]string{"apps/a.yaml:1 ConfigMap default/a"}, "", "", nil,
		},
		"Ignored files": {
			map[string]string{"clusters/prod/web.yaml": applies("web", "  path: apps\n"), "apps/a.yaml": configMap("a"), "apps/b.yaml": configMap("b"), ".sourceignore": "# comment\nb.yaml\n"},
			[]string{"apps/a.yaml:1 ConfigMap default/a"}, "", "", nil,
		},
		"Ignored files of a folder": {
			map[string]string{
				"clusters/prod/web.yaml": applies("web", "  path: apps/web\n"), "apps/web/a.yaml": configMap("a"), "apps/web/b.yaml": configMap("b"), "apps/.sourceignore": "b.yaml\n/web/sub/c.yaml\n/web/.github\n",
				"apps/web/sub/b.yaml": configMap("sub-b"), "apps/web/sub/c.yaml": configMap("c"), "apps/web/sub/d.yaml": configMap("d"), "apps/web/sub/.sourceignore": "!b.yaml\n/d.yaml\n",
				"apps/web/other/d.yaml": configMap("other-d"),
			},
			[]string{"apps/web/a.yaml:1 ConfigMap default/a", "apps/web/other/d.yaml:1 ConfigMap default/other-d", "apps/web/sub/b.yaml:1 ConfigMap default/sub-b"}, "", "", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := loadFlux(t, tc.files, nil)
			if diff := cmp.Diff([]string{}, problems(d)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.want, others(d)); diff != "" {
				t.Error(diff)
			}
			if tc.id == "" {
				return
			}
			c := claimOf(t, d, tc.id)
			if got := string(c.Value.AppendJSON(nil)); !strings.Contains(got, tc.value) {
				t.Errorf("%s is %s, want %s", tc.id, got, tc.value)
			}
			if diff := cmp.Diff(tc.also, c.AlsoIn); diff != "" {
				t.Error(diff)
			}
		})
	}
}
