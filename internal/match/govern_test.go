package match

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestUndeclaredParts checks that a part is expected of the declarations that declare its
// parent, in any place.
func TestUndeclaredParts(t *testing.T) {
	t.Parallel()
	part := guest("pve/part", "1/a")
	part.Parent = model.Ref{Kind: machine, ID: "1"}
	stray := guest("pve/part", "2/a")
	stray.Parent = model.Ref{Kind: machine, ID: "2"}
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{guest(machine, "1"), guest(machine, "2"), part, stray}}
	silent := map[string][][]string{}
	for _, s := range Match(snapshot, estate([]model.Claim{managed("1")}, nil)) {
		silent[s.ID] = s.UndeclaredBy
	}
	want := map[string][][]string{"1": nil, "2": {{"tool"}}, "1/a": {{"tool"}}, "2/a": nil}
	if diff := cmp.Diff(want, silent); diff != "" {
		t.Error(diff)
	}
}

// TestPartsOfUsualParents checks that a part is expected if no declaration is expected to declare its parent, unless
// the tool of the parent may declare it. A declaration of the parent is expected to declare both.
func TestPartsOfUsualParents(t *testing.T) {
	t.Parallel()
	usual := guest(machine, "1")
	usual.SystemOwned = "made by a stack"
	part, within := guest(container, "1/a"), guest(container, "1/b")
	part.Parent = model.Ref{Kind: machine, ID: "1"}
	within.Parent, within.DeclaredWithParent = part.Parent, true
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{usual, part, within}}
	for reason, tc := range map[string]struct {
		claims []model.Claim
		want   map[string][][]string
	}{
		"undeclared": {[]model.Claim{}, map[string][][]string{"1/a": {{"tool"}}, "1/b": nil}},
		"declared":   {[]model.Claim{managed("1")}, map[string][][]string{"1/a": {{"tool"}}, "1/b": {{"tool"}}}},
	} {
		got := map[string][][]string{}
		for _, s := range Match(snapshot, estate(tc.claims, nil)) {
			if s.ID != "1" {
				got[s.ID] = s.UndeclaredBy
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestInventoryIsNotExpectedToDeclareParts checks that an inventory of machines is not expected
// to have their firewalls, declared elsewhere or not.
func TestInventoryIsNotExpectedToDeclareParts(t *testing.T) {
	t.Parallel()
	part := guest("pve/part", "1/a")
	part.Parent = model.Ref{Kind: machine, ID: "1"}
	declared := managed("1/a")
	declared.Kind = "pve/part"
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{guest(machine, "1", "mac=A"), part}, Coverage: []model.Coverage{{Source: "s", Complete: true}}}
	for reason, tc := range map[string]struct {
		tool []model.Claim
		want [][]string
	}{
		"the tool declares it":      {[]model.Claim{managed("1"), declared}, nil},
		"no claim on it":            {[]model.Claim{managed("1")}, [][]string{{"tool"}}},
		"no declarations of a tool": {nil, nil},
	} {
		for _, s := range Match(snapshot, estate(tc.tool, []model.Claim{entry("x", "mac=A")})) {
			want := tc.want
			if s.ID == "1" {
				want = nil
			}
			if diff := cmp.Diff(want, s.UndeclaredBy); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", reason, s.ID, diff)
			}
		}
	}
}

func estate(tool, inventory []model.Claim) []model.Declaration {
	scopes := []model.Scope{{Kind: machine}, {Kind: container}}
	var all []model.Declaration
	if tool != nil {
		all = append(all, model.Declaration{Name: "tool", Governs: []string{"s"}, Claims: tool, Scopes: scopes})
	}
	if inventory != nil {
		all = append(all, model.Declaration{Name: "inventory", Governs: []string{"s"}, Claims: inventory, Scopes: scopes, Inventory: true})
	}
	return all
}

func TestUndeclaredBy(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason          string
		tool, inventory []model.Claim
		broken          string
		want            [][]string
	}{
		{"both speak of it", []model.Claim{managed("1")}, []model.Claim{entry("x", "mac=A")}, "", nil},
		{"the inventory lacks it", []model.Claim{managed("1")}, []model.Claim{}, "", [][]string{{"inventory"}}},
		{"the tool lacks it", []model.Claim{}, []model.Claim{entry("x", "mac=A")}, "", [][]string{{"tool"}}},
		{"nobody speaks of it", []model.Claim{}, []model.Claim{}, "", [][]string{{"tool"}, {"inventory"}}},
		{"nobody speaks of it, and a part of the tool is unknown", []model.Claim{}, []model.Claim{}, "tool", [][]string{{"inventory"}}},
		{"nobody speaks of it, and a part of the inventory is unknown", []model.Claim{}, []model.Claim{}, "inventory", [][]string{{"tool"}}},
		{"nobody speaks of it, and parts of both are unknown", []model.Claim{}, []model.Claim{}, "both", nil},
		{"there is only the tool, and a part of it is unknown", []model.Claim{}, nil, "tool", nil},
		{"the tool has it, and a part of the inventory is unknown", []model.Claim{managed("1")}, []model.Claim{}, "inventory", nil},
		{"the inventory lacks it, and another part of the tool is unknown", []model.Claim{managed("1")}, []model.Claim{}, "tool", [][]string{{"inventory"}}},
		{"there is no inventory", []model.Claim{}, nil, "", [][]string{{"tool"}}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			declarations := estate(tc.tool, tc.inventory)
			for i := range declarations {
				if tc.broken == declarations[i].Name || tc.broken == "both" {
					declarations[i].Problems = []model.Problem{{Address: "page 2", Reason: "a part"}}
				}
			}
			snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{guest(machine, "1", "mac=A")}, Coverage: []model.Coverage{{Source: "s", Complete: true}}}
			subjects := Match(snapshot, declarations)
			if diff := cmp.Diff(tc.want, subjects[0].UndeclaredBy); diff != "" {
				t.Error(diff)
			}
			want := ""
			if len(tc.want) > 0 && tc.broken != "" && len(subjects[0].Claims) == 0 {
				want = "page 2 of " + tc.broken + " could not be read, and may declare it"
			}
			s := subjects[0]
			if s.Partial != want || (s.Unjudged != nil) != (tc.broken != "" && len(tc.want) == 0 && len(s.Claims) == 0) {
				t.Errorf("partial = %q, want %q; unjudged %+v", s.Partial, want, s.Unjudged)
			}
		})
	}
}

// TestScopes looks at p/a and q/a of one kind and p/b of another: which of them a
// declaration with the scopes governs.
func TestScopes(t *testing.T) {
	t.Parallel()
	other := resource("p/b")
	other.Kind = "test/Other"
	for reason, tc := range map[string]struct {
		scopes []model.Scope
		want   map[string]string
	}{
		"everything":         {[]model.Scope{{}}, map[string]string{"p/a": "silent [[d]]", "p/b": "silent [[d]]", "q/a": "silent [[d]]"}},
		"a place":            {[]model.Scope{{Place: "p"}}, map[string]string{"p/a": "silent [[d]]", "p/b": "silent [[d]]"}},
		"a kind":             {[]model.Scope{{Kind: kind}}, map[string]string{"p/a": "silent [[d]]", "q/a": "silent [[d]]"}},
		"a kind in a place":  {[]model.Scope{{Kind: kind, Place: "p"}}, map[string]string{"p/a": "silent [[d]]"}},
		"a kind and a place": {[]model.Scope{{Kind: "test/Other"}, {Place: "q"}}, map[string]string{"p/b": "silent [[d]]", "q/a": "silent [[d]]"}},
		"nothing":            {nil, map[string]string{}},
	} {
		snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("p/a"), other, resource("q/a")}}
		d := model.Declaration{Name: "d", Governs: []string{"s"}, Scopes: tc.scopes}
		if diff := cmp.Diff(tc.want, judged(Match(snapshot, []model.Declaration{d}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestUndeclaredByIsSorted has several declarations that are expected to declare the same
// resource, listed in any order.
func TestUndeclaredByIsSorted(t *testing.T) {
	t.Parallel()
	declaration := func(name string) model.Declaration {
		return model.Declaration{Name: name, Governs: []string{"s"}, Scopes: places("p"), Watches: true}
	}
	watched := watchedAt("q/a", 1)
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("p/a"), watched}, FirstReads: []model.FirstRead{{Scope: model.Scope{Kind: kind}, Newest: firstLook}}}
	want := map[string]string{"p/a": "silent [[d e]]", "q/a": "silent [[d e]]"}
	if diff := cmp.Diff(want, judged(Match(snapshot, []model.Declaration{declaration("e"), declaration("d")}))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAlteredIsDemanded checks that a system's own resource that was altered is expected to be
// declared, however old it is.
func TestAlteredIsDemanded(t *testing.T) {
	t.Parallel()
	for _, altered := range []bool{false, true} {
		r := model.Resource{Key: model.Key{Source: "s", Kind: "k/binding", ID: "x"}, Watched: "it binds others", Altered: altered}
		snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{r}, Coverage: []model.Coverage{{Source: "s", Complete: true}}}
		declarations := []model.Declaration{{Name: "d", Governs: []string{"s"}, Watches: true, Scopes: []model.Scope{{Place: "shop"}}}}
		var want [][]string
		if altered {
			want = [][]string{{"d"}}
		}
		if diff := cmp.Diff(want, Match(snapshot, declarations)[0].UndeclaredBy); diff != "" {
			t.Errorf("altered %t: %s", altered, diff)
		}
	}
}
