package match

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestAutomaticByMakers checks that a maker makes its objects automatic only if it is live, and
// declared or automatic itself.
func TestAutomaticByMakers(t *testing.T) {
	t.Parallel()
	made := func(id, automatic string, makers ...string) model.Resource {
		r := guest(machine, id)
		r.Name, r.SystemOwned = "n"+id, automatic
		for _, maker := range makers {
			r.Makers = append(r.Makers, model.Ref{Kind: machine, ID: maker})
		}
		return r
	}
	for reason, tc := range map[string]struct {
		resources []model.Resource
		declared  []string
		want      map[string]string
	}{
		"its own reason":                        {[]model.Resource{made("1", "the system's")}, nil, map[string]string{"1": "the system's"}},
		"its own reason goes first":             {[]model.Resource{made("1", "the system's", "2"), made("2", "")}, []string{"2"}, map[string]string{"1": "the system's", "2": ""}},
		"a declared maker":                      {[]model.Resource{made("1", "", "2"), made("2", "")}, []string{"2"}, map[string]string{"1": "made by machine n2", "2": ""}},
		"a maker that is not declared":          {[]model.Resource{made("1", "", "2"), made("2", "")}, nil, map[string]string{"1": "", "2": ""}},
		"an automatic maker":                    {[]model.Resource{made("1", "", "2"), made("2", "the system's")}, nil, map[string]string{"1": "made by machine n2", "2": "the system's"}},
		"a declared maker's maker":              {[]model.Resource{made("1", "", "2"), made("2", "", "3"), made("3", "")}, []string{"3"}, map[string]string{"1": "made by machine n2", "2": "made by machine n3", "3": ""}},
		"a maker that was judged":               {[]model.Resource{made("1", ""), made("2", "", "3"), made("3", "", "1")}, []string{"1"}, map[string]string{"1": "", "2": "made by machine n3", "3": "made by machine n1"}},
		"the second of its makers":              {[]model.Resource{made("1", "", "2", "3"), made("2", ""), made("3", "")}, []string{"3"}, map[string]string{"1": "made by machine n3", "2": "", "3": ""}},
		"the first of its makers":               {[]model.Resource{made("1", "", "2", "3"), made("2", ""), made("3", "")}, []string{"2", "3"}, map[string]string{"1": "made by machine n2", "2": "", "3": ""}},
		"a maker that is declared and not live": {[]model.Resource{made("1", "", "2")}, []string{"2"}, map[string]string{"1": "", "2": ""}},
		"an unknown maker":                      {[]model.Resource{made("1", "", "9")}, nil, map[string]string{"1": ""}},
		"its own maker":                         {[]model.Resource{made("1", "", "1")}, nil, map[string]string{"1": ""}},
		"makers of each other":                  {[]model.Resource{made("1", "", "2"), made("2", "", "1")}, nil, map[string]string{"1": "", "2": ""}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			claims := []model.Claim{}
			for _, id := range tc.declared {
				claims = append(claims, managed(id))
			}
			snapshot := model.Snapshot{Source: "s", Resources: tc.resources, Coverage: []model.Coverage{{Source: "s", Complete: true}}}
			got := map[string]string{}
			for _, s := range Match(snapshot, estate(claims, nil)) {
				got[s.ID] = s.SystemOwned
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDeclaredInParent checks that a resource which anybody can create is not the system's if its parent is declared.
func TestDeclaredInParent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		declared string
		forged   bool
		want     string
	}{{"", true, "the system's"}, {"other", true, "the system's"}, {"group", true, ""}, {"group", false, "the system's"}} {
		rule := guest(machine, "rule")
		rule.SystemOwned, rule.DeclaredInParent, rule.Parent = "the system's", tc.forged, model.Ref{Kind: machine, ID: "group"}
		var claims []model.Claim
		if tc.declared != "" {
			claims = append(claims, managed(tc.declared))
		}
		snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{guest(machine, "group"), rule}, Coverage: []model.Coverage{{Source: "s", Complete: true}}}
		for _, s := range Match(snapshot, estate(claims, nil)) {
			if s.ID == "rule" && s.SystemOwned != tc.want {
				t.Errorf("%s is declared, forgeable %t: %q, want %q", tc.declared, tc.forged, s.SystemOwned, tc.want)
			}
		}
	}
}

// TestRecordedMaker has a maker that was declared earlier: its objects are expected to be
// declared again.
func TestRecordedMaker(t *testing.T) {
	t.Parallel()
	for recorded, want := range map[bool]string{false: "made by machine n2", true: ""} {
		maker, part := guest(machine, "2"), guest(machine, "1")
		maker.Name, part.Makers = "n2", []model.Ref{{Kind: machine, ID: "2"}}
		c := managed("2")
		if recorded {
			record := c.Value
			c.Value, c.Recorded = model.Value{}, &record
		}
		snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{part, maker}, Coverage: []model.Coverage{{Source: "s", Complete: true}}}
		for _, s := range Match(snapshot, estate([]model.Claim{c}, nil)) {
			if s.ID == "1" && s.SystemOwned != want {
				t.Errorf("recorded %t: automatic = %q, want %q", recorded, s.SystemOwned, want)
			}
		}
	}
}

// TestKindInReason names a maker by the name of its kind, without the group.
func TestKindInReason(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"kubernetes/ReplicaSet.apps": "made by ReplicaSet web", "pve/machine": "made by machine web"} {
		maker, made := guest(name, "1"), guest("pve/part", "2")
		maker.Name, maker.SystemOwned, made.Makers = "web", "the system's", []model.Ref{{Kind: name, ID: "1"}}
		for _, s := range Match(model.Snapshot{Source: "s", Resources: []model.Resource{maker, made}}, nil) {
			if s.ID == "2" && s.SystemOwned != want {
				t.Errorf("got %q, want %q", s.SystemOwned, want)
			}
		}
	}
}
