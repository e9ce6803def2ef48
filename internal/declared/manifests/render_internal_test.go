package manifests

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/model"
)

// A stuckFS does not finish reading one file before the next kustomization is read,
// which is when the build that reads the file was given up.
type stuckFS struct {
	filesys.FileSystem
	name, next     string
	stuck, release chan struct{}
	once           *sync.Once
}

// ReadFile implements filesys.FileSystem.
func (s stuckFS) ReadFile(file string) ([]byte, error) {
	switch {
	case strings.HasSuffix(file, s.name):
		close(s.stuck)
		<-s.release
	case strings.HasSuffix(file, s.next):
		select {
		case <-s.stuck:
			s.once.Do(func() { close(s.release) })
		default: // The kustomizations are looked for before any is built.
		}
	}
	return s.FileSystem.ReadFile(file)
}

// TestKustomizationThatDoesNotFinish holds that one build which takes too long is
// a problem of that kustomization alone. It is not parallel: builds wait for
// each other.
//
//nolint:paralleltest // see above
func TestKustomizationThatDoesNotFinish(t *testing.T) {
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
	env := declared.Env{Name: "shop", Governs: []string{"prod"}, Sealer: model.NewSealer([]byte("key"))}
	made, err := Definition().Open(env, func(into any) error { *into.(*Config) = config; return nil })
	if err != nil {
		t.Fatal(err)
	}
	l := made.(*loader)
	tr, err := openFolder(dir, "deploy", config.MaxFileSize)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.close() }()
	tr.kustomize = stuckFS{tr.kustomize, "stuck.yaml", "c/kustomization.yaml", make(chan struct{}), make(chan struct{}), &sync.Once{}}
	tr.touches = func(context.Context, []string) map[string]gitrepo.Touch { return nil }
	ctx, cancel := context.WithTimeout(t.Context(), config.Timeout)
	defer cancel()
	d, err := l.read(ctx, tr)
	if err != nil {
		t.Fatalf("one build that hangs fails the whole declaration: %v", err)
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
