package kubernetes

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiscoverLegacy(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := newTestCluster(t, f, nil)
	want, err := c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.legacy = true
	got, err := c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(coverage(want), coverage(got)); diff != "" {
		t.Errorf("an old server's discovery (-new +old):\n%s", diff)
	}
	if diff := cmp.Diff(keys(want), keys(got)); diff != "" {
		t.Errorf("an old server's objects (-new +old):\n%s", diff)
	}
}

func TestDiscoverFailedGroup(t *testing.T) {
	t.Parallel()
	for name, legacy := range map[string]bool{"aggregated": false, "legacy": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake()
			f.legacy, f.stale = legacy, []string{"down.example.org", "gone.metrics.k8s.io"}
			f.before = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.Contains(r.URL.Path, "down") && !strings.Contains(r.URL.Path, "gone") {
					return false
				}
				refuse(w, http.StatusNotFound, "no endpoints available")
				return true
			}
			s, err := newTestCluster(t, f, nil).Collect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ok, reason := s.Covers("kubernetes/Thing.down.example.org", "shop")
			if ok || !strings.Contains(reason, "kubectl describe apiservice v1.down.example.org") {
				t.Errorf("a kind of a group that is down: %v %q", ok, reason)
			}
			if reason := coverage(s)["*.gone.metrics.k8s.io"]; reason != excludedText {
				t.Errorf("an excluded group: %q", reason)
			}
			if ok, _ := s.Covers("kubernetes/Thing.never.example.org", "shop"); !ok {
				t.Error("a kind that is not served is not covered")
			}
			if len(s.Resources) != 7 {
				t.Errorf("resources of other groups: %v", keys(s))
			}
		})
	}
}

func TestNewCatalog(t *testing.T) {
	t.Parallel()
	list, create := []string{"list", "watch"}, []string{"create"}
	all := []served{
		{group: "autoscaling", version: "v2", resources: []servedResource{{"horizontalpodautoscalers", "HorizontalPodAutoscaler", true, list}}},
		{group: "autoscaling", version: "v1", resources: []servedResource{{"horizontalpodautoscalers", "HorizontalPodAutoscaler", true, list}}},
		{group: "x.io", version: "v2", resources: []servedResource{{"things", "Thing", true, create}}},
		{group: "x.io", version: "v1", resources: []servedResource{{"things", "Thing", true, list}, {"olds", "Old", false, list}}},
		{group: "y.io", version: "v1", fault: "down"},
	}
	got := map[string]string{}
	for _, a := range newCatalog(all).apis {
		got[a.kind] = a.path("ns")
	}
	want := map[string]string{
		"kubernetes/HorizontalPodAutoscaler.autoscaling": "/apis/autoscaling/v2/namespaces/ns/horizontalpodautoscalers",
		"kubernetes/Thing.x.io":                          "/apis/x.io/v1/namespaces/ns/things",
		"kubernetes/Old.x.io":                            "/apis/x.io/v1/namespaces/ns/olds",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("each kind in the preferred version that can be listed (-want +got):\n%s", diff)
	}
	if c := newCatalog(all); c.failed["y.io"] != "down" || len(c.failed) != 1 {
		t.Errorf("failed groups: %v", c.failed)
	}
}
