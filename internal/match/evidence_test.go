package match

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestOnlyDeclaredEvidenceCounts checks that delegations and admission refs to objects that no
// declaration declares do not count.
func TestOnlyDeclaredEvidenceCounts(t *testing.T) {
	t.Parallel()
	ref := func(id string) model.Ref { return model.Ref{Kind: kind, ID: id} }
	web := resource("ns/web")
	web.Delegated = []model.Delegation{{Path: "a", By: ref("ns/declared")}, {Path: "b", By: ref("ns/byhand")}, {Path: "c", By: ref("ns/former")},
		{Path: "d", By: ref("ns/sealed")}, {Path: "e"}}
	web.Admission = []model.Ref{ref("ns/byhand"), ref("ns/declared"), {Kind: "test/Other", ID: "ns/declared"}}
	declared, former, sealed := claim("d", "ns/declared"), claim("d", "ns/former"), claim("d", "ns/sealed")
	declared.Value, sealed.Unchecked = model.MapOf(), "encrypted"
	record := model.MapOf()
	former.Recorded = &record
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("ns/byhand"), web}, Coverage: []model.Coverage{{Source: "s", Complete: true}}}
	subjects := Match(snapshot, []model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{declared, former, sealed}}})
	for _, s := range subjects {
		if s.ID != "ns/web" {
			continue
		}
		if diff := cmp.Diff([]model.Delegation{web.Delegated[0], web.Delegated[3], web.Delegated[4]}, s.Delegated); diff != "" {
			t.Errorf("delegated (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]model.Ref{ref("ns/declared")}, s.Admission); diff != "" {
			t.Errorf("admission (-want +got):\n%s", diff)
		}
	}
	if len(web.Delegated) != 5 || web.Delegated[1].Path != "b" || web.Admission[0] != ref("ns/byhand") {
		t.Error("the snapshot was changed")
	}
}
