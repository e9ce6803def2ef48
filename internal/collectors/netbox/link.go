package netbox

import (
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// pages are the paths of the lists whose objects have a page in all supported versions. They
// are the same on the pages and in the API.
const pages = ` circuits/circuits circuits/providers
 dcim/devices dcim/device-roles dcim/device-types dcim/interfaces dcim/locations dcim/manufacturers dcim/platforms
 dcim/racks dcim/regions dcim/sites
 ipam/aggregates ipam/ip-addresses ipam/ip-ranges ipam/prefixes ipam/roles ipam/services ipam/vlans ipam/vlan-groups ipam/vrfs
 tenancy/contacts tenancy/tenants tenancy/tenant-groups
 virtualization/clusters virtualization/cluster-groups virtualization/cluster-types virtualization/interfaces
 virtualization/virtual-machines `

// Link implements collectors.Linker. It returns the address of the object's page, or "" if its kind
// has no pages.
func (c *inventory) Link(r model.Ref) string {
	for _, k := range c.kinds {
		if k.Name != r.Kind || !hasPage(k.Path) {
			continue
		}
		if id, err := strconv.ParseUint(r.ID, 10, 63); err == nil {
			return c.config.URL + "/" + k.Path + "/" + strconv.FormatUint(id, 10) + "/"
		}
	}
	return ""
}

func hasPage(path string) bool {
	for listed := range strings.FieldsSeq(pages) {
		if listed == path {
			return true
		}
	}
	return false
}
