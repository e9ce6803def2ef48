package netbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// vmidField returns the name of the custom field that contains a guest's VMID, or "".
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

// uuidFields returns the names of the custom fields that can contain the machine's UUID.
func (g *vmBuilder) uuidFields() []string {
	if g.config.UUIDField != "" {
		return []string{g.config.UUIDField}
	}
	return g.system.uuidFields
}

// identities returns the identities of the virtual machine, the most certain first.
func (g *vmBuilder) identities() []model.Identity {
	var all []model.Identity
	for _, by := range g.config.Identity {
		if !slices.Contains(g.system.identities, by) {
			continue
		}
		for _, value := range g.identityValues(by) {
			all = append(all, model.Identity{By: by, Value: value})
		}
	}
	return all
}

// doubt returns why a machine without a match may exist, or "". Either not all of its
// identities could be read, or the source in does not read all of its system. Kinds that are
// excluded from reading are no reason.
func (g *vmBuilder) doubt(in placement) string {
	for _, kind := range []string{kindInterface, kindMAC} {
		reason := g.ix.failure(kind)
		if reason != "" && slices.Contains(g.config.Identity, byMAC) && (kind == kindInterface || len(g.ports.macs) == 0) {
			return fmt.Sprintf("no %s matches the identities that were read, and not all MAC addresses were read: %s", g.system.noun, reason)
		}
	}
	if g.system.part == "" || in.configured {
		return ""
	}
	return fmt.Sprintf("no %s matches, but it may be in a %s that %s does not read; if %s reads the whole cluster or tenant, add that to clusters or tenants",
		g.system.noun, g.system.part, in.source, in.source)
}

// identityValues returns the values of the kind of identity by.
func (g *vmBuilder) identityValues(by string) []string {
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

// isVMID reports whether s is a whole number of at most nine digits, as Proxmox assigns them.
func isVMID(s string) bool {
	return s != "" && len(s) <= 9 && strings.Trim(s, "0123456789") == "" && s[0] != '0'
}

func (g *vmBuilder) uuids() []string {
	var all []string
	for _, name := range g.uuidFields() {
		if uuid, ok := parseUUID(g.vm.Value.At("custom_fields", name).Str()); ok {
			all = append(all, uuid)
		}
	}
	if uuid, ok := parseUUID(g.vm.Value.At("serial").Str()); ok && len(all) == 0 {
		all = append(all, uuid)
	}
	return all
}

// parseUUID returns s in lower case. ok is false if s is not a UUID or consists of zeros only.
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
