package kubernetes

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// positionsOf returns the positions of a snapshot by kind and place.
func positionsOf(s model.Snapshot) map[string]int64 {
	all := map[string]int64{}
	for _, p := range s.Positions {
		all[p.Kind[len(Type)+1:]+" "+p.Place] = p.Value
	}
	return all
}

// TestPositions checks the positions of the lists of kinds that the API server stores itself.
func TestPositions(t *testing.T) {
	t.Parallel()
	services := fakeKind{"apiregistration.k8s.io", "v1", "apiservices", "APIService", true, readable}
	aggregated := `"spec":{"group":"example.org","version":"v1","service":{"name":"widgets","namespace":"shop"}}`
	local := `"spec":{"group":"example.org","version":"v1"}`
	for name, tc := range map[string]struct {
		change func(*fake)
		config func(*Config)
		want   map[string]int64
	}{
		"APIServices are not readable": {
			want: map[string]int64{"ConfigMap ": 500, "Namespace ": 500, "Node ": 500, "Deployment.apps ": 500}},
		"a group is aggregated": {
			change: func(f *fake) {
				f.kinds = append(f.kinds, services)
				f.put("apiservices", "", "v1.example.org", aggregated)
			},
			want: map[string]int64{"ConfigMap ": 500, "Namespace ": 500, "Node ": 500, "Deployment.apps ": 500, "APIService.apiregistration.k8s.io ": 500}},
		"a group is of a custom resource definition": {
			change: func(f *fake) {
				f.kinds = append(f.kinds, services)
				f.put("apiservices", "", "v1.example.org", local)
			},
			want: map[string]int64{"ConfigMap ": 500, "Namespace ": 500, "Node ": 500, "Deployment.apps ": 500, "APIService.apiregistration.k8s.io ": 500, "Widget.example.org ": 500}},
		"namespaces one by one": {
			config: func(c *Config) { c.Namespaces = []string{"shop"} },
			want:   map[string]int64{"ConfigMap shop": 500, "Namespace ": 500, "Node ": 500, "Deployment.apps shop": 500}},
		"a list fails": {
			change: func(f *fake) {
				f.before = at(deployments, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
			},
			want: map[string]int64{"ConfigMap ": 500, "Namespace ": 500, "Node ": 500}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				if tc.change != nil {
					tc.change(f)
				}
				f.version = 500
				began := time.Now()
				s, err := newTestCluster(t, f, tc.config).Collect(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got := positionsOf(s)
				if diff := gocmp.Diff(tc.want, got); diff != "" {
					t.Errorf("positions (-want +got):\n%s", diff)
				}
				for _, p := range s.Positions {
					if p.Asked.Before(began) || p.Lineage != "" {
						t.Errorf("%s was requested at %s, lineage %q", p.Name, p.Asked, p.Lineage)
					}
				}
			})
		})
	}
}

// TestPositionsHaveLineage checks that positions have the UID of kube-system, so that a new
// cluster at the same address does not count as an old state of the former one.
func TestPositionsHaveLineage(t *testing.T) {
	t.Parallel()
	f := newFake()
	f.store("namespaces", "kube-system", `{"metadata":{"name":"kube-system","uid":"1f3c"}}`)
	s, err := newTestCluster(t, f, nil).Collect(t.Context())
	if err != nil || len(s.Positions) == 0 || s.Positions[0].Lineage != "1f3c" {
		t.Errorf("positions %v, error %v", s.Positions, err)
	}
}

// TestWatchAdvancesPositions checks that the events of a watch advance positions.
func TestWatchAdvancesPositions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watchFake(t, newFake())
		w.fake.sendLine("nodes", `{"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"900"}}}`)
		w.fake.put("deployments", "shop", "web", `"spec":{"replicas":7}`)
		snapshots := w.after(time.Minute)
		if len(snapshots) == 0 {
			t.Fatal("no snapshot was reported")
		}
		got := positionsOf(snapshots[len(snapshots)-1])
		if got["Node "] != 900 || got["Deployment.apps "] <= got["ConfigMap "] {
			t.Errorf("positions %v", got)
		}
	})
}
