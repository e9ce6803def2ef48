package match

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestUnreadAndUnclaimed checks the subject of an unclaimed resource that
// exists and could not be read.
func TestUnreadAndUnclaimed(t *testing.T) {
	t.Parallel()
	one := func(change ...func(*model.Unread)) model.Unread {
		u := model.Unread{Ref: model.Ref{Kind: machine, ID: "9"}, Name: "byhand", Place: "n3", Reason: "node down", Identities: identities([]string{"vmid=9", "name=byhand"})}
		for _, c := range change {
			c(&u)
		}
		return u
	}
	under := func(id string) func(*model.Unread) {
		return func(u *model.Unread) { u.Parent = model.Ref{Kind: machine, ID: id} }
	}
	only := entry("x", "mac=A")
	only.AltKinds = nil
	for _, tc := range []struct {
		reason          string
		unread          model.Unread
		tool, inventory []model.Claim
		broken          bool
		want            [][]string
	}{
		{"undeclared", one(), []model.Claim{managed("1")}, nil, false, [][]string{{"tool"}}},
		{"undeclared in tool and inventory", one(), []model.Claim{managed("1")}, []model.Claim{}, false, [][]string{{"tool"}, {"inventory"}}},
		{"no declaration governs its kind", one(func(u *model.Unread) { u.Kind = "pve/other" }), []model.Claim{managed("1")}, nil, false, nil},
		{"an unreadable part may declare it", one(), []model.Claim{managed("1")}, nil, true, nil},
		{"an entry may have an identity of it that was not read", one(), nil, []model.Claim{entry("x", "mac=A")}, false, nil},
		{"an entry means it", one(), nil, []model.Claim{entry("x", "vmid=9")}, false, nil},
		{"an entry means another", one(), nil, []model.Claim{entry("x", "vmid=8")}, false, [][]string{{"inventory"}}},
		{"an entry means one that was read", one(), nil, []model.Claim{entry("x", "mac=B")}, false, [][]string{{"inventory"}}},
		{"an entry of another kind is not found", one(func(u *model.Unread) { u.Kind = container }), nil, []model.Claim{only}, false, [][]string{{"inventory"}}},
		{"a claim by ID is not found", one(), []model.Claim{managed("2")}, nil, false, [][]string{{"tool"}}},
		{"a claim by ID is not found, and has an identity that was not read", one(), []model.Claim{managed("2", "mac=A")}, nil, false, [][]string{{"tool"}}},
		{"one of two entries means it", one(), nil, []model.Claim{entry("x", "vmid=8"), entry("y", "vmid=9")}, false, nil},
		{"its parent is declared", one(under("1")), []model.Claim{managed("1")}, nil, false, [][]string{{"tool"}}},
		{"its parent is not declared", one(under("2")), []model.Claim{managed("1")}, nil, false, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			declarations := estate(tc.tool, tc.inventory)
			if tc.broken {
				declarations[0].Problems = []model.Problem{{Address: "page 2", Reason: "a part"}}
			}
			snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{guest(machine, "1", "mac=B")}, Unread: []model.Unread{tc.unread},
				Coverage: []model.Coverage{{Source: "s", Complete: true}}}
			var got [][]string
			for _, s := range Match(snapshot, declarations) {
				if s.ID != "9" {
					continue
				}
				got = s.UndeclaredBy
				if s.Live != nil || s.Unread != "node down" || s.Name != "byhand" || s.Place != "n3" {
					t.Errorf("subject %+v", s)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("silent (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnreadThatIsClaimed checks that an unread resource with a claim has one subject.
func TestUnreadThatIsClaimed(t *testing.T) {
	t.Parallel()
	snapshot := model.Snapshot{Source: "s", Unread: []model.Unread{{Ref: model.Ref{Kind: machine, ID: "1"}, Reason: "node down"}},
		Coverage: []model.Coverage{{Source: "s", Complete: true}}}
	subjects := Match(snapshot, estate([]model.Claim{managed("1")}, nil))
	if len(subjects) != 1 || len(subjects[0].Claims) != 1 || subjects[0].Unread != "node down" {
		t.Errorf("subjects %+v", subjects)
	}
}

// TestUnreadHasOneSubject checks that a resource of which one request was answered and another was
// not is compared as far as it was read.
func TestUnreadHasOneSubject(t *testing.T) {
	t.Parallel()
	unread := model.Unread{Ref: model.Ref{Kind: machine, ID: "1"}, Reason: "node down"}
	for _, tc := range []struct {
		reason          string
		resources       []model.Resource
		tool, inventory []model.Claim
		live            bool
		silent          [][]string
	}{
		{"read, and not claimed", []model.Resource{guest(machine, "1")}, []model.Claim{}, nil, true, [][]string{{"tool"}}},
		{"read and claimed", []model.Resource{guest(machine, "1")}, []model.Claim{managed("1")}, nil, true, nil},
		{"not read, and claimed by one of two", nil, []model.Claim{managed("1")}, []model.Claim{}, false, nil},
		{"not read, and not claimed", nil, []model.Claim{}, []model.Claim{}, false, [][]string{{"tool"}, {"inventory"}}},
	} {
		snapshot := model.Snapshot{Source: "s", Resources: tc.resources, Unread: []model.Unread{unread}, Coverage: []model.Coverage{{Source: "s", Complete: true}}}
		subjects := Match(snapshot, estate(tc.tool, tc.inventory))
		if len(subjects) != 1 || subjects[0].ID != "1" || (subjects[0].Live != nil) != tc.live {
			t.Fatalf("%s: subjects %+v", tc.reason, subjects)
		}
		if diff := cmp.Diff(tc.silent, subjects[0].UndeclaredBy); diff != "" {
			t.Errorf("%s: silent (-want +got):\n%s", tc.reason, diff)
		}
	}
}
