package manifests

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

// A stuckFS hangs when one file is read.
type stuckFS struct {
	fs.FS
	name  string
	until chan struct{}
}

// Open implements fs.FS.
func (s stuckFS) Open(name string) (fs.File, error) {
	if name == s.name {
		<-s.until
	}
	return s.FS.Open(name)
}

// Stat implements fs.StatFS: only reading hangs.
func (s stuckFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(s.FS, name) }

// TestKustomizationTimeout proves that a build that takes too long is a problem of that
// kustomization only.
func TestKustomizationTimeout(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\n"
	for name, text := range map[string]string{
		"a/kustomization.yaml": "resources: [one.yaml]\n", "a/one.yaml": strings.ReplaceAll(configMap, "%s", "one"),
		"b/kustomization.yaml": "resources: [stuck.yaml]\n", "b/stuck.yaml": strings.ReplaceAll(configMap, "%s", "stuck"),
		"c/kustomization.yaml": "resources: [two.yaml]\n", "c/two.yaml": strings.ReplaceAll(configMap, "%s", "two"),
		"plain/three.yaml": strings.ReplaceAll(configMap, "%s", "three"),
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	config := Defaults()
	config.Dir, config.Timeout = dir, 12*time.Second
	env := declared.Env{Name: "shop", Governs: []string{"prod"}, Sealer: model.NewSealer([]byte("key")), MaxMemory: 512 << 20, Boxes: box.NewPool()}
	made, err := Definition().Open(env, func(into any) error { *into.(*Config) = config; return nil })
	if err != nil {
		t.Fatal(err)
	}
	l := made.(*loader)
	tr, _, err := openFolder(dir, "deploy", config.MaxFileSize)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.close() }()
	until := make(chan struct{})
	defer close(until)
	tr.files = stuckFS{tr.files, "b/stuck.yaml", until}
	tr.touches = func(context.Context, []string) map[string]gitrepo.Touch { return nil }
	ctx, cancel := context.WithTimeout(t.Context(), config.Timeout)
	defer cancel()
	d, err := l.read(ctx, tr)
	if err != nil {
		t.Fatalf("a build that hangs fails the declaration: %v", err)
	}
	var names []string
	for _, c := range d.Claims {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "one three two" {
		t.Errorf("claims %s, want those of all other parts", got)
	}
	if len(d.Problems) != 1 || d.Problems[0].Address != "deploy/b/kustomization.yaml" || !strings.Contains(d.Problems[0].Reason, "did not finish within") {
		t.Errorf("problems %+v", d.Problems)
	}
}
