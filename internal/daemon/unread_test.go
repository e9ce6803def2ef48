package daemon

import (
	"slices"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestUncheckedClaimsAreNotGone keeps what was declared before by a claim that could not be read.
func TestUncheckedClaimsAreNotGone(t *testing.T) {
	t.Parallel()
	var d declarationView
	d.Name, d.unsaved = "infra", true
	claim := model.Claim{Declaration: "infra", Source: "pve", Address: "lab_server.web", Kind: "lab/server", ID: "web",
		Value: model.MapOf(model.Field{Name: "size", Value: model.IntOf(2)}), LiveRead: &model.LiveRead{Value: model.MapOf()}}
	unchecked := claim
	unchecked.ID, unchecked.Unchecked = "db", "the provider did not read it"
	d.declaration = model.Declaration{Name: "infra", Claims: []model.Claim{unchecked, claim}}
	for _, s := range (view{declarations: []declarationView{d}}).declaredSnapshots() {
		if len(s.Resources) != 1 || s.Resources[0].ID != "web" {
			t.Errorf("%s: resources %v", s.Source, s.Resources)
		}
		if !slices.ContainsFunc(s.Unread, func(u model.Unread) bool { return u.Ref == model.Ref{Kind: "lab/server", ID: "db"} }) {
			t.Errorf("%s: unread %v", s.Source, s.Unread)
		}
	}
}
