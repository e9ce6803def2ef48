package netboxtest_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
)

type answer struct {
	Count   *int
	Next    *string
	Results []map[string]any
}

func get(t *testing.T, server http.Handler, path string) (int, answer) {
	t.Helper()
	w := httptest.NewRecorder()
	server.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	var a answer
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil && w.Code == http.StatusOK {
		t.Fatalf("%s: %v", path, err)
	}
	return w.Code, a
}

func TestPagesByVersion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, version, path string
		count                 int
		next                  string
		first                 float64
		fields                int
	}{
		{"a cursor", "4.6.8", "/api/extras/custom-fields/?limit=2&start=0", -1, "start=3", 1, 4},
		{"its second page", "4.6.8", "/api/extras/custom-fields/?limit=2&start=3", -1, "", 3, 4},
		{"a cursor that is ignored", "4.5.9", "/api/extras/custom-fields/?limit=2&start=3", 3, "offset=2", 1, 4},
		{"a position", "4.6.8", "/api/extras/custom-fields/?limit=2&offset=2&ordering=id", 3, "", 3, 4},
		{"fields", "4.0.1", "/api/extras/custom-fields/?limit=2&ordering=id&fields=id,name,nonsense", 3, "offset=2", 1, 2},
		{"fields that are ignored", "3.7.8", "/api/extras/custom-fields/?limit=2&ordering=id&fields=id", 3, "offset=2", 1, 4},
	} {
		e := netboxtest.Small()
		e.Version = tc.version
		code, a := get(t, netboxtest.New(e, rand.New(rand.NewPCG(1, 1))), tc.path)
		count := -1
		if a.Count != nil {
			count = *a.Count
		}
		next := ""
		if a.Next != nil {
			next = *a.Next
		}
		if code != 200 || count != tc.count || !strings.Contains(next, tc.next) || (next == "") != (tc.next == "") || a.Results[0]["id"] != tc.first || len(a.Results[0]) != tc.fields {
			t.Errorf("%s: %d, count %d, next %q, %v", tc.reason, code, count, next, a.Results)
		}
		if next != "" && !strings.HasPrefix(next, netboxtest.Host) {
			t.Errorf("%s: next is %s", tc.reason, next)
		}
	}
}

func TestMissingLists(t *testing.T) {
	t.Parallel()
	older := netboxtest.Weak()
	older.Version = "4.0.9"
	for path, want := range map[string]int{
		"/api/extras/object-changes/": 200, "/api/core/object-changes/": 404, "/api/dcim/mac-addresses/": 404, "/api/extras/tags/": 403, "/api/dcim/sites/": 200, "/api/nope/": 404, "/api/status/": 200,
	} {
		if code, _ := get(t, netboxtest.New(older, rand.New(rand.NewPCG(1, 1))), path); code != want {
			t.Errorf("%s answers %d, want %d", path, code, want)
		}
	}
	if _, a := get(t, netboxtest.New(older, rand.New(rand.NewPCG(1, 1))), "/api/virtualization/virtual-machines/"); len(a.Results) != 1 || *a.Count != 1 {
		t.Errorf("a weak token sees %v", a.Results)
	}
}
