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
