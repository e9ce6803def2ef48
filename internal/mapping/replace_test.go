package mapping_test

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// TestReplaces checks which attributes the providers cannot change in place.
func TestReplaces(t *testing.T) {
	t.Parallel()
	tables := load(t, folder(t, `
provider: bpg/proxmox
types:
  proxmox_storage_lvm: {extend: true, local: [volume_group]}
`))
	at := func(paths ...string) []model.Replacement {
		var all []model.Replacement
		for _, p := range paths {
			all = append(all, model.Replacement{Path: p})
		}
		return all
	}
	for _, tt := range []struct {
		reason, provider, typ, instance string
		want                            []model.Replacement
	}{
		{"a machine", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1"}`, at("node_name", "efi_disk.type", "initialization.type", "tpm_state.version")},
		{"a machine that is not migrated", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1","migrate":false}`,
			at("node_name", "efi_disk.type", "initialization.type", "tpm_state.version")},
		{"a machine that is migrated in place", "bpg/proxmox", "proxmox_virtual_environment_vm", `{"id":"1","migrate":true}`,
			at("efi_disk.type", "initialization.type", "tpm_state.version")},
		{"a container's disk cannot shrink", "bpg/proxmox", "proxmox_virtual_environment_container", `{"id":"1"}`,
			append(append(at("node_name", "template", "unprivileged", "disk.datastore_id"), model.Replacement{Path: "disk.size", Larger: true}), at("mount_point.size", "mount_point.volume")...)},
		{"the other provider migrates", "telmate/proxmox", "proxmox_vm_qemu", `{"vmid":1}`, at("efidisk.efitype")},
		{"an extended type that leaves the attribute out", "bpg/proxmox", "proxmox_storage_lvm", `{"id":"x"}`, nil},
		{"a type without such attributes", "bpg/proxmox", "proxmox_virtual_environment_pool", `{"pool_id":"x"}`, nil},
	} {
		typ, ok := tables.Find(tt.provider, tt.typ)
		if !ok {
			t.Fatalf("%s: no table", tt.typ)
		}
		mapped, err := typ.Claim(value(t, tt.instance), sealer())
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(tt.want, mapped.Replaces); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.reason, d)
		}
	}
}

func TestReplacesNamesWhatIsCompared(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		`[size, other]`:       "does not compare the attribute other",
		`[size.of]`:           "does not compare the attribute size.of",
		`size`:                "must be a list",
		`[{attribute: size}]`: `no key "attribute"`,
	} {
		_, err := mapping.Load(folder(t, "provider: acme/lab\ntypes:\n  a: {kind: x/y, id: \"{id}\", attributes: {size: size}, replaces: "+text+"}\n"))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want it to say %q", text, err, says)
		}
	}
}
