package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestDropped checks who removed a claim according to the log of its inventory.
func TestDropped(t *testing.T) {
	t.Parallel()
	id := func(text string) model.Identity {
		by, value, _ := strings.Cut(text, "=")
		return model.Identity{By: by, Value: value}
	}
	ids := func(text string) (all []model.Identity) {
		for word := range strings.FieldsSeq(text) {
			all = append(all, id(word))
		}
		return all
	}
	removal := func(who string, minute int64, identities string) model.Removal {
		return model.Removal{Source: "pve", Kinds: []string{"qemu", "lxc"}, Identities: ids(identities), Actor: model.Actor{Name: who, At: time.Unix(minute*60, 0), Confidence: model.Exact}}
	}
	elsewhere := removal("mara", 1, "vmid=100")
	elsewhere.Source = "other"
	kindless, vm, guessed := removal("mara", 1, "vmid=100"), removal("mara", 1, "vmid=100"), removal("mara", 1, "name=a")
	kindless.Kinds, vm.Kinds, guessed.Actor.Confidence = nil, []string{"qemu"}, model.Unknown
	for _, tc := range []struct {
		reason    string
		removals  []model.Removal
		unread    string
		resources string
		want      string
	}{
		{"nothing was removed", nil, "", "qemu/100:vmid=100", ""},
		{"by the surest identity", []model.Removal{removal("mara", 1, "vmid=100 name=a")}, "", "qemu/100:vmid=100 lxc/101:vmid=101,name=a", "qemu/100 mara exact"},
		{"of another kind", []model.Removal{removal("mara", 1, "vmid=100")}, "", "lxc/100:vmid=100", "lxc/100 mara exact"},
		{"by the name", []model.Removal{removal("mara", 1, "vmid=7 name=a")}, "", "qemu/100:vmid=100,name=a", "qemu/100 mara likely"},
		{"by a name that two have", []model.Removal{removal("mara", 1, "name=a")}, "", "qemu/100:name=a qemu/101:name=a", ""},
		{"the last of two", []model.Removal{removal("mara", 1, "vmid=100"), removal("jonas", 2, "vmid=100")}, "", "qemu/100:vmid=100", "qemu/100 jonas exact"},
		{"another uuid", []model.Removal{removal("mara", 1, "vmid=100 uuid=a")}, "", "qemu/100:vmid=100,uuid=b", ""},
		{"one MAC address of two", []model.Removal{removal("mara", 1, "vmid=100 mac=a mac=b")}, "", "qemu/100:vmid=100,mac=b,mac=c", "qemu/100 mara exact"},
		{"a uuid that is not known of the resource", []model.Removal{removal("mara", 1, "vmid=100 uuid=a")}, "", "qemu/100:vmid=100", "qemu/100 mara exact"},
		{"a uuid that is not known of the claim", []model.Removal{removal("mara", 1, "vmid=100")}, "", "qemu/100:vmid=100,uuid=b", "qemu/100 mara exact"},
		{"the same uuid, and no MAC address in common", []model.Removal{removal("mara", 1, "vmid=100 uuid=a mac=a")}, "", "qemu/100:vmid=100,uuid=a,mac=b", ""},
		{"another name, which may change", []model.Removal{removal("mara", 1, "vmid=100 name=a")}, "", "qemu/100:vmid=100,name=b", "qemu/100 mara exact"},
		{"by the name, and the log is not sure", []model.Removal{guessed}, "", "qemu/100:name=a", "qemu/100 mara unknown"},
		{"no kind that may be it", []model.Removal{kindless}, "", "qemu/100:vmid=100", ""},
		{"only another kind", []model.Removal{vm}, "", "lxc/100:vmid=100", ""},
		{"one of two that were removed", []model.Removal{removal("mara", 1, "vmid=100"), removal("jonas", 2, "vmid=101")}, "", "lxc/101:vmid=101 qemu/100:vmid=100", "lxc/101 jonas exact; qemu/100 mara exact"},
		{"the last one contradicts", []model.Removal{removal("mara", 1, "vmid=100"), removal("jonas", 2, "vmid=100 uuid=a")}, "", "qemu/100:vmid=100,uuid=b", "qemu/100 mara exact"},
		{"the log was read in part", []model.Removal{removal("mara", 1, "vmid=100")}, "grant it", "qemu/100:vmid=100 qemu/101:vmid=101", "qemu/100 mara exact; qemu/101 unknown unknown grant it"},
		{"another source", []model.Removal{elsewhere}, "", "qemu/100:vmid=100", ""},
		{"a removal without identities", []model.Removal{removal("mara", 1, "")}, "", "qemu/100:vmid=100", ""},
		{"the log was not read", nil, "grant it", "qemu/100:vmid=100", "qemu/100 unknown unknown grant it"},
	} {
		s := model.Snapshot{Source: "pve", Coverage: []model.Coverage{{Complete: true}}}
		for text := range strings.FieldsSeq(tc.resources) {
			ref, known, _ := strings.Cut(text, ":")
			kind, name, _ := strings.Cut(ref, "/")
			s.Resources = append(s.Resources, model.Resource{Key: model.Key{Source: "pve", Kind: kind, ID: name}, Identities: ids(strings.ReplaceAll(known, ",", " "))})
		}
		slices.SortFunc(s.Resources, func(a, b model.Resource) int { return a.Key.Compare(b.Key) })
		d := model.Declaration{Name: "intent", Inventory: true, Governs: []string{"pve", "other"}, Scopes: []model.Scope{{}}, Removals: tc.removals, LogUnread: tc.unread}
		silent := model.Declaration{Name: "infra", Governs: []string{"pve"}, Scopes: []model.Scope{{}}}
		var got []string
		for _, subject := range Match(s, []model.Declaration{silent, d}) {
			for _, dropped := range subject.Dropped {
				if dropped.Declaration != "intent" {
					t.Errorf("%s: dropped from %s", tc.reason, dropped.Declaration)
				}
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s/%s %s %s %s", subject.Key.Kind, subject.ID, dropped.Actor.Name, dropped.Actor.Confidence, dropped.Actor.Reason)))
			}
		}
		if strings.Join(got, "; ") != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestDroppedOfAYoungerResource does not name who removed a claim for a resource that was
// created later: the number was given again.
func TestDroppedOfAYoungerResource(t *testing.T) {
	t.Parallel()
	removed := time.Unix(1000, 0)
	for _, tc := range []struct {
		reason  string
		created time.Time
		want    int
	}{
		{"its age is not known", time.Time{}, 1},
		{"older", removed.Add(-time.Second), 1},
		{"created at that time", removed, 1},
		{"younger", removed.Add(time.Second), 0},
	} {
		r := guest(machine, "1", "vmid=1")
		r.Created = tc.created
		d := estate(nil, []model.Claim{})
		d[0].Removals = []model.Removal{{Source: "s", Kinds: []string{machine}, Identities: identities([]string{"vmid=1"}), Actor: model.Actor{Name: "mara", At: removed}}}
		for _, s := range Match(model.Snapshot{Source: "s", Resources: []model.Resource{r}}, d) {
			if len(s.Dropped) != tc.want {
				t.Errorf("%s: dropped %+v", tc.reason, s.Dropped)
			}
		}
	}
}

// TestDroppedByDeclaration names for each declaration that should declare a resource who
// removed it there, and for no other one.
func TestDroppedByDeclaration(t *testing.T) {
	t.Parallel()
	inventory := func(name, who string) model.Declaration {
		return model.Declaration{Name: name, Inventory: true, Governs: []string{"s"}, Scopes: []model.Scope{{}},
			Removals: []model.Removal{{Source: "s", Kinds: []string{machine}, Identities: identities([]string{"vmid=1"}), Actor: model.Actor{Name: who, Confidence: model.Exact}}}}
	}
	foreign, claiming, elsewhere, unread := inventory("d", "eve"), inventory("e", "eve"), inventory("f", "eve"), inventory("g", "eve")
	foreign.Governs, elsewhere.Scopes = []string{"t"}, places("another place")
	claiming.Inventory, claiming.Claims = false, []model.Claim{managed("1")}
	claiming.Claims[0].Declaration = "e"
	unread.Removals, unread.LogUnread = nil, "grant it"
	for _, tc := range []struct {
		reason       string
		declarations []model.Declaration
		want         string
	}{
		{"two inventories, sorted by name", []model.Declaration{inventory("b", "jonas"), inventory("a", "mara")}, "a mara; b jonas"},
		{"another one does not govern the source", []model.Declaration{inventory("a", "mara"), foreign}, "a mara"},
		{"another one does not govern the place", []model.Declaration{inventory("a", "mara"), elsewhere}, "a mara"},
		{"another one claims the resource again", []model.Declaration{inventory("a", "mara"), claiming}, "a mara"},
		{"the log of another one was not read", []model.Declaration{inventory("a", "mara"), unread}, "a mara; g unknown"},
		{"no declaration governs the source", []model.Declaration{foreign}, ""},
	} {
		var got []string
		for _, s := range Match(model.Snapshot{Source: "s", Resources: []model.Resource{guest(machine, "1", "vmid=1")}}, tc.declarations) {
			for _, d := range s.Dropped {
				got = append(got, d.Declaration+" "+d.Actor.Name)
			}
		}
		if strings.Join(got, "; ") != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}
