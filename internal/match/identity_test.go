package match

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/model"
)

const (
	machine   = "pve/machine"
	container = "pve/container"
)

// guest returns a live guest with identities such as "mac=A" and "name=web".
func guest(kind, id string, known ...string) model.Resource {
	return model.Resource{Key: model.Key{Source: "s", Kind: kind, ID: id}, Name: "live-" + id, Identities: identities(known)}
}

func identities(texts []string) []model.Identity {
	list := make([]model.Identity, len(texts))
	for i, text := range texts {
		list[i].By, list[i].Value, _ = strings.Cut(text, "=")
	}
	return list
}

// entry returns the claim of an inventory on a guest with these identities.
func entry(id string, known ...string) model.Claim {
	return model.Claim{Declaration: "inventory", Address: "vm/" + id, Kind: machine, ClaimMatching: model.ClaimMatching{AltKinds: []string{container}, ByIdentity: true, Identities: identities(known)}, ID: "label " + id,
		Name: "entry-" + id}
}

// of returns the claim as a member of a cohort.
func of(cohort string, c model.Claim) model.Claim {
	c.Cohort = cohort
	return c
}

// managed returns the claim of a tool that has the ID of the guest.
func managed(id string, known ...string) model.Claim {
	return model.Claim{Declaration: "tool", Address: "tool." + id, Kind: machine, ID: id, Value: model.MapOf(), ClaimMatching: model.ClaimMatching{Identities: identities(known)}}
}

// waiting returns the claim as one on a resource that the next apply creates.
func waiting(c model.Claim) model.Claim {
	c.Pending = "not created yet"
	return c
}

// doubtful returns the claim as one whose identities were not read in full.
func doubtful(c model.Claim) model.Claim {
	c.Doubt = "interfaces are not known"
	return c
}

// found returns, by address, the resource that each claim resolved to, or why none.
func found(subjects []model.Subject) map[string]string {
	all := map[string]string{}
	for _, s := range subjects {
		for _, c := range s.Claims {
			where := s.Key.Kind + " " + s.ID
			switch {
			case c.Unchecked != "":
				where = "unchecked: " + c.Unchecked
			case s.Live == nil && s.Unread != "":
				where += " unread: " + s.Unread
			case s.Live == nil:
				where += " missing"
			case c.Former != "":
				where += " formerly " + c.Former
			}
			all[c.Address] = where
		}
	}
	return all
}

// TestPendingClaimDoesNotReplace checks that a claim on a resource to be created does not
// resolve to a live guest of the same name.
func TestPendingClaimDoesNotReplace(t *testing.T) {
	t.Parallel()
	snapshot := model.Snapshot{Source: "s", Coverage: []model.Coverage{{Source: "s", Complete: true}},
		Resources: []model.Resource{guest(machine, "8", "name=web")}}
	got := found(Match(snapshot, estate([]model.Claim{waiting(managed("4", "name=web"))}, nil)))
	if want := map[string]string{"tool.4": "pve/machine 4 missing"}; cmp.Diff(want, got) != "" {
		t.Errorf("found %v, want %v", got, want)
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	everything := []model.Coverage{{Source: "s", Complete: true}}
	for _, tc := range []struct {
		reason    string
		live      []model.Resource
		unread    []model.Unread
		coverage  []model.Coverage
		inventory []model.Claim
		tool      []model.Claim
		want      map[string]string
		// unmanaged reports whether the unclaimed resource is certainly not that of a claim.
		unmanaged bool
	}{
		{
			reason: "the most reliable identity that any resource has counts",
			live:   []model.Resource{guest(machine, "1", "mac=A", "name=web"), guest(machine, "2", "mac=B", "name=db")}, coverage: everything,
			inventory: []model.Claim{entry("x", "uuid=none", "mac=B", "name=web")},
			want:      map[string]string{"vm/x": "pve/machine 2"},
		},
		{
			reason: "a guest may be of another kind than the first", coverage: everything,
			live:      []model.Resource{guest(container, "7", "name=web")},
			inventory: []model.Claim{entry("x", "mac=A", "name=web")},
			want:      map[string]string{"vm/x": "pve/container 7"},
		},
		{
			reason: "several MAC addresses of one guest resolve to it", coverage: everything,
			live:      []model.Resource{guest(machine, "1", "mac=A", "mac=B")},
			inventory: []model.Claim{entry("x", "mac=A", "mac=B")},
			want:      map[string]string{"vm/x": "pve/machine 1"},
		},
		{
			reason: "MAC addresses of two guests resolve to neither", coverage: everything,
			live:      []model.Resource{guest(machine, "1", "mac=A", "name=web"), guest(machine, "2", "mac=B")},
			inventory: []model.Claim{entry("x", "mac=A", "mac=B", "name=web")},
			want:      map[string]string{"vm/x": "unchecked: ambiguous: 1 (live-1) and 2 (live-2) have the same mac; give it a surer identity"},
		},
		{
			reason: "two entries for one guest are both unchecked, each with the other named", coverage: everything,
			live:      []model.Resource{guest(machine, "1", "mac=A", "name=web")},
			inventory: []model.Claim{entry("x", "mac=A"), entry("y", "name=web")},
			want: map[string]string{
				"vm/x": "unchecked: ambiguous: entry-x (vm/x) and entry-y (vm/y) claim 1 (live-1); one of them is something else",
				"vm/y": "unchecked: ambiguous: entry-x (vm/x) and entry-y (vm/y) claim 1 (live-1); one of them is something else",
			},
		},
		{
			reason: "a claim without identities is missing", coverage: everything,
			live:      []model.Resource{guest(machine, "1", "mac=A")},
			inventory: []model.Claim{entry("x", "mac=C")},
			want:      map[string]string{"vm/x": "pve/machine label x missing"},
		},
		{
			reason:    "absence counts only where every kind that it may be of was read",
			coverage:  []model.Coverage{{Source: "s", Kind: machine, Complete: true}, {Source: "s", Kind: container, Reason: "no rights"}},
			inventory: []model.Claim{entry("x", "mac=C")},
			want:      map[string]string{"vm/x": "pve/machine label x unread: no rights"},
		},
		{
			reason: "a guest that could not be read may be the claimed one", coverage: everything,
			unread:    []model.Unread{{Ref: model.Ref{Kind: machine, ID: "9"}, Reason: "its node is down", Identities: identities([]string{"vmid=9", "name=other"})}},
			inventory: []model.Claim{entry("x", "mac=C", "name=web"), entry("y", "vmid=9"), entry("z", "vmid=8", "mac=D")},
			want: map[string]string{
				"vm/x": "pve/machine label x unread: it may be 9, which could not be read: its node is down",
				"vm/y": "pve/machine label y unread: it may be 9, which could not be read: its node is down",
				"vm/z": "pve/machine label z missing",
			},
		},
		{
			reason: "of two cohorts the one with a live guest counts", coverage: everything,
			live: []model.Resource{guest(machine, "1", "name=web")},
			inventory: []model.Claim{of("this cluster is another", entry("x", "name=web")), of("this cluster is another", entry("y", "name=db")),
				of("that cluster is another", entry("z", "name=app"))},
			want: map[string]string{"vm/x": "pve/machine 1", "vm/y": "pve/machine label y missing", "vm/z": "unchecked: that cluster is another"},
		},
		{
			reason:    "a cohort is dismissed only where all that it may mean was read",
			coverage:  []model.Coverage{{Source: "s", Kind: machine, Complete: true}, {Source: "s", Kind: container, Reason: "no rights"}},
			inventory: []model.Claim{of("it is another", entry("z", "name=app"))},
			want:      map[string]string{"vm/z": "pve/machine label z unread: no rights"},
		},
		{
			reason: "a claim whose identities were not read in full may be on a live guest", coverage: everything,
			live:      []model.Resource{guest(machine, "1", "mac=A", "name=web")},
			inventory: []model.Claim{doubtful(entry("x", "name=db")), doubtful(entry("y", "name=web"))},
			want:      map[string]string{"vm/x": "pve/machine label x unread: interfaces are not known", "vm/y": "pve/machine 1"},
		},
		{
			reason: "a claim with an ID and doubtful identities is not on another guest", coverage: everything,
			unread:    []model.Unread{{Ref: model.Ref{Kind: machine, ID: "9"}, Reason: "its node is down", Identities: identities([]string{"vmid=9"})}},
			inventory: []model.Claim{doubtful(entry("x", "mac=C"))},
			tool:      []model.Claim{managed("5", "mac=C")},
			want:      map[string]string{"vm/x": "pve/machine 5 missing", "tool.5": "pve/machine 5 missing"},
		},
		{
			reason: "the claims of tool and inventory on an absent guest are one subject", coverage: everything,
			inventory: []model.Claim{entry("x", "vmid=5")},
			tool:      []model.Claim{managed("5", "vmid=5")},
			want:      map[string]string{"vm/x": "pve/machine 5 missing", "tool.5": "pve/machine 5 missing"},
		},
		{
			reason: "a guest that was created again has a new ID", coverage: everything,
			live: []model.Resource{guest(machine, "8", "slug=ham1")},
			tool: []model.Claim{managed("4", "slug=ham1")},
			want: map[string]string{"tool.4": "pve/machine 8 formerly 4"},
		},
		{
			reason: "a guest with the same name and another MAC address is another guest", coverage: everything,
			live: []model.Resource{guest(machine, "8", "vmid=8", "mac=B", "name=web")},
			tool: []model.Claim{managed("4", "vmid=4", "mac=A", "name=web")},
			want: map[string]string{"tool.4": "pve/machine 4 missing"}, unmanaged: true,
		},
		{
			reason: "a guest with the same MAC address was restored under another number", coverage: everything,
			live: []model.Resource{guest(machine, "8", "vmid=8", "mac=A", "name=web-restored")},
			tool: []model.Claim{managed("4", "vmid=4", "mac=A", "name=web")},
			want: map[string]string{"tool.4": "pve/machine 8 formerly 4"},
		},
		{
			reason: "a new guest with fewer identities may be the absent one", coverage: everything,
			live: []model.Resource{guest(machine, "8", "name=web")},
			tool: []model.Claim{managed("4", "mac=A", "name=web")},
			want: map[string]string{"tool.4": "pve/machine 8 formerly 4"},
		},
		{
			reason: "a claim on a live guest resolves to no other one", coverage: everything,
			live: []model.Resource{guest(machine, "7", "name=renamed"), guest(machine, "8", "name=web")},
			tool: []model.Claim{managed("4", "name=web"), managed("7", "name=web")},
			want: map[string]string{"tool.4": "pve/machine 8 formerly 4", "tool.7": "pve/machine 7"},
		},
		{
			reason: "a claim on a guest that the next apply creates resolves to no live one", coverage: everything,
			live: []model.Resource{guest(machine, "8", "name=web")},
			tool: []model.Claim{managed("4", "name=web"), waiting(managed("7", "name=web"))},
			want: map[string]string{"tool.4": "pve/machine 8 formerly 4", "tool.7": "pve/machine 7 missing"},
		},
		{
			reason: "a guest that could not be read may be any claim without identities", coverage: everything,
			unread:    []model.Unread{{Ref: model.Ref{Kind: container, ID: "9"}, Reason: "its node is down", Identities: identities([]string{"name=web"})}},
			inventory: []model.Claim{entry("x")},
			want:      map[string]string{"vm/x": "pve/machine label x unread: it may be 9, which could not be read: its node is down"},
		},
		{
			reason: "a cohort of claims without identities is about another cluster", coverage: everything,
			inventory: []model.Claim{of("it is another", entry("x"))},
			want:      map[string]string{"vm/x": "unchecked: it is another"},
		},
		{
			reason: "a part of a guest that was created again follows it", coverage: everything,
			live: []model.Resource{guest(machine, "8", "slug=ham1")},
			tool: []model.Claim{{Declaration: "tool", Address: "part.4", Kind: machine, ID: "4"}, managed("4", "slug=ham1")},
			want: map[string]string{"tool.4": "pve/machine 8 formerly 4", "part.4": "pve/machine 8 formerly 4"},
		},
		{
			reason: "a guest whose ID another claim has is not a replacement", coverage: everything,
			live: []model.Resource{guest(machine, "8", "slug=ham1")},
			tool: []model.Claim{managed("4", "slug=ham1"), managed("8", "slug=ham1")},
			want: map[string]string{"tool.4": "pve/machine 4 missing", "tool.8": "pve/machine 8"},
		},
		{
			reason: "a guest that may replace two absent ones replaces neither", coverage: everything,
			live: []model.Resource{guest(machine, "8", "slug=ham1")},
			tool: []model.Claim{managed("4", "slug=ham1"), managed("5", "slug=ham1")},
			want: map[string]string{"tool.4": "pve/machine 4 missing", "tool.5": "pve/machine 5 missing"},
		},
		{
			reason: "an identity of two absent guests does not resolve an entry", coverage: everything,
			inventory: []model.Claim{entry("x", "mac=A"), entry("y", "mac=A", "name=web")},
			tool:      []model.Claim{managed("4", "mac=A"), managed("5", "mac=A", "name=web")},
			want: map[string]string{"tool.4": "pve/machine 4 missing", "tool.5": "pve/machine 5 missing",
				"vm/x": "pve/machine label x missing", "vm/y": "pve/machine 5 missing"},
		},
		{
			reason: "a claim with two possible replacements resolves to neither", coverage: everything,
			live: []model.Resource{guest(machine, "8", "slug=ham1"), guest(machine, "9", "slug=ham1")},
			tool: []model.Claim{managed("4", "slug=ham1")},
			want: map[string]string{"tool.4": "pve/machine 4 missing"},
		},
		{
			reason: "a live guest with the tool's ID is not a replacement", coverage: everything,
			live:      []model.Resource{guest(machine, "4", "name=renamed")},
			inventory: []model.Claim{entry("x", "name=web")},
			tool:      []model.Claim{managed("4", "name=web")},
			want:      map[string]string{"tool.4": "pve/machine 4", "vm/x": "pve/machine label x missing"},
		},
		{
			reason: "an unread resource of another kind is not a candidate", coverage: everything,
			unread:    []model.Unread{{Ref: model.Ref{Kind: "pve/pool", ID: "9"}, Reason: "no rights"}},
			inventory: []model.Claim{entry("x", "mac=C")},
			want:      map[string]string{"vm/x": "pve/machine label x missing"},
		},
		{
			reason:   "what cannot be seen has not moved",
			coverage: []model.Coverage{{Source: "s", Reason: "a weak token"}},
			live:     []model.Resource{guest(machine, "8", "slug=ham1")},
			tool:     []model.Claim{managed("4", "slug=ham1")},
			want:     map[string]string{"tool.4": "pve/machine 4 unread: a weak token"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			snapshot := model.Snapshot{Source: "s", Resources: tc.live, Unread: tc.unread, Coverage: tc.coverage}
			subjects := Match(snapshot, estate(tc.tool, tc.inventory))
			if diff := cmp.Diff(tc.want, found(subjects)); diff != "" {
				t.Error(diff)
			}
			for _, s := range subjects {
				if unmanaged := len(s.UndeclaredBy) > 0; s.Live != nil && len(tc.inventory) == 0 && len(s.Claims) == 0 && unmanaged != tc.unmanaged {
					t.Errorf("%s is called unmanaged: %t", s.ID, unmanaged)
				}
			}
		})
	}
}

// TestInventoriesThatAgree resolves entries of two inventories with different identities to one
// guest. Two such entries of one inventory would be ambiguous.
func TestInventoriesThatAgree(t *testing.T) {
	t.Parallel()
	other := entry("y", "name=web")
	other.Declaration = "other"
	declarations := append(estate(nil, []model.Claim{entry("x", "mac=A")}),
		model.Declaration{Name: "other", Governs: []string{"s"}, Claims: []model.Claim{other}, Inventory: true})
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{guest(machine, "1", "mac=A", "name=web")}}
	want := map[string]string{"vm/x": "pve/machine 1", "vm/y": "pve/machine 1"}
	if diff := cmp.Diff(want, found(Match(snapshot, declarations))); diff != "" {
		t.Error(diff)
	}
}

// TestAmbiguousEntries checks that a guest that an entry may mean is not undeclared in the
// inventory, and that a resolved claim has the place of its guest.
func TestAmbiguousEntries(t *testing.T) {
	t.Parallel()
	here := guest(machine, "3", "name=db")
	here.Place = "pve1"
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{guest(machine, "1", "mac=A"), guest(machine, "2", "mac=A"), here},
		Coverage: []model.Coverage{{Source: "s", Complete: true}}}
	unsure := entry("z", "mac=A")
	unsure.Unchecked = "another reason"
	subjects := Match(snapshot, estate(nil, []model.Claim{entry("x", "mac=A"), entry("y", "name=db"), unsure}))
	for _, s := range subjects {
		if len(s.UndeclaredBy) > 0 {
			t.Errorf("%s is called unmanaged", s.ID)
		}
		for _, c := range s.Claims {
			if c.Address == "vm/y" && c.Place != "pve1" {
				t.Errorf("the claim lies in %q", c.Place)
			}
			if c.Address == "vm/z" && c.Unchecked != "another reason" {
				t.Errorf("the claim is unchecked because %q", c.Unchecked)
			}
		}
	}
}

// TestAuditEventsOfReplacement checks that a resource has the deletions of its predecessor
// among its audit events, and not the edits.
func TestAuditEventsOfReplacement(t *testing.T) {
	t.Parallel()
	event := func(id, name string, action model.Action, second int64) model.AuditEvent {
		return model.AuditEvent{Ref: model.Ref{Kind: machine, ID: id}, Action: action, Actor: model.Actor{Name: name, At: time.Unix(second, 0)}}
	}
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{guest(machine, "2", "name=web")}, Coverage: []model.Coverage{{Source: "s", Complete: true}},
		AuditEvents: []model.AuditEvent{event("1", "ann", model.Edited, 1), event("1", "bob", model.Deleted, 2), event("1", "erin", model.Deleted, 4),
			event("2", "carol", model.Created, 3), event("2", "dave", model.Edited, 5)}}
	subjects := Match(snapshot, estate([]model.Claim{managed("1", "name=web")}, nil))
	want := []string{"bob", "carol", "erin", "dave"}
	var got []string
	for _, e := range subjects[0].AuditEvents {
		got = append(got, e.Actor.Name)
	}
	if diff := cmp.Diff(want, got); len(subjects) != 1 || diff != "" {
		t.Error(diff)
	}
}

// TestIdentitiesInAnyOrder checks that the order of guests, claims and declarations has no
// effect on the result, and that no claim is lost.
func TestIdentitiesInAnyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.SliceOfN(rapid.SampledFrom([]string{"mac=A", "mac=B", "mac=C", "name=web", "name=db"}), 1, 3)
		var guests []model.Resource
		for i := range rapid.IntRange(0, 4).Draw(t, "guests") {
			guests = append(guests, guest(machine, string(rune('1'+i)), known.Draw(t, "guest")...))
		}
		entries := []model.Claim{}
		for i := range rapid.IntRange(0, 4).Draw(t, "entries") {
			entries = append(entries, entry(string(rune('a'+i)), known.Draw(t, "entry")...))
		}
		tools := map[string][]model.Claim{}
		for i := range rapid.IntRange(0, 4).Draw(t, "tools") {
			c := managed(string(rune('1'+i+rapid.IntRange(0, 3).Draw(t, "gone"))), known.Draw(t, "tool")...)
			c.Declaration = rapid.SampledFrom([]string{"a", "b"}).Draw(t, "of")
			c.Address = c.Declaration + string(rune('1'+i))
			tools[c.Declaration] = append(tools[c.Declaration], c)
		}
		declarations := estate(nil, entries)
		for _, name := range []string{"a", "b"} {
			declarations = append(declarations, model.Declaration{Name: name, Governs: []string{"s"}, Claims: tools[name]})
		}
		run := func(guests []model.Resource, declarations []model.Declaration) map[string]string {
			snapshot := model.Snapshot{Source: "s", Resources: guests, Coverage: []model.Coverage{{Source: "s", Complete: true}}}
			return found(Match(snapshot, declarations))
		}
		first := run(guests, declarations)
		if want := len(entries) + len(tools["a"]) + len(tools["b"]); len(first) != want {
			t.Fatalf("%d claims came out of %d", len(first), want)
		}
		declarations = rapid.Permutation(declarations).Draw(t, "declarations")
		for i := range declarations {
			if claims := declarations[i].Claims; len(claims) > 0 {
				declarations[i].Claims = rapid.Permutation(claims).Draw(t, "claims")
			}
		}
		again := run(guests, declarations)
		if diff := cmp.Diff(first, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestDeletionByGuestNumber finds the deletion of the guest that an entry identifies by its
// number. A name is not a number.
func TestDeletionByGuestNumber(t *testing.T) {
	t.Parallel()
	event := func(kind, id string, action model.Action, who string, second int64) model.AuditEvent {
		return model.AuditEvent{Ref: model.Ref{Kind: kind, ID: id}, Action: action, Actor: model.Actor{Name: who, At: time.Unix(second, 0)}}
	}
	snapshot := model.Snapshot{Source: "s", Coverage: []model.Coverage{{Source: "s", Complete: true}}, AuditEvents: []model.AuditEvent{
		event(container, "7", model.Deleted, "carol", 4), event(machine, "7", model.Deleted, "frank", 1), event(machine, "8", model.Edited, "dave", 2), event(machine, "9", model.Deleted, "erin", 3)}}
	declaration := model.Declaration{Name: "inventory", Governs: []string{"s"}, Claims: []model.Claim{
		entry("a", "vmid=7"), entry("b", "vmid=8"), entry("c", "name=9"), entry("d", "mac=AA", "vmid=9")}}
	got := map[string]string{}
	for _, s := range Match(snapshot, []model.Declaration{declaration}) {
		for _, tr := range s.AuditEvents {
			got[s.Claims[0].Address] += tr.Actor.Name + " "
		}
	}
	if diff := cmp.Diff(map[string]string{"vm/a": "frank carol ", "vm/d": "erin "}, got); diff != "" {
		t.Errorf("who deleted what (-want +got):\n%s", diff)
	}
}
