package mapping_test

import (
	"testing"

	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

func TestImport(t *testing.T) {
	t.Parallel()
	tables, err := mapping.Load()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		reason            string
		kind, id          string
		place, name, want string
	}{
		{"a guest by node and id", "proxmox/qemu", "350", "alpha", "hand made.1",
			"import {\n  to = proxmox_virtual_environment_vm.hand_made_1\n  id = \"alpha/350\"\n}\n"},
		{"a rule by its own id, and a name that may begin a block", "proxmox/acl", "/?ci@pve!${x}?Admin", "", "4th",
			"import {\n  to = proxmox_acl._4th\n  id = \"/?ci@pve!$${x}?Admin\"\n}\n"},
		{"a guest whose node is not known", "proxmox/qemu", "350", "", "x", ""},
		{"an object of NetBox, by the type that makes it", "netbox/ipam.ipaddress", "7", "", "192.0.2.7/24",
			"import {\n  to = netbox_ip_address._192_0_2_7_24\n  id = \"7\"\n}\n"},
		{"a machine, and not its primary address", "netbox/virtualization.virtualmachine", "8", "", "app",
			"import {\n  to = netbox_virtual_machine.app\n  id = \"8\"\n}\n"},
		{"a provider of several names, under the first of them", "openstack/floatingip", "66ff", "p1", "198.51.100.7",
			"import {\n  to = openstack_networking_floatingip_v2._198_51_100_7\n  id = \"66ff\"\n}\n"},
		{"a kind that no table imports", "proxmox/firewall_rules", "cluster", "", "x", ""},
	}
	for _, test := range tests {
		found, ok := tables.Import(model.Ref{Kind: test.kind, ID: test.id}, test.place, test.name)
		got := ""
		if ok {
			got = found.Block()
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
		}
	}
}
