package cli

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestWhatCannotBeReadIsSaidOnce(t *testing.T) {
	t.Parallel()
	coverage := []model.Coverage{{Kind: "lab/whole", Complete: true}, {Kind: "lab/out", Skipped: true, Reason: "left out"}, {Kind: "lab/one", Place: "n1", Reason: "down"}}
	for i := range 6 {
		coverage = append(coverage, model.Coverage{Kind: fmt.Sprintf("lab/k%d", i), Reason: "no rights"})
	}
	coverage = append(coverage, model.Coverage{Kind: "lab/two", Reason: "down"})
	want := []string{"lab/one n1: down", "lab/two: down", "lab/k0, lab/k1 and 4 more: no rights"}
	var got []string
	for _, u := range unreadable(coverage) {
		got = append(got, u.scopes+": "+u.reason)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
