package kube

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/decode"
)

// TestOwnersOfStatus tests that of the entries of the status subresource only labels and annotations are
// read, also of one that claims a field of the specification.
func TestOwnersOfStatus(t *testing.T) {
	t.Parallel()
	v, err := decode.JSON([]byte(`[
		{"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {"f:replicas": {}}}},
		{"manager": "forged", "operation": "Update", "subresource": "status", "fieldsV1": {"f:spec": {"f:paused": {}}}},
		{"manager": "noted", "operation": "Update", "subresource": "status", "fieldsV1": {"f:metadata": {"f:annotations": {"f:a": {}}}, "f:spec": {}, "f:status": {}}},
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
		got = append(got, fmt.Sprint(o.Name, " ", o.Through, " ", o.Fields.Steps()[0].Text, " ", o.Fields.Len()))
	}
	if diff := cmp.Diff([]string{"kubectl  spec 1", "kubectl scale spec 1", "noted status metadata 1"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOwnersRemoved checks that the status alone is no record of writers.
func TestOwnersRemoved(t *testing.T) {
	t.Parallel()
	v, err := decode.JSON([]byte(`[{"manager": "a", "operation": "Update", "subresource": "status", "fieldsV1": {"f:metadata": {"f:annotations": {"f:a": {}}}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if list, err := owners("apps/Deployment", v); err != nil || len(list) > 0 {
		t.Errorf("got %v, %v", list, err)
	}
}
