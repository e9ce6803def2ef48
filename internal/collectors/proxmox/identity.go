package proxmox

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// The types of a guest's identities, in addition to kind and id.
const (
	byVMID = "vmid"
	byUUID = "uuid"
	byMAC  = "mac"
	byName = "name"
)

// identities returns the identities of a guest: its id, the UUID of its firmware, the MAC
// addresses of its network devices, and its name in lower case.
func identities(id string, value model.Value, macs []string) []model.Identity {
	all := append(make([]model.Identity, 0, 3+len(macs)), model.Identity{By: byVMID, Value: id})
	if uuid := value.At("smbios1", "uuid").Str(); uuid != "" {
		all = append(all, model.Identity{By: byUUID, Value: strings.ToLower(uuid)})
	}
	for _, mac := range macs {
		all = append(all, model.Identity{By: byMAC, Value: mac})
	}
	return withName(all, cmp.Or(value.At("name").Str(), value.At("hostname").Str()))
}

// identities returns the identities of a guest that was not read, from the list of guests.
func (g guest) identities() []model.Identity {
	return withName([]model.Identity{{By: byVMID, Value: g.id}}, g.name)
}

func withName(all []model.Identity, name string) []model.Identity {
	if name == "" {
		return all
	}
	return append(all, model.Identity{By: byName, Value: strings.ToLower(name)})
}

// macAddresses returns the MAC addresses of a guest's network devices, both configured and running,
// in upper case and without duplicates.
func macAddresses(value model.Value, running []model.Field) []string {
	var macs []string
	for _, fields := range [][]model.Field{value.Fields(), running} {
		for _, f := range fields {
			if !strings.HasPrefix(f.Name, "net") {
				continue
			}
			mac := strings.ToUpper(cmp.Or(f.Value.At("macaddr").Str(), f.Value.At("hwaddr").Str()))
			if mac != "" && !slices.Contains(macs, mac) {
				macs = append(macs, mac)
			}
		}
	}
	return macs
}
