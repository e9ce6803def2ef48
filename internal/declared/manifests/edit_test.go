package manifests_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// overlay returns a kustomization with a patch of a base.
func overlay() map[string]string {
	return map[string]string{
		"base/kustomization.yaml": "resources: [a.yaml]\n",
		"base/a.yaml":             "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: \"1\"}\n",
		"over/kustomization.yaml": "resources: [../base]\npatches: [{path: patch.yaml}]\n",
		"over/patch.yaml":         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {y: \"1\"}\n",
	}
}

// edit loads a folder with edits.
func edit(t *testing.T, dir, address string, edits map[string][]byte) *manifests.Edit {
	t.Helper()
	config := manifests.Defaults()
	config.Dir = dir
	of, err := open(config, "")
	if err != nil {
		t.Fatal(err)
	}
	e, ok := manifests.NewEdit(of, address, edits)
	if !ok {
		t.Fatal("the loader is not one of manifests")
	}
	if _, err := e.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEdit(t *testing.T) {
	t.Parallel()
	dir := deploy(t, overlay())
	a := model.Ref{Kind: "kubernetes/ConfigMap", ID: "default/a"}
	for name, tc := range map[string]struct {
		reason      string
		edits       map[string][]byte
		wantX, want string
	}{
		"none":  {"the declaration as it is", nil, "1", "1"},
		"base":  {"an edited base, as kustomize reads it", map[string][]byte{"base/a.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: \"22\"}\n")}, "22", "1"},
		"patch": {"an edited patch, longer than the file", map[string][]byte{"over/patch.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {y: \"" + strings.Repeat("3", 99) + "\"}\n")}, "1", strings.Repeat("3", 99)},
	} {
		e := edit(t, dir, "deploy/base/a.yaml:1", tc.edits)
		data := e.Objects()[a].At("data")
		if got := data.At("x").Str() + " " + data.At("y").Str(); got != tc.wantX+" "+tc.want {
			t.Errorf("%s: %s: got %s", name, tc.reason, got)
		}
		var names, shown []string
		for _, file := range e.Sources().Files {
			names, shown = append(names, file.Name), append(shown, file.Shown)
			if text, edited := tc.edits[file.Name]; edited && string(text) != string(file.Content) {
				t.Errorf("%s: %s has the content %q", name, file.Name, file.Content)
			}
		}
		if d := cmp.Diff([]string{"base/a.yaml", "over/patch.yaml"}, names); d != "" {
			t.Errorf("%s: sources (-want +got):\n%s", name, d)
		}
		if d := cmp.Diff([]string{"deploy/base/a.yaml", "deploy/over/patch.yaml"}, shown); d != "" {
			t.Errorf("%s: addresses (-want +got):\n%s", name, d)
		}
	}
	top, err := filepath.EvalSymlinks(dir)
	if sources := edit(t, dir, "deploy/none.yaml:1", nil).Sources(); err != nil || len(sources.Files) != 0 || sources.Top != top || sources.Root != "." || sources.Revision != "" {
		t.Errorf("got %+v", sources)
	}
}

// TestAlsoIn checks that a claim names the files of its kustomization that determine it.
func TestAlsoIn(t *testing.T) {
	t.Parallel()
	config := manifests.Defaults()
	config.Dir = deploy(t, overlay())
	d, err := load(t, config)
	if err != nil || len(d.Claims) != 1 {
		t.Fatalf("got %d claims, %v", len(d.Claims), err)
	}
	if diff := cmp.Diff([]string{"deploy/over/patch.yaml"}, d.Claims[0].AlsoIn); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
