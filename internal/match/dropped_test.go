package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestDropped has an inventory whose log says which claims were removed.
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
		for _, subject := range Match([]model.Snapshot{s}, []model.Declaration{silent, d}, nil) {
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
