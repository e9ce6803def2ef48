package kubernetes

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
)

// within collects with a memory budget.
func within(t *testing.T, limit int64, c collectors.Collector) error {
	t.Helper()
	ctx := budget.NewTotal(1<<50).Scope(t.Context(), limit)
	_, err := budget.Run(ctx, c.Collect)
	return err
}

// repeated returns items in order, separated by commas.
func repeated(n int, item string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ","+item, i)
	}
	return b.String()[1:]
}

// TestMemory checks that the budget includes kinds, API groups and annotations.
func TestMemory(t *testing.T) {
	t.Parallel()
	answers := func(paths map[string]string) *fake {
		f := newFake()
		f.before = func(w http.ResponseWriter, r *http.Request) bool {
			text, ok := paths[r.URL.Path]
			if ok {
				_, _ = w.Write([]byte(text))
			}
			return ok
		}
		return f
	}
	list := func(items string) string {
		return `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[` + items + `]}`
	}
	const n = 10_000
	for _, tc := range []struct {
		reason  string
		handler http.Handler
		limit   int64
	}{
		{"many kinds", answers(map[string]string{"/apis": `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"x"},"versions":[{"version":"v1","resources":[` +
			repeated(n, `{"resource":"a","responseKind":{"kind":"A%d"},"verbs":["list"]}`) + `]}]}]}`}), n << 12},
		{"a large document in an annotation", answers(map[string]string{"/api/v1/configmaps": list(
			`{"metadata":{"name":"a","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"[` + repeated(n*10, `%d`) + `]"}}}`)}), n * 10 * 100},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			if _, ok := errors.AsType[*budget.Exceeded](within(t, tc.limit, newTestCluster(t, tc.handler, nil))); !ok {
				t.Error("the limit is not exceeded")
			}
		})
	}
	groups := answers(map[string]string{"/apis": `{"kind":"APIGroupList","groups":[` + repeated(n, `{"name":"g%d","preferredVersion":{"version":"v1"}}`) + `]}`})
	if _, ok := errors.AsType[*budget.Exceeded](within(t, n<<11, newTestCluster(t, groups, nil))); !ok || groups.requests("/apis/g0/v1") > 0 {
		t.Errorf("%d requests for versions beyond the limit", groups.requests("/apis/g0/v1"))
	}
	if err := within(t, 16<<20, newTestCluster(t, newFake(), nil)); err != nil {
		t.Errorf("a small cluster: %v", err)
	}
}

// TestMemoryOfSchemas checks that the budget includes schemas, from the server, the cache
// folder and memory.
func TestMemoryOfSchemas(t *testing.T) {
	t.Parallel()
	const n = 20_000
	f, dir := newFake(), t.TempDir()
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != widgetDocument {
			return false
		}
		_, _ = w.Write([]byte(`{"components":{"schemas":{"Widget":{"x-kubernetes-group-version-kind":[{"group":"example.org","version":"v1","kind":"Widget"}],"properties":{"metadata":{},` +
			repeated(n, `"%d":{}`) + `}}}}}`))
		return true
	}
	for _, from := range []string{"the server", "the cache folder"} {
		c := newTestCluster(t, f, nil)
		env := testEnv(t)
		env.CacheDir = dir
		c.schemas = newSchemas(env)
		for _, from := range []string{from, "memory"} {
			s, err := c.Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if w := s.Weight(); w < n*300 {
				t.Errorf("from %s: the snapshot weighs %d", from, w)
			}
			// The address has a hash, so the document is not read again.
			if _, ok := errors.AsType[*budget.Exceeded](within(t, n*300, c)); !ok {
				t.Errorf("from %s: the limit is not exceeded", from)
			}
		}
	}
}

// TestMemoryOfDump checks that the budget includes the text of a dump while it is read, and
// its objects.
func TestMemoryOfDump(t *testing.T) {
	t.Parallel()
	const n = 5000
	item := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n%d"},"data":{"a":"1","b":"2","c":"3","d":"4","e":"5","f":"6"}}`
	json := `{"apiVersion":"v1","kind":"List","items":[` + repeated(n, item) + `]}`
	for _, tc := range []struct {
		reason, text string
		limit        int64
		fits         bool
	}{
		{"JSON within the limit", json, n * 2500, true},
		{"JSON beyond the limit", json, n * 1000, false},
		{"YAML beyond the limit", strings.Repeat("- a\n", n), n * 200, false},
	} {
		err := within(t, tc.limit, openDump(t, tc.text, nil))
		_, exceeded := errors.AsType[*budget.Exceeded](err)
		if exceeded == tc.fits {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
}
