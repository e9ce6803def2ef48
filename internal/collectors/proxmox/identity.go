package proxmox

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// What a guest is known by beside its kind and id.
const (
	byVMID = "vmid"
	byUUID = "uuid"
	byMAC  = "mac"
	byName = "name"
)

// identities are what a guest that was read is known by: its number, the UUID
// that its firmware shows, the MAC addresses of its network devices, and its
// name in lower case.
func identities(id string, value model.Value, macs []string) []model.Identity {
	known := append(make([]model.Identity, 0, 3+len(macs)), model.Identity{By: byVMID, Value: id})
	if uuid := value.At("smbios1", "uuid").Str(); uuid != "" {
		known = append(known, model.Identity{By: byUUID, Value: strings.ToLower(uuid)})
	}
	for _, mac := range macs {
		known = append(known, model.Identity{By: byMAC, Value: mac})
	}
	return withName(known, cmp.Or(value.At("name").Str(), value.At("hostname").Str()))
}

// identities are what the list of guests tells of one that was not read.
func (g guest) identities() []model.Identity {
	return withName([]model.Identity{{By: byVMID, Value: g.id}}, g.name)
}

func withName(known []model.Identity, name string) []model.Identity {
	if name == "" {
		return known
	}
	return append(known, model.Identity{By: byName, Value: strings.ToLower(name)})
}

// cards returns the MAC addresses of a guest's network devices, each once, in
// upper case. A device that waits for a restart counts as it will be and as it
// is.
func cards(value model.Value, running []model.Field) []string {
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
