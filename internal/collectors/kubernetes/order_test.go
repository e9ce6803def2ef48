package kubernetes

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReadAllReadsOwnersLast checks that kinds of owners are listed after the kinds of their
// dependents, in any order of discovery.
func TestReadAllReadsOwnersLast(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var order []string
	list := func(_ context.Context, l target) listing {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, l.kind)
		return listing{target: l}
	}
	apis := []api{
		{kind: "kubernetes/Gadget.example.org", group: "example.org"}, {kind: "kubernetes/Deployment.apps", group: "apps"},
		{kind: "kubernetes/ReplicaSet.apps", group: "apps"}, {kind: "kubernetes/Pod"},
	}
	r := &reader{config: Config{Concurrency: 4}}
	listings := r.readAll(t.Context(), apis, list)
	want := []string{"kubernetes/Pod", "kubernetes/ReplicaSet.apps", "kubernetes/Deployment.apps", "kubernetes/Gadget.example.org"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	slices.Reverse(want)
	for i, l := range listings {
		if l.kind != want[i] {
			t.Errorf("listing %d is of %s, want %s", i, l.kind, want[i])
		}
	}
}
