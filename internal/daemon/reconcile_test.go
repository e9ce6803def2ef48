package daemon

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestEvidenceHasTheRevision checks that the evidence for a finding has the commit of its declaration that was read last.
func TestEvidenceHasTheRevision(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	b.cycle(t)
	f := &model.Finding{Key: model.Key{Source: "live", Kind: thing, ID: "p/a"}, Place: "p", Name: "a", Declaration: "git"}
	reads := lastReads{b.engine}
	if v := reads.Evidence(f); v.Revision != "commit-1" || v.Unread != "" || v.Declared != 1 {
		t.Errorf("got %+v", v)
	}
	b.commit("2")
	if err := reads.Refresh(t.Context(), "git"); err != nil {
		t.Fatal(err)
	}
	if v := reads.Evidence(f); v.Revision != "commit-2" {
		t.Errorf("after the refresh: %+v", v)
	}
}
