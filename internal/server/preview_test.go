package server

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// TestPreviewOfOneDeclaration checks that a preview gets the findings of its declaration only, disputed
// ones that it claims, hidden ones, and the objects of the last scan.
func TestPreviewOfOneDeclaration(t *testing.T) {
	t.Parallel()
	s := emptyStore(t)
	r := run("run-1", begin())
	r.Declarations = []model.DeclarationRun{{Name: "infra", Type: "terraform", Objects: model.SampleObjects([]model.Claim{{Address: "lab_server.web"}})}}
	of := func(id, declaration string, verdict model.Verdict) model.Finding {
		f := finding(id, "prod", "kubernetes/ConfigMap", verdict, begin(), begin())
		f.Key.ID, f.Declaration = "shop/"+id, declaration
		return f
	}
	hidden, disputed := of("a2", "infra", model.Changed), of("a3", "", model.Disputed)
	hidden.Hidden = "noise"
	disputed.Changes = []model.Change{{Path: "size", Claims: []model.ClaimedValue{{Declaration: "infra"}}}}
	if err := s.Save(store.Record{Run: r, Findings: []model.Finding{of("a1", "infra", model.Changed), hidden, disputed, of("b1", "shop", model.Changed)}}); err != nil {
		t.Fatal(err)
	}
	a := api(t)
	a.Store = s
	c := client(a.Handler())
	p, err := c.Preview(t.Context(), "infra")
	if err != nil || len(p.Findings) != 3 || p.LastRun == nil || p.Objects["infra"].Find("lab_server.web", "", "") != model.Same {
		t.Errorf("got %s, %+v, %v", ids(p.Findings), p, err)
	}
	for _, f := range p.Findings {
		if f.ID == "b1" {
			t.Error("it has a finding of another declaration")
		}
	}
	if p, err = c.Preview(t.Context(), ""); err != nil || len(p.Findings) != 4 {
		t.Errorf("all: %s, %v", ids(p.Findings), err)
	}
}
