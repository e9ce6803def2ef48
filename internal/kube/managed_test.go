package kube

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/decode"
)

// TestOwnersWithoutStatus tests that entries of the status subresource are left out, also
// one that claims a field of the specification.
func TestOwnersWithoutStatus(t *testing.T) {
	t.Parallel()
	v, err := decode.JSON([]byte(`[
		{"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
		{"manager": "forged", "operation": "Update", "subresource": "status", "fieldsV1": {"f:spec": {"f:paused": {}}}},
		{"manager": "kubectl", "operation": "Update", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	list, err := owners("apps/Deployment", v)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range list {
		got = append(got, o.Name+" "+o.Through)
	}
	if diff := cmp.Diff([]string{"kubectl ", "kubectl scale"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
