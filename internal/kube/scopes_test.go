package kube_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

func TestGoverned(t *testing.T) {
	t.Parallel()
	put := func(place string) model.Claim {
		return model.Claim{Kind: "kubernetes/ConfigMap", Place: place, Name: "app"}
	}
	namespace := func(name string) model.Claim { return model.Claim{Kind: "kubernetes/Namespace", Name: name} }
	cluster := model.Claim{Kind: "kubernetes/ClusterRole.rbac.authorization.k8s.io", Name: "app"}
	uncertain := model.Claim{Kind: "kubernetes/Widget.example.org", Place: "default", ClaimMatching: model.ClaimMatching{AltID: "app", PlaceAssumed: true}}
	written := model.Claim{Kind: "kubernetes/Widget.example.org", Place: "a", ClaimMatching: model.ClaimMatching{AltID: "app"}}
	for reason, tc := range map[string]struct {
		claims         []model.Claim
		places, listed []string
		want           []string
		shared         []string
	}{
		"where it puts objects":             {[]model.Claim{put("b"), put("a"), put("a")}, nil, nil, []string{"a", "b"}, nil},
		"what it declares":                  {[]model.Claim{namespace("a")}, nil, nil, []string{"a"}, nil},
		"cluster-scoped objects tell none":  {[]model.Claim{cluster}, nil, nil, nil, nil},
		"nor does a default that may be no": {[]model.Claim{uncertain}, nil, nil, nil, nil},
		"a written one of an unknown kind":  {[]model.Claim{written}, nil, nil, []string{"a"}, nil},
		"what it lists":                     {nil, nil, []string{"a"}, []string{"a"}, nil},
		"a part that could not be read":     {nil, []string{"a"}, nil, []string{"a"}, nil},
		"a shared namespace":                {[]model.Claim{put("kube-system"), put("a")}, nil, nil, []string{"a"}, []string{"kube-system"}},
		"a shared one that is declared":     {[]model.Claim{put("kube-system"), namespace("kube-system")}, nil, nil, []string{"kube-system"}, nil},
		"a shared one that is listed":       {[]model.Claim{put("kube-system")}, nil, []string{"kube-system"}, []string{"kube-system"}, nil},
		"a part in a shared one":            {nil, []string{"kube-public"}, nil, nil, []string{"kube-public"}},
		"installers' own": {[]model.Claim{put("calico-system"), put("cattle-fleet-system"), put("openshift-dns"), put("openshift-monitoring"),
			put("local-path-storage"), put("tigera-operator"), put("kube-node-lease"), put("kube-flannel"), put("gke-managed-system")}, nil, nil, nil,
			[]string{"calico-system", "cattle-fleet-system", "gke-managed-system", "kube-flannel", "kube-node-lease", "local-path-storage",
				"openshift-dns", "openshift-monitoring", "tigera-operator"}},
		"users' own with similar names": {[]model.Claim{put("kube"), put("kube-systems"), put("cattle"), put("default"), put("my-openshift-app"), put("monitoring")}, nil, nil,
			[]string{"cattle", "default", "kube", "kube-systems", "monitoring", "my-openshift-app"}, nil},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			got := kube.Governed(tc.claims, tc.places, tc.listed)
			var scopes []string
			for _, s := range got.Scopes {
				if s.Kind != "" {
					t.Errorf("scope %+v has a kind", s)
				}
				scopes = append(scopes, s.Place)
			}
			if diff := cmp.Diff(tc.want, scopes, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("governed (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.shared, got.Shared, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("shared (-want +got):\n%s", diff)
			}
		})
	}
}
