package mapping_test

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

func TestDeclares(t *testing.T) {
	t.Parallel()
	tables := load(t)
	for _, tc := range []struct{ reason, provider, typ, attributes, path, says, want string }{
		{"a name", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1"}`, "name", `"web"`, `"web"`},
		{"inside of a block", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1"}`, "memory[0].dedicated", `4096`, `4096`},
		{"GiB", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1"}`, "disk[1].size", `32.5`, `34896609280`},
		{"no whole number of bytes", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1"}`, "disk[1].size", `0.0000000001`, ``},
		{"a text that stands for another", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1"}`, "started", `true`, `"running"`},
		{"a text of a named block", "bpg/proxmox", "proxmox_cloned_vm", `{"id":"1"}`, "network.net0.bridge", `"vmbr0"`, `"vmbr0"`},
		{"a written size", "Telmate/proxmox", "proxmox_vm_qemu", `{"id":"a/qemu/1"}`, "disk[0].size", `"3G"`, `3221225472`},
		{"a list in one text", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1"}`, "network_device[0].trunks", `"20;30"`, `["20","30"]`},
		{"a list with ranges", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1"}`, "network_device[0].trunks", `"20-30"`, `["20-30"]`},
		{"the key of a block", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1"}`, "disk[0].interface", `"scsi0"`, ``},
		{"what cannot be turned round", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1"}`, "machine", `"q35"`, ``},
		{"what the system never shows", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1"}`, "initialization[0].user_account[0].password", `"x"`, ``},
		{"another unit", "e-breuninger/netbox", "netbox_virtual_machine", `{"id":"1","disk_size_gb":20}`, "disk_size_gb", `20.5`, `20500`},
		{"nothing", "e-breuninger/netbox", "netbox_virtual_machine", `{"id":"1"}`, "memory_mb", `null`, ``},
		{"what stands for nothing", "e-breuninger/netbox", "netbox_virtual_machine", `{"id":"1"}`, "memory_mb", `0`, ``},
		{"what the provider only reads", "e-breuninger/netbox", "netbox_virtual_machine", `{"id":"1"}`, "primary_ipv4", `5`, ``},
		{"the same for who sets it", "e-breuninger/netbox", "netbox_primary_ip", `{"id":"1"}`, "ip_address_id", `5`, `5`},
		{"what is read in the light of the instance", "e-breuninger/netbox", "netbox_virtual_machine", `{"id":"1"}`, "tags", `["web"]`, ``},
		{"an element of a list", "e-breuninger/netbox", "netbox_cable", `{"id":"1"}`, "a_termination[0].object_id", `5`, `5`},
		{"no attribute", "e-breuninger/netbox", "netbox_cable", `{"id":"1"}`, "colour", `5`, ``},
		{"no path", "e-breuninger/netbox", "netbox_cable", `{"id":"1"}`, "", `5`, ``},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			typ, ok := tables.Find(tc.provider, tc.typ)
			if !ok {
				t.Fatalf("no type %s", tc.typ)
			}
			mapped, err := typ.Claim(value(t, tc.attributes), sealer())
			if err != nil {
				t.Fatal(err)
			}
			means, known := mapped.Lens.LiveValue(model.Value{}, tc.path, value(t, tc.says))
			if got := string(means.AppendJSON(nil)); known != (tc.want != "") || known && got != tc.want {
				t.Errorf("got %s, %v, want %s", got, known, tc.want)
			}
		})
	}
}
