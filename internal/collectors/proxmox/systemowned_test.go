package proxmox

import "testing"

func TestSystemOwned(t *testing.T) {
	t.Parallel()
	s := collect(t, lab())
	for _, tc := range []struct{ kind, id, want string }{
		{"role", "PVEAuditor", "built in"},
		{"role", "Keeper", ""},
		{"user", "root@pam", "built in"},
		{"user", "dana@pve", ""},
		{"realm", "pam", "built in"},
		{"realm", "staff", ""},
		{"sdn_ipam", "pve", "built in"},
		{"cluster_options", "cluster", "part of every cluster"},
		{"node_dns", "pve2", "part of every node"},
		{"node_network", "pve1:eno1", "a physical network interface"},
		{"node_network", "pve1:vmbr0", ""},
		{"firewall_options", "qemu/402", "only default values"},
		{"firewall_options", "qemu/401", ""},
		{"firewall_options", "cluster", ""},
		{"firewall_rules", "qemu/402", "no rules"},
		{"firewall_rules", "node/pve2", ""},
		{"qemu", "401", ""},
	} {
		if got := must(t, &s, tc.kind, tc.id).SystemOwned; got != tc.want {
			t.Errorf("%s %s: %q, want %q", tc.kind, tc.id, got, tc.want)
		}
	}
}
