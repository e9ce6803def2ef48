package manifests_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
)

// shop returns a base with two overlays, a component, and their files.
func shop() map[string]string {
	return map[string]string{
		"base/kustomization.yaml": "resources:\n- web.yaml\n- settings\n",
		"base/web.yaml":           "# the shop\n" + deployment + "---\n" + configMap("static"),
		"base/settings/kustomization.yml": "configMapGenerator:\n- name: settings\n  literals: [colour=blue]\n" +
			"generatorOptions: {disableNameSuffixHash: true}\n",
		"components/log/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [log.yaml]\n",
		"components/log/log.yaml":           configMap("log"),
		"components/idle/Kustomization":     "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nresources: [../nowhere]\n",
		"overlays/prod/kustomization.yaml": "namespace: shop\nnamePrefix: prod-\nresources: [../../base]\ncomponents: [../../components/log]\n" +
			"patches:\n- path: replicas.yaml\n- target: {kind: ConfigMap, name: static}\n  patch: |\n    - {op: replace, path: /data/a, value: patched}\n",
		"overlays/prod/replicas.yaml":     "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 5}\n",
		"overlays/test/kustomization.yml": "namespace: test\nresources: [../../base/settings]\nsecretGenerator:\n- name: key\n  literals: [k=hunter2]\n",
		"plain/extra.yaml":                configMap("extra"),
	}
}

func TestKustomize(t *testing.T) {
	t.Parallel()
	d := loadDir(t, deploy(t, shop()))
	want := []string{
		"deploy/plain/extra.yaml:1 ConfigMap default/extra",
		"deploy/components/log/log.yaml:1 ConfigMap shop/prod-log",
		"deploy/base/settings/kustomization.yml ConfigMap shop/prod-settings",
		"deploy/base/web.yaml:18 ConfigMap shop/prod-static",
		"deploy/base/settings/kustomization.yml ConfigMap test/settings",
		"deploy/base/web.yaml:2 Deployment.apps shop/prod-web",
		"deploy/overlays/test/kustomization.yml Secret test/key-HASH",
	}
	got := claims(d)
	for i, line := range got {
		if before, _, ok := strings.Cut(line, "test/key-"); ok {
			got[i] = before + "test/key-HASH"
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	if len(d.Problems) > 0 {
		t.Errorf("got problems %v", d.Problems)
	}
	for _, c := range d.Claims {
		text := string(c.Value.AppendJSON(nil))
		if strings.Contains(text, "config.kubernetes.io") || strings.Contains(text, "hunter2") {
			t.Errorf("%s: got %s", c.ID, text)
		}
		switch c.Name {
		case "prod-web":
			if !strings.Contains(text, `"replicas":5`) {
				t.Errorf("the patch was not applied: %s", text)
			}
		case "prod-static":
			if !strings.Contains(text, `"a":"patched"`) {
				t.Errorf("the patch was not applied: %s", text)
			}
		}
	}
}

func TestKustomizeRoots(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		dir    string
		change func(map[string]string)
		want   []string
	}{
		"Outside": {
			reason: "a base in the work tree of the declared folder",
			dir:    "overlays/prod",
			change: func(map[string]string) {},
			want: []string{"components/log/log.yaml:1 ConfigMap shop/prod-log", "base/settings/kustomization.yml ConfigMap shop/prod-settings",
				"base/web.yaml:18 ConfigMap shop/prod-static", "base/web.yaml:2 Deployment.apps shop/prod-web"},
		},
		"Itself": {
			reason: "a declared folder with a kustomization, and others below",
			dir:    ".",
			change: func(files map[string]string) { files["kustomization.yaml"] = "resources: [plain/extra.yaml]\n" },
			want:   []string{"deploy/plain/extra.yaml:1 ConfigMap default/extra"},
		},
		"Nested": {
			reason: "a kustomization below another one, which does not use it",
			dir:    "plain",
			change: func(files map[string]string) {
				files["plain/one/kustomization.yaml"] = "resources: [one.yaml]\n"
				files["plain/one/one.yaml"] = configMap("one")
				files["plain/one/unused.yaml"] = configMap("unused")
				files["plain/one/two/kustomization.yaml"] = "resources: [two.yaml]\n"
				files["plain/one/two/two.yaml"] = configMap("two")
			},
			want: []string{"plain/extra.yaml:1 ConfigMap default/extra", "plain/one/one.yaml:1 ConfigMap default/one", "plain/one/two/two.yaml:1 ConfigMap default/two"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := shop()
			tc.change(files)
			files[".git/HEAD"] = "ref: refs/heads/main\n"
			d := loadDir(t, filepath.Join(deploy(t, files), tc.dir))
			got := claims(d)
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], "../")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(d.Problems) > 0 {
				t.Errorf("%s (-want +got):\n%s%v", tc.reason, diff, d.Problems)
			}
		})
	}
}

func TestKustomizeProblems(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		files   map[string]string
		wantErr []string
	}{
		"Missing":  {"a missing file", map[string]string{"k/kustomization.yaml": "resources: [gone.yaml]\n"}, []string{"deploy/k/kustomization.yaml: kustomize cannot build it (run kustomize build for the full error): ", "deploy/k/gone.yaml"}},
		"Broken":   {"a broken file", map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\n", "k/a.yaml": "a: [\n"}, []string{"kustomize cannot build it (run kustomize build for the full error): "}},
		"Unknown":  {"an unknown field", map[string]string{"k/kustomization.yaml": "resource: [a.yaml]\n"}, []string{`unknown field "resource"`}},
		"NotYAML":  {"a kustomization in malformed YAML", map[string]string{"k/kustomization.yaml": "a: [\n"}, []string{"kustomize cannot build it (run kustomize build for the full error): "}},
		"Above":    {"a base outside of the declared folder, which is in no work tree", map[string]string{"k/kustomization.yaml": "resources: [../../private]\n"}, []string{"leads out of the folder, which is in no git repository: declare"}},
		"Absolute": {"an absolute path", map[string]string{"k/kustomization.yaml": "resources: [/etc]\n"}, []string{"leads out of the folder, which"}},
		"Device":   {"an endless file", map[string]string{"k/kustomization.yaml": "generators: ['../../../../../../../../../dev/zero']\n"}, []string{"leads out of the folder, which"}},
		"Outside":  {"a file outside of the kustomization", map[string]string{"k/kustomization.yaml": "resources: [../a.yaml]\n", "a.yaml": configMap("a")}, []string{"is not in or below"}},
		"Helm":     {"a chart", map[string]string{"k/kustomization.yaml": "helmCharts: [{name: x, repo: 'https://u:hunter2@example.org'}]\n"}, []string{"kustomize cannot build it (run kustomize build for the full error): "}},
		"Circle":   {"a cycle of bases", map[string]string{"a/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "resources: [../a]\n"}, []string{"deploy/a/kustomization.yaml: ", "cycle detected"}},
		"Secret":   {"an error of a generator shows no secret", map[string]string{"k/kustomization.yaml": "secretGenerator: [{name: s, literals: ['hunter2']}]\n"}, []string{"kustomize cannot build it (run kustomize build for the full error): "}},
		"Patch":    {"an error of a patch shows no patch", map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\npatches: [{patch: '{\"password\": hunter2'}]\n", "k/a.yaml": configMap("a")}, []string{"kustomize cannot build it (run kustomize build for the full error): "}},
		"Exec":     {"a command is never run", map[string]string{"k/kustomization.yaml": "transformers: [t.yaml]\nresources: [a.yaml]\n", "k/a.yaml": configMap("a"), "k/t.yaml": "apiVersion: x/v1\nkind: X\nmetadata:\n  name: x\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./run.sh}\n"}, []string{"kustomize cannot build it (run kustomize build for the full error): "}},
		"Base":     {"a remote base", map[string]string{"k/kustomization.yaml": "resources: ['https://u:hunter2@example.org/x//base?ref=v1']\n"}, []string{"needs https://example.org/x//base?ref=v1, and driftd does not fetch remote bases", "or set allow_network in the declaration's settings"}},
		"GitHub":   {"a remote base in short form", map[string]string{"k/kustomization.yaml": "bases: [github.com/org/repo]\n"}, []string{"needs github.com/org/repo"}},
		"Below":    {"a remote base of a base", map[string]string{"k/kustomization.yaml": "resources: [../b]\n", "b/kustomization.yaml": "components: ['git@example.org:org/repo']\n"}, []string{"deploy/k/kustomization.yaml: needs git@example.org:org/repo"}},
		"URLPatch": {"a remote patch", map[string]string{"k/kustomization.yaml": "resources: [a.yaml]\npatches: [{path: 'HTTPS://example.org/p.yaml'}]\n", "k/a.yaml": configMap("a")}, []string{"needs https://example.org/p.yaml"}},
		"URLFile":  {"a remote file of a generator", map[string]string{"k/kustomization.yaml": "configMapGenerator: [{name: x, files: ['a=https://example.org/a']}]\n"}, []string{"needs https://example.org/a"}},
		"URLDeep":  {"a remote file of a transformer's own file", map[string]string{"k/kustomization.yaml": "transformers: [t.yaml]\n", "k/t.yaml": "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: https://example.org/p\n"}, []string{"needs https://example.org/p"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.files["other.yaml"] = configMap("other")
			d := loadDir(t, deploy(t, tc.files))
			got := problems(d)
			if len(got) != 1 || len(d.Claims) == 0 {
				t.Fatalf("%s: got %d claims and problems %q, want the claims of the others and one problem", tc.reason, len(d.Claims), got)
			}
			for _, want := range tc.wantErr {
				if !strings.Contains(got[0], want) {
					t.Errorf("%s: got %q, want %q", tc.reason, got[0], want)
				}
			}
			temp := os.TempDir() //nolint:usetesting // looks for the folder, makes nothing in it
			if strings.Contains(got[0], "hunter2") || strings.Contains(got[0], temp) {
				t.Errorf("%s: %q contains a secret", tc.reason, got[0])
			}
		})
	}
}

// TestKustomizeNetwork proves that a URL in a kustomization is requested only if that is
// allowed.
func TestKustomizeNetwork(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		if _, err := w.Write([]byte(configMap("far"))); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	config := manifests.Defaults()
	config.Dir = deploy(t, map[string]string{"kustomization.yaml": "resources: ['" + server.URL + "/far.yaml']\n"})
	d, err := load(t, config)
	if err != nil || requests.Load() != 0 || len(d.Problems) != 1 {
		t.Errorf("not allowed: %d requests, %v, %v", requests.Load(), d.Problems, err)
	}
	config.AllowNetwork = true
	d, err = load(t, config)
	if err != nil || requests.Load() == 0 || len(d.Claims) != 1 {
		t.Errorf("allowed: %d requests, %d claims, %v, %v", requests.Load(), len(d.Claims), d.Problems, err)
	}
}

func TestKustomizeConfiguredOrigins(t *testing.T) {
	t.Parallel()
	d := loadDir(t, deploy(t, map[string]string{
		"kustomization.yaml": "resources: [a.yaml]\nbuildMetadata: [originAnnotations]\n", "a.yaml": configMap("a"),
	}))
	if len(d.Claims) != 1 || !strings.Contains(string(d.Claims[0].Value.AppendJSON(nil)), "config.kubernetes.io/origin") {
		t.Errorf("the configured annotation is missing: %v", d.Claims)
	}
}

func TestKustomizeLimits(t *testing.T) {
	t.Parallel()
	config := manifests.Defaults()
	config.Dir = deploy(t, map[string]string{
		"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": configMap("a") + "# " + strings.Repeat("x", 1000),
	})
	config.MaxFileSize = 500
	d, err := load(t, config)
	if err != nil || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Reason, "a.yaml: larger than 500 bytes; raise max_file_size") {
		t.Errorf("got %v, %v", d.Problems, err)
	}
}

func TestLoadCanceled(t *testing.T) {
	t.Parallel()
	config := manifests.Defaults()
	config.Dir = deploy(t, shop())
	loader, err := open(config, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := loader.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}
