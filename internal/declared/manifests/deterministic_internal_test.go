package manifests

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// A reversedFS lists the files of each folder in reverse order.
type reversedFS struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (r reversedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(r.FS, name)
	entries = slices.Clone(entries)
	slices.Reverse(entries)
	return entries, err
}

// TestKustomizeIsDeterministic checks that a build does not depend on the environment, the working directory and the order of
// files, and that what could depend on them is refused (docs/decisions/0075-builds-of-kustomize.md).
func TestKustomizeIsDeterministic(t *testing.T) { //nolint:paralleltest // it sets the environment
	const web = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, image: nginx, envFrom: [{configMapRef: {name: c}}, {secretRef: {name: s}}]}]}}}\n"
	files := fstest.MapFS{
		"over/kustomization.yaml": {Data: []byte("resources: [../base, ../more]\ncomponents: [../part]\nnamePrefix: p-\nnamespace: shop\nlabels: [{pairs: {app: web, b: c}, includeSelectors: true}]\n" +
			"configMapGenerator:\n- {name: c, literals: [a=b, ö=x, HOME=$HOME], envs: [x.env], files: [x.env, y.txt]}\nsecretGenerator:\n- {name: s, literals: [k=v], envs: [empty.env]}\n" +
			"images: [{name: nginx, newTag: '2'}]\nreplacements: [{source: {kind: ConfigMap, name: a}, targets: [{select: {kind: ConfigMap, name: b}, fieldPaths: [data.a], options: {create: true}}]}]\n" +
			"transformers: [../transform]\n")},
		"over/x.env": {Data: []byte("A=1\nB=2\n")}, "over/y.txt": {Data: []byte("text")},
		"over/empty.env":               {Data: []byte("A=1\n")},
		"base/kustomization.yaml":      {Data: []byte("resources: [web.yaml]\n")},
		"base/web.yaml":                {Data: []byte(web)},
		"more/kustomization.yaml":      {Data: []byte("resources: [b.yaml, a.yaml]\n")},
		"more/a.yaml":                  {Data: []byte("kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {ä: x, z: y, a: b}\n")},
		"more/b.yaml":                  {Data: []byte("kind: ConfigMap\napiVersion: v1\nmetadata: {name: b}\n")},
		"part/kustomization.yaml":      {Data: []byte("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{target: {kind: ConfigMap}, patch: '[{\"op\": \"add\", \"path\": \"/metadata/annotations\", \"value\": {\"x\": \"y\"}}]'}]\n")},
		"transform/kustomization.yaml": {Data: []byte("resources: [t.yaml]\n")},
		"transform/t.yaml":             {Data: []byte("apiVersion: builtin\nkind: AnnotationsTransformer\nmetadata: {name: t}\nannotations: {q: r}\nfieldSpecs: [{path: metadata/annotations, create: true}]\n")},
	}
	o := jobArgs{Place: place{Outside: outsideFolder}, Name: path.Join(mountPoint, "over"), Limit: 1 << 20}
	var results []packed
	for _, files := range []fs.FS{files, reversedFS{files}} {
		for _, locale := range []string{"C", "sv_SE.UTF-8"} {
			dir := t.TempDir()
			t.Chdir(dir)
			for name, value := range map[string]string{"HOME": dir, "XDG_CONFIG_HOME": dir, "KUSTOMIZE_PLUGIN_HOME": dir, "TMPDIR": dir, "A": dir, "PATH": "", "LANG": locale, "LC_ALL": locale, "TZ": "Asia/Tokyo"} {
				t.Setenv(name, value)
			}
			built, err := build(files, o)
			if err != nil || len(built.Problems) > 0 || len(built.Objects) < 5 {
				t.Fatalf("got %d objects, problems %v, %v", len(built.Objects), built.Problems, err)
			}
			results = append(results, built)
		}
	}
	for _, other := range results[1:] {
		if d := cmp.Diff(results[0], other); d != "" {
			t.Errorf("two builds differ (-first +other):\n%s", d)
		}
	}
}

// TestKustomizeRunsNothing checks that parts of a kustomization that run a program or read the environment fail.
func TestKustomizeRunsNothing(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	program := filepath.Join(dir, "run.sh")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+filepath.Join(dir, "ran")+"\n"), 0o700); err != nil { //nolint:gosec // it must be a program
		t.Fatal(err)
	}
	plugin := filepath.Join(dir, "example.org", "v1", "generator", "Generator")
	if err := os.MkdirAll(filepath.Dir(plugin), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(program, plugin); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(plugin, program); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUSTOMIZE_PLUGIN_HOME", dir)
	t.Setenv("HOME", dir)
	t.Setenv("PATH", dir)
	for name, text := range map[string]string{
		"function":  "generators: [f.yaml]\n",
		"plugin":    "generators: [p.yaml]\n",
		"container": "transformers: [c.yaml]\n",
		"chart":     "helmCharts: [{name: x, releaseName: x}]\nhelmGlobals: {chartHome: .}\n",
		"variable":  "configMapGenerator: [{name: c, envs: [e.env]}]\n",
	} {
		files := fstest.MapFS{"kustomization.yaml": {Data: []byte("resources: [a.yaml]\n" + text)},
			"a.yaml": {Data: []byte("kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\n")},
			"f.yaml": {Data: []byte("apiVersion: example.org/v1\nkind: Any\nmetadata:\n  name: f\n  annotations: {config.kubernetes.io/function: \"exec: {path: '" + program + "'}\"}\n")},
			"p.yaml": {Data: []byte("apiVersion: example.org/v1\nkind: Generator\nmetadata: {name: p}\n")},
			"c.yaml": {Data: []byte("apiVersion: example.org/v1\nkind: Any\nmetadata:\n  name: f\n  annotations: {config.kubernetes.io/function: \"container: {image: run.sh}\"}\n")},
			"e.env":  {Data: []byte("HOME\n")}}
		built, err := build(files, jobArgs{Place: place{Outside: outsideFolder}, Name: mountPoint, Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if name != "variable" && len(built.Problems) == 0 {
			t.Errorf("%s: it is not unchecked", name)
		}
		for _, made := range built.Objects {
			if strings.Contains(string(made.JSON), dir) {
				t.Errorf("%s: the environment is in %s", name, made.JSON)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("a program ran")
	}
}
