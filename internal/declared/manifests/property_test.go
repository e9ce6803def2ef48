package manifests_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// fingerprint returns a declaration as text.
func fingerprint(d model.Declaration) string {
	var b strings.Builder
	for _, c := range d.Claims {
		fmt.Fprintf(&b, "%s %s %s %s %s\n", c.Address, c.Kind, c.ID, c.Unchecked, c.Value.AppendJSON(nil))
	}
	fmt.Fprintln(&b, d.Scopes, problems(d))
	return b.String()
}

// TestLoadIgnoresOrder writes the same files in two orders into two folders, and reads each
// twice.
func TestLoadIgnoresOrder(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	round := 0
	rapid.Check(t, func(r *rapid.T) {
		files := rapid.MapOfN(
			rapid.StringMatching(`([ab]/){0,2}[a-d]\.(yaml|yml|json|txt)`),
			rapid.SampledFrom([]string{
				configMap("a"), configMap("b") + "---\n" + configMap("a"), deployment, "a: [\n", "a: 1\n", "",
				"apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n", "x: 1\nx: 2\n---\n" + deployment,
			}), 1, 8).Draw(r, "files")
		var names []string
		for name := range files {
			names = append(names, name)
		}
		var prints []string
		for range 2 {
			round++
			dir := filepath.Join(top, fmt.Sprint(round), "deploy")
			for _, name := range rapid.Permutation(names).Draw(r, "order") {
				write(t, dir, map[string]string{name: files[name]})
			}
			config := manifests.Defaults()
			config.Dir = dir
			d, err := load(t, config)
			prints = append(prints, fingerprint(d)+fmt.Sprint(err != nil))
		}
		if diff := cmp.Diff(prints[0], prints[1]); diff != "" {
			r.Fatalf("the same files, two declarations:\n%s", diff)
		}
		if err := os.RemoveAll(filepath.Join(top, fmt.Sprint(round))); err != nil {
			r.Fatal(err)
		}
	})
}

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		configMap("a") + "---\n" + deployment, "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: b}}]\n",
		crd("Site", "Cluster"), "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {scaleTargetRef: {kind: Deployment, name: web}}\n",
		"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nsops: {}\n", `{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"p"}}]}`, "kind: [\n",
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, stream string) {
		file := filepath.Join(dir, "all.yaml")
		write(t, dir, map[string]string{"all.yaml": stream})
		config := manifests.Defaults()
		config.Dir = file
		d, err := load(t, config)
		if err != nil {
			return
		}
		for _, c := range d.Claims {
			if c.Name == "" || c.Kind == "" || c.ID == "" || !strings.Contains(c.Address, "all.yaml:") {
				t.Errorf("got a claim %+v", c)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	for i := range 1000 {
		name := fmt.Sprintf("web-%04d", i)
		write(b, dir, map[string]string{
			name + ".yaml":          strings.ReplaceAll(deployment, "name: web", "name: "+name),
			name + "-settings.yaml": configMap(name) + "---\n" + configMap(name+"-more"),
		})
	}
	config := manifests.Defaults()
	config.Dir = dir
	loader, err := open(config, "")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := loader.Load(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
