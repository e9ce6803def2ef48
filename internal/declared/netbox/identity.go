package netbox

import (
	"fmt"
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

// uuidFields are the custom fields that may hold the machine's uuid.
func (g *guest) uuidFields() []string {
	if g.config.UUIDField != "" {
		return []string{g.config.UUIDField}
	}
	return g.system.uuidFields
}

// identities returns what the machine is known by, the surest first.
func (g *guest) identities() []model.Identity {
	var all []model.Identity
	for _, by := range g.config.Identity {
		if !slices.Contains(g.system.known, by) {
			continue
		}
		for _, value := range g.known(by) {
			all = append(all, model.Identity{By: by, Value: value})
		}
	}
	return all
}

// doubt says why the machine may exist although none is found: it may be known
// by more than was read, where that was not left out on purpose, or lie in a part
// of the system that the source does not read.
func (g *guest) doubt(in placing) string {
	for _, kind := range []string{kindInterface, kindMAC} {
		reason := g.ix.failure(kind)
		if reason != "" && slices.Contains(g.config.Identity, byMAC) && (kind == kindInterface || len(g.ports.macs) == 0) {
			return fmt.Sprintf("no %s is found by what was read of it, and not all MAC addresses were: %s", g.system.noun, reason)
		}
	}
	if g.system.parts == "" || in.said {
		return ""
	}
	return fmt.Sprintf("no %s is found, and it may lie in a %s that %s does not read: if %s reads all of its cluster or of its tenant, name that under clusters or tenants",
		g.system.noun, g.system.parts, in.source, in.source)
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
