package netbox

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// vmidField returns the custom field that holds a guest's id, "" for none.
func (d *deriver) vmidField(ix *index) string {
	if d.config.VMIDField != "" {
		return d.config.VMIDField
	}
	for _, name := range []string{"proxmox_vmid", "vmid", "vm_id"} {
		for _, vm := range ix.machines {
			if !vm.Value.At("custom_fields", name).IsNull() {
				return name
			}
		}
	}
	return ""
}

// uuidFields are the custom fields that may hold a guest's uuid.
func uuidFields() []string { return []string{"uuid", "proxmox_uuid"} }

// identities returns what the guest is known by, the surest first.
func (g *guest) identities() []model.Identity {
	var all []model.Identity
	for _, by := range g.config.Identity {
		for _, value := range g.known(by) {
			all = append(all, model.Identity{By: by, Value: value})
		}
	}
	return all
}

// doubt says why the guest may be known by more than was read; "" where it is
// not, or where what it would be known by was left out on purpose.
func (g *guest) doubt() string {
	if !slices.Contains(g.config.Identity, byMAC) {
		return ""
	}
	for _, kind := range []string{kindInterface, kindMAC} {
		if reason := g.ix.failure(kind); reason != "" && (kind == kindInterface || len(g.ports.macs) == 0) {
			return "no guest is found by what was read of it, and not all MAC addresses were: " + reason
		}
	}
	return ""
}

// known returns what NetBox holds of one kind of identity.
func (g *guest) known(by string) []string {
	switch by {
	case byVMID:
		if id := g.vm.Value.At("custom_fields", g.vmid); g.vmid != "" && isVMID(strings.TrimSpace(id.Text())) {
			return []string{strings.TrimSpace(id.Text())}
		}
	case byUUID:
		return g.uuids()
	case byMAC:
		return g.ports.macs
	case byName:
		if name := nameOf(g.vm); name != "" {
			return []string{strings.ToLower(name)}
		}
	}
	return nil
}

// isVMID tells a whole number of at most nine digits, as Proxmox gives them.
func isVMID(s string) bool {
	return s != "" && len(s) <= 9 && strings.Trim(s, "0123456789") == "" && s[0] != '0'
}

func (g *guest) uuids() []string {
	var all []string
	for _, name := range uuidFields() {
		if uuid, ok := parseUUID(g.vm.Value.At("custom_fields", name).Str()); ok {
			all = append(all, uuid)
		}
	}
	if uuid, ok := parseUUID(g.vm.Value.At("serial").Str()); ok && len(all) == 0 {
		all = append(all, uuid)
	}
	return all
}

// parseUUID returns a uuid in lower case; one of nothing but zeros is none.
func parseUUID(s string) (uuid string, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if len(s) != 36 || strings.Trim(s, "0-") == "" {
		return "", false
	}
	for i := range len(s) {
		dash, digit := i == 8 || i == 13 || i == 18 || i == 23, '0' <= s[i] && s[i] <= '9' || 'a' <= s[i] && s[i] <= 'f'
		if dash != (s[i] == '-') || dash == digit {
			return "", false
		}
	}
	return s, true
}
