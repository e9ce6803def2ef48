package kube_test

import (
	"fmt"
	"testing"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// TestClosedKinds has documents of API servers that are not the one of the embedded
// schemas. Only kinds and fields of that one have all defaults known.
func TestClosedKinds(t *testing.T) {
	t.Parallel()
	document := func(definition, group, version, kind string) string {
		return fmt.Sprintf(`{"components": {"schemas": {
			%q: {"properties": {"metadata": {}, "spec": {"$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentSpec"}, "rules": {"type": "array", "items": {"type": "string"}}},
				"x-kubernetes-group-version-kind": [{"group": %q, "kind": %q, "version": %q}]},
			"io.k8s.api.apps.v1.DeploymentSpec": {"properties": {"replicas": {"type": "integer"}, "pace": {"type": "string"}}}}}}`,
			definition, group, kind, version)
	}
	for reason, tc := range map[string]struct {
		definition, group, version, kind string
		closed                           bool
		list                             model.ListType
	}{
		"a kind of the API server":                   {"io.k8s.api.apps.v1.Deployment", "apps", "v1", "Deployment", true, model.Bag},
		"a kind that it does not have yet":           {"io.k8s.api.apps.v1.Fleet", "apps", "v1", "Fleet", false, model.Bag},
		"a version that it does not have":            {"io.k8s.api.apps.v3.Deployment", "apps", "v3", "Deployment", false, model.Bag},
		"a custom resource of the Gateway API":       {"io.k8s.networking.gateway.v1.HTTPRoute", "gateway.networking.k8s.io", "v1", "HTTPRoute", false, model.Ordered},
		"a custom resource of snapshots":             {"io.k8s.storage.snapshot.v1.VolumeSnapshot", "snapshot.storage.k8s.io", "v1", "VolumeSnapshot", false, model.Ordered},
		"a custom resource with a definition's name": {"io.k8s.api.apps.v1.Deployment", "apps.api.k8s.io", "v1", "Deployment", false, model.Bag},
		"a custom resource":                          {"org.example.v1.Widget", "example.org", "v1", "Widget", false, model.Ordered},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			kinds, err := kube.KindsFromOpenAPI([]byte(document(tc.definition, tc.group, tc.version, tc.kind)))
			if err != nil {
				t.Fatal(err)
			}
			kind := kinds[kube.KindName(tc.group+"/"+tc.version, tc.kind)]
			if kind == nil || kind.Schema.Closed != tc.closed || kind.Schema.Fields["rules"].List != tc.list {
				t.Fatalf("kind = %+v", kind)
			}
			spec := kind.Schema.Fields["spec"]
			if spec.Newer == tc.closed && tc.group == "apps" || spec.Fields["replicas"].Newer || !spec.Fields["pace"].Newer {
				t.Errorf("newer: spec %t, replicas %t, pace %t", spec.Newer, spec.Fields["replicas"].Newer, spec.Fields["pace"].Newer)
			}
		})
	}
}

// TestBuiltinKindsAreClosed reads the embedded schemas: no field is newer than they.
func TestBuiltinKindsAreClosed(t *testing.T) {
	t.Parallel()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[*model.Schema]bool{}
	var check func(path string, s *model.Schema)
	check = func(path string, s *model.Schema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if s.Newer {
			t.Errorf("%s is newer than the embedded schemas", path)
		}
		for name, below := range s.Fields {
			check(path+"."+name, below)
		}
		check(path+"[]", s.Each)
	}
	for name, kind := range kinds {
		if kind.Schema.Closed == (name == "kubernetes/Pod") {
			t.Errorf("%s: closed is %t", name, kind.Schema.Closed)
		}
		check(name, kind.Schema)
	}
}
