package kube

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestIgnoreExtraneous checks the option with which Argo CD ignores that git does not have an object.
func TestIgnoreExtraneous(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]bool{
		"IgnoreExtraneous": true, "ServerSideDiff=true, IgnoreExtraneous": true, "": false, "IgnoreExtraneousX": false, "IgnoreExtraneous=false": false,
	} {
		annotations := model.MapOf(model.Field{Name: argoCompare, Value: model.StringOf(options)})
		if got := origin(model.MapOf(model.Field{Name: "annotations", Value: annotations})).Unenforced != ""; got != want {
			t.Errorf("%q: got %t", options, got)
		}
	}
}
