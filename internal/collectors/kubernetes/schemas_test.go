package kubernetes

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

const (
	widgetKind     = "kubernetes/Widget.example.org"
	openapiIndex   = "/openapi/v3"
	widgetDocument = "/openapi/v3/apis/example.org/v1"
)

// collectKinds collects with a cache folder and returns the kinds of the snapshot.
func collectKinds(t *testing.T, f *fake, dir string) map[string]*model.Kind {
	t.Helper()
	c := newTestCluster(t, f, nil)
	env := testEnv(t)
	env.CacheDir = dir
	c.schemas = newSchemas(env)
	s, err := c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Kinds
}

func TestSchemasAreCached(t *testing.T) {
	t.Parallel()
	f, dir := newFake(), t.TempDir()
	for range 3 {
		if kind := collectKinds(t, f, dir)[widgetKind]; kind.Schema == nil {
			t.Fatal("the kind has no schema")
		}
	}
	if n := f.requests(widgetDocument); n != 1 {
		t.Errorf("the document was fetched %d times", n)
	}
	if n := f.requests("/openapi/v3/apis/apps/v1"); n != 0 {
		t.Errorf("the document of built-in kinds was fetched %d times", n)
	}
}

func TestSchemasWithBrokenCache(t *testing.T) {
	t.Parallel()
	f, dir := newFake(), t.TempDir()
	collectKinds(t, f, dir)
	files, err := filepath.Glob(filepath.Join(dir, "openapi", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("cached files: %v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte(`{"compon`), 0o600); err != nil {
		t.Fatal(err)
	}
	stray := filepath.Join(dir, "openapi", "new-123")
	if err := os.WriteFile(stray, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if kind := collectKinds(t, f, dir)[widgetKind]; kind.Schema == nil {
		t.Error("the kind has no schema after a broken file")
	}
	if _, err := os.Stat(stray); err == nil {
		t.Error("a stray file was not removed")
	}
	if n := f.requests(widgetDocument); n != 2 {
		t.Errorf("the document was fetched %d times", n)
	}
}

func TestSchemasUnavailable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		path   string
		answer http.HandlerFunc
	}{
		"no index":        {reason: "old servers have no index", path: openapiIndex, answer: func(w http.ResponseWriter, _ *http.Request) { refuse(w, 404, "") }},
		"not in index":    {reason: "an aggregated server may publish no document", path: openapiIndex, answer: write(`{"paths":{}}`)},
		"no document":     {reason: "the document may be forbidden", path: widgetDocument, answer: forbid},
		"broken document": {reason: "an aggregated server may publish invalid JSON", path: widgetDocument, answer: write(`{"components":`)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			f.before = at(tt.path, tt.answer)
			kind := collectKinds(t, f, "")[widgetKind]
			if kind == nil || kind.Schema != nil || !kind.Namespaced || kind.Version != "example.org/v1" {
				t.Errorf("%s: the kind is %+v", tt.reason, kind)
			}
		})
	}
}

func TestSchemaOfAnotherVersionDoesNotFit(t *testing.T) {
	t.Parallel()
	known := &model.Kind{Name: "kubernetes/X.io", Version: "io/v2", Schema: &model.Schema{}}
	tests := map[string]struct {
		reason string
		api    api
		schema bool
	}{
		"same version":  {reason: "the schema applies", api: api{kind: known.Name, group: "io", version: "v2"}, schema: true},
		"other version": {reason: "fields differ between versions", api: api{kind: known.Name, group: "io", version: "v1"}},
		"other scope":   {reason: "the scope is that of discovery", api: api{kind: known.Name, group: "io", version: "v2", namespaced: true}, schema: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := tt.api.as(known)
			if (kind.Schema != nil) != tt.schema || kind.Namespaced != tt.api.namespaced || kind.Version != tt.api.apiVersion() {
				t.Errorf("%s: as() = %+v", tt.reason, kind)
			}
			if known.Namespaced {
				t.Error("a shared kind was changed")
			}
		})
	}
}
