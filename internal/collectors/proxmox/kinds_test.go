package proxmox

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestPlacesAndParents(t *testing.T) {
	t.Parallel()
	s := collect(t, lab())
	for _, tc := range []struct {
		kind, id, place string
		parent          model.Ref
		path, want      string
	}{
		{"pool_member", "shop/vm/401", "", model.Ref{Kind: "proxmox/pool", ID: "shop"}, "member", "401"},
		{"pool_member", "shop/test/vm/411", "", model.Ref{Kind: "proxmox/pool", ID: "shop/test"}, "type", "vm"},
		{"pool_member", "shop/storage/fast", "", model.Ref{Kind: "proxmox/pool", ID: "shop"}, "type", "storage"},
		{"firewall_options", "qemu/401", "", model.Ref{Kind: "proxmox/qemu", ID: "401"}, "policy_in", "DROP"},
		{"firewall_alias", "lxc/410/upstream", "", model.Ref{Kind: "proxmox/lxc", ID: "410"}, "cidr", "203.0.113.53"},
		{"firewall_alias", "cluster/desk", "", model.Ref{}, "comment", "desks"},
		{"firewall_ipset", "qemu/401/callers", "", model.Ref{Kind: "proxmox/qemu", ID: "401"}, "name", "callers"},
		{"firewall_rules", "node/pve2", "pve2", model.Ref{}, "", ""},
		{"firewall_rules", "vnet/labnet", "", model.Ref{Kind: "proxmox/sdn_vnet", ID: "labnet"}, "", ""},
		{"sdn_subnet", "lab-198.51.100.128-25", "", model.Ref{Kind: "proxmox/sdn_vnet", ID: "labnet"}, "gateway", "198.51.100.129"},
		{"metrics_server", "influx", "", model.Ref{}, "bucket", "pve"},
		{"node_time", "pve3", "pve3", model.Ref{}, "timezone", "Europe/Vienna"},
		{"replication_job", "402-0", "", model.Ref{}, "target", "pve3"},
	} {
		r := must(t, &s, tc.kind, tc.id)
		if r.Place != tc.place || r.Parent != tc.parent {
			t.Errorf("%s %s: place %q, parent %v; want %q, %v", tc.kind, tc.id, r.Place, r.Parent, tc.place, tc.parent)
		}
		if got := r.Value.At(tc.path).Text(); tc.path != "" && got != tc.want {
			t.Errorf("%s %s: %s = %q, want %q", tc.kind, tc.id, tc.path, got, tc.want)
		}
	}
}

func TestRulesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := collect(t, lab())
	for _, id := range []struct{ kind, id, first string }{
		{"firewall_rules", "qemu/401", "ACCEPT"}, {"firewall_rules", "cluster", "ACCEPT"}, {"firewall_group", "public", "ACCEPT"},
	} {
		rules := must(t, &s, id.kind, id.id).Value.At("rules").Items()
		if len(rules) != 2 || rules[0].At("action").Str() != id.first {
			t.Errorf("%s %s: %v", id.kind, id.id, rules)
		}
	}
}

func TestAppliedConfiguration(t *testing.T) {
	t.Parallel()
	s := collect(t, lab())
	zone := must(t, &s, "sdn_zone", "lab")
	if diff := cmp.Diff([]model.Field{{Name: "mtu", Value: model.IntOf(1400)}}, zone.Running); diff != "" || zone.Value.At("mtu").Text() != "1450" {
		t.Errorf("mtu %s, in effect (-want +got):\n%s", zone.Value.At("mtu"), diff)
	}
	if vnet := must(t, &s, "sdn_vnet", "labnet"); len(vnet.Running) > 0 {
		t.Errorf("the virtual network has pending changes: %v", vnet.Running)
	}
}
