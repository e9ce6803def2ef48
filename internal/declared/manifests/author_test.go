package manifests_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// commitAs commits files with the author name. Each commit is a minute after the previous one.
func (r repository) commitAs(t testing.TB, name string, files map[string]string) string {
	t.Helper()
	write(t, r.dir, files)
	work, err := r.Worktree()
	if err != nil {
		t.Fatal(err)
	}
	if err := work.AddWithOptions(&git.AddOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_700_000_000, 0)
	if head, err := r.Head(); err == nil {
		last, err := r.CommitObject(head.Hash())
		if err != nil {
			t.Fatal(err)
		}
		at = last.Committer.When.Add(time.Minute)
	}
	hash, err := work.Commit("by "+name+"\n\nat length", &git.CommitOptions{Author: &object.Signature{Name: name, When: at}})
	if err != nil {
		t.Fatal(err)
	}
	return hash.String()
}

// authors returns the author and the file of each claim: "shop/web: Bob patch.yaml".
func authors(d model.Declaration) map[string]string {
	found := map[string]string{}
	for _, c := range d.Claims {
		found[c.ID] = ""
		for _, tr := range c.AuditEvents {
			_, rest, _ := strings.Cut(tr.Actor.Evidence, " ")
			_, file, _ := strings.Cut(rest, " ")
			found[c.ID] += tr.Actor.Name + " " + file
		}
	}
	return found
}

func TestAuthor(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commitAs(t, "Alice", map[string]string{"clusters/a.yaml": configMap("a"), "clusters/two.yaml": configMap("b") + "---\n" + configMap("c")})
	hash := r.commitAs(t, "Bob", map[string]string{"clusters/two.yaml": configMap("b") + "---\n" + configMap("d")})
	r.commitAs(t, "Carol", map[string]string{"README.md": "x"})
	config := r.fromGit("clusters")
	config.Label = "shop.git"
	d, err := load(t, config)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"default/a": "Alice clusters/a.yaml", "default/b": "Bob clusters/two.yaml", "default/d": "Bob clusters/two.yaml"}
	if diff := cmp.Diff(want, authors(d)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	actor := model.Actor{Name: "Bob", At: time.Unix(1_700_000_060, 0).UTC(), Via: "git", Confidence: model.Likely,
		Evidence: "commit " + hash[:12] + " clusters/two.yaml", Message: "by Bob"}
	if diff := cmp.Diff([]model.AuditEvent{{Action: model.Edited, Actor: actor}}, d.Claims[1].AuditEvents); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestNoAuthor(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commitAs(t, "Alice", map[string]string{"a.yaml": configMap("a")})
	r.commitAs(t, "Bob", map[string]string{"b.yaml": configMap("b")})
	cases := map[string]struct {
		reason  string
		history int
		want    map[string]string
	}{
		"Off":  {"history is disabled", 0, map[string]string{"default/a": "", "default/b": ""}},
		"Near": {"one commit is read", 1, map[string]string{"default/a": "", "default/b": "Bob b.yaml"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := r.fromGit("")
			config.Commits = tc.history
			d, err := load(t, config)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, authors(d)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
	config := r.fromGit("")
	config.Commits = -1
	if _, err := open(config, ""); err == nil || !strings.Contains(err.Error(), "history -1: want a number of commits") {
		t.Errorf("negative history: got %v", err)
	}
}

// TestAuthorInFolder reads a folder in a work tree, with uncommitted changes.
func TestAuthorInFolder(t *testing.T) {
	t.Parallel()
	r := newRepository(t)
	r.commitAs(t, "Alice", map[string]string{
		"deploy/a.yaml": configMap("a"), "deploy/b.yaml": configMap("b"), "base/kustomization.yaml": "resources: [c.yaml]\n",
		"base/c.yaml": configMap("c"), "deploy/over/kustomization.yaml": "resources: [../../base]\n",
	})
	r.commitAs(t, "Bob", map[string]string{"base/c.yaml": configMap("c") + "  # again\n"})
	write(t, r.dir, map[string]string{"deploy/b.yaml": configMap("b") + "  # now\n", "deploy/new.yaml": configMap("new")})
	want := map[string]string{"default/a": "Alice deploy/a.yaml", "default/b": "", "default/new": "", "default/c": "Bob base/c.yaml"}
	if diff := cmp.Diff(want, authors(loadDir(t, r.dir+"/deploy"))); diff != "" {
		t.Errorf("folder (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"default/a": "Alice deploy/a.yaml"}, authors(loadDir(t, r.dir+"/deploy/a.yaml"))); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

// layered returns a base and an overlay with all kinds of changes.
func layered() map[string]string {
	return map[string]string{
		"base/kustomization.yaml": "resources: [web.yaml, other.yaml]\nconfigMapGenerator:\n- {name: settings, files: [app.conf], options: {disableNameSuffixHash: true}}\n",
		"base/web.yaml":           deployment, "base/other.yaml": configMap("other"), "base/app.conf": "a=b",
		"over/kustomization.yaml": "namePrefix: prod-\nresources: [../base]\ncomponents: [../part]\n" +
			"patches:\n- path: merge.yaml\n- path: json.yaml\n  target: {kind: Deploy.*, name: web}\n- path: labelled.yaml\n  target: {labelSelector: tier=db}\n" +
			"images:\n- {name: web, newTag: '2'}\n",
		"over/merge.yaml":         "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {paused: true}\n",
		"over/json.yaml":          "- {op: add, path: /spec/minReadySeconds, value: 5}\n",
		"over/labelled.yaml":      "- {op: add, path: /metadata/annotations, value: {}}\n",
		"part/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- path: other.yaml\n",
		"part/other.yaml":         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndata: {c: d}\n",
	}
}

func TestAuthorOfKustomization(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason, file string
		web          string
		other        string
		settings     string
	}{
		"Base":      {"the object's own file", "base/web.yaml", "Bob base/web.yaml", "Alice", "Alice"},
		"Merge":     {"a patch with the object's name", "over/merge.yaml", "Bob over/merge.yaml", "Alice", "Alice"},
		"Target":    {"a patch whose target selects it", "over/json.yaml", "Bob over/json.yaml", "Alice", "Alice"},
		"Others":    {"a patch that selects another object", "over/labelled.yaml", "Alice", "Alice", "Alice"},
		"Image":     {"the kustomization that sets its image", "over/kustomization.yaml", "Bob over/kustomization.yaml", "Alice", "Alice"},
		"Component": {"a component's patch", "part/other.yaml", "Alice", "Bob part/other.yaml", "Alice"},
		"Generated": {"a file of a generator", "base/app.conf", "Alice", "Alice", "Bob base/app.conf"},
		"Generator": {"the generator", "base/kustomization.yaml", "Alice", "Alice", "Bob base/kustomization.yaml"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepository(t)
			files := layered()
			r.commitAs(t, "Alice", files)
			r.commitAs(t, "Bob", map[string]string{tc.file: files[tc.file] + "\n# again\n"})
			for way, config := range map[string]manifests.Config{"git": r.fromGit("over"), "folder": inFolder(r.dir + "/over")} {
				d, err := load(t, config)
				if err != nil || len(d.Problems) > 0 {
					t.Fatal(err, d.Problems)
				}
				got := authors(d)
				for id, who := range got {
					if strings.HasPrefix(who, "Alice") {
						got[id] = "Alice" // Of files of one commit it does not matter which is named.
					}
				}
				want := map[string]string{"default/prod-web": tc.web, "default/prod-other": tc.other, "default/prod-settings": tc.settings}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", tc.reason, way, diff)
				}
			}
		})
	}
}

func inFolder(dir string) manifests.Config {
	config := manifests.Defaults()
	config.Dir = dir
	return config
}

// TestAuthorOfOverlays proves that two overlays of one base have separate patches.
func TestAuthorOfOverlays(t *testing.T) {
	t.Parallel()
	overlay := func(name string) map[string]string {
		return map[string]string{
			name + "/kustomization.yaml": "namespace: " + name + "\nresources: [../base]\npatchesStrategicMerge: [patch.yaml]\n" +
				"patchesJson6902:\n- {target: {group: apps, version: v1, kind: Deployment, name: web}, path: json.yaml}\nreplicas:\n- {name: web, count: 3}\n",
			name + "/patch.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {paused: true}\n",
			name + "/json.yaml":  "- {op: add, path: /spec/minReadySeconds, value: 5}\n",
		}
	}
	r := newRepository(t)
	files := map[string]string{"kustomization.yaml": "resources: [prod, dev]\n", "base/kustomization.yaml": "resources: [web.yaml]\n", "base/web.yaml": deployment}
	maps.Copy(files, overlay("prod"))
	maps.Copy(files, overlay("dev"))
	r.commitAs(t, "Alice", files)
	for _, file := range []string{"prod/patch.yaml", "prod/json.yaml", "prod/kustomization.yaml", "dev/patch.yaml"} {
		r.commitAs(t, "by "+file, map[string]string{file: files[file] + "\n# again\n"})
		d, err := load(t, r.fromGit(""))
		if err != nil || len(d.Problems) > 0 {
			t.Fatal(err, d.Problems)
		}
		changed, other := "prod/web", "dev/web"
		if strings.HasPrefix(file, "dev") {
			changed, other = other, changed
		}
		if got := authors(d); got[changed] != "by "+file+" "+file || strings.Contains(got[other], changed[:3]) {
			t.Errorf("%s: got %v", file, got)
		}
	}
}
