package manifests_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/model"
)

// write writes files below dir.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// deploy creates a folder "deploy" with files.
func deploy(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deploy")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, files)
	return dir
}

// definition is shared, as in the product: it reads the built-in kinds once.
var definition = sync.OnceValue(manifests.Definition)

// open returns a loader of a declaration "shop".
func open(config manifests.Config, cacheDir string) (declared.Loader, error) {
	return openWithin(config, cacheDir, 512<<20)
}

// openWithin returns a loader with a limit of memory in bytes.
func openWithin(config manifests.Config, cacheDir string, memory int64) (declared.Loader, error) {
	env := declared.Env{
		Name: "shop", Governs: []string{"prod"}, Sealer: model.NewSealer([]byte("key")), MaxMemory: memory,
		CacheDir: cacheDir, Log: slog.New(slog.DiscardHandler), Boxes: box.NewPool(),
	}
	return definition().Open(env, func(into any) error {
		*into.(*manifests.Config) = config
		return nil
	})
}

func load(t testing.TB, config manifests.Config) (model.Declaration, error) {
	t.Helper()
	loader, err := open(config, "")
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return loader.Load(t.Context())
}

// loadWithin reads a declaration as the daemon does, with a limit of memory in bytes.
func loadWithin(t testing.TB, config manifests.Config, memory int64) (model.Declaration, error) {
	t.Helper()
	loader, err := openWithin(config, "", memory)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return budget.Run(budget.NewTotal(1<<40).Scope(t.Context(), memory), loader.Load)
}

// loadDir reads a folder without errors.
func loadDir(t testing.TB, dir string) model.Declaration {
	t.Helper()
	config := manifests.Defaults()
	config.Dir = dir
	d, err := load(t, config)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return d
}

// claims returns each claim as "address kind id", in order.
func claims(d model.Declaration) []string {
	lines := []string{}
	for _, c := range d.Claims {
		lines = append(lines, fmt.Sprintf("%s %s %s", c.Address, strings.TrimPrefix(c.Kind, "kubernetes/"), c.ID))
	}
	return lines
}

// problems returns each problem as "address: reason", in order.
func problems(d model.Declaration) []string {
	lines := []string{}
	for _, p := range d.Problems {
		lines = append(lines, p.Address+": "+p.Reason)
	}
	return lines
}

// configMap returns a manifest.
func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata:\n  a: b\n"
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: web:1.4
`
