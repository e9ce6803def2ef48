package remedy

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
)

// netboxPath returns the path of the list of a kind in NetBox's API; "" if it is not known.
func netboxPath(kind string) string {
	switch strings.TrimPrefix(kind, "netbox/") {
	case "virtualization.virtualmachine":
		return "virtualization/virtual-machines"
	case "virtualization.vminterface":
		return "virtualization/interfaces"
	case "virtualization.virtualdisk":
		return "virtualization/virtual-disks"
	case "virtualization.cluster":
		return "virtualization/clusters"
	case "ipam.ipaddress":
		return "ipam/ip-addresses"
	case "ipam.prefix":
		return "ipam/prefixes"
	case "ipam.vlan":
		return "ipam/vlans"
	case "ipam.vrf":
		return "ipam/vrfs"
	case "dcim.device":
		return "dcim/devices"
	case "dcim.interface":
		return "dcim/interfaces"
	case "dcim.site":
		return "dcim/sites"
	}
	return ""
}

// netboxFields are the fields that are no references to other objects, so that they are written as
// they are read.
const netboxFields = " name status serial asset_tag vcpus memory disk size description comments dns_name address prefix vid rd " +
	"enforce_unique is_pool mark_utilized enabled mtu label speed duplex mgmt_only mark_connected facility time_zone physical_address "

// netbox returns the step that puts an object of NetBox back.
func (c *issue) netbox() Step {
	list := netboxPath(c.Kind)
	if list == "" || !isNumber(c.Key.ID) {
		return words("Put it back by hand", "driftd has no commands for this kind: set the declared value of each field in NetBox.")
	}
	s := Step{Title: "Patch the object in NetBox"}
	var fields []model.Field
	for i := range c.Changes {
		change := &c.Changes[i]
		if why := c.netboxField(change); why != "" {
			s.note("Not in the request: %s, because %s.", change.Path, why)
			continue
		}
		fields = append(fields, model.Field{Name: path(change), Value: *change.Declared})
	}
	if len(fields) == 0 {
		s.Title = "Put it back by hand"
		return s
	}
	s.netboxRequest(list+"/"+c.Key.ID, fields)
	return s
}

// netboxRequest adds the requests that show an object of NetBox, and set fields of it.
func (s *Step) netboxRequest(object string, fields []model.Field) {
	body := jsonpatch.JSON(model.MapOf(fields...))
	// The variables of the shell stand in double quotes, which quote does not write.
	s.add("sh", `curl --fail-with-body --header "Authorization: $NETBOX_AUTHORIZATION" "$NETBOX_URL/api/`+object+`/"`)
	s.add("sh", `curl --fail-with-body --request PATCH --header "Authorization: $NETBOX_AUTHORIZATION" --header 'Content-Type: application/json' --data '`+body+`' "$NETBOX_URL/api/`+object+`/"`)
	s.note("Set NETBOX_URL, and NETBOX_AUTHORIZATION to \"Bearer nbt_…\" or, for older tokens, \"Token …\". The first command shows the object: look whether it still has the live values of this finding. NetBox 4.6 returns an ETag, which --header 'If-Match: …' makes the second command test.")
}

// netboxField returns why a field is not suggested; "" if it is.
func (c *issue) netboxField(change *model.Change) string {
	switch field := path(change); {
	case change.Secret:
		return "it is a secret: apply " + c.place() + " instead"
	case !strings.Contains(netboxFields, " "+field+" "):
		return "it refers to another object, or has several parts"
	case change.Declared == nil || change.Live == nil:
		return "one of its values is not known"
	case len(change.Declared.Items())+len(change.Declared.Fields()) > 0 || !jsonpatch.IsExact(change.Declared):
		return "it has several parts"
	}
	return c.form(change)
}

// isGuest reports whether the resource is a guest of Proxmox VE whose live value is known.
func (c *issue) isGuest() bool {
	return (c.Kind == "proxmox/qemu" || c.Kind == "proxmox/lxc") && c.Live != nil
}

// recordGuest returns the step that makes a virtual machine in NetBox for a guest that it does not have, with all that is
// known of it.
func (c *issue) recordGuest() Step {
	s := Step{Title: "Add the guest to NetBox"}
	name := cmp.Or(c.Live.At("name").Str(), c.Live.At("hostname").Str(), c.Name)
	fields := []model.Field{{Name: "name", Value: model.StringOf(name)}, {Name: "cluster", Value: model.MapOf(model.Field{Name: "name", Value: model.StringOf(blank)})}}
	if memory := c.Live.At("memory"); memory.Kind() == model.Number && jsonpatch.IsExact(&memory) {
		fields = append(fields, model.Field{Name: "memory", Value: memory})
	}
	if cores, ok := coresOf(c.Live); ok {
		fields = append(fields, model.Field{Name: "vcpus", Value: model.IntOf(cores)})
	}
	body := jsonpatch.JSON(model.MapOf(fields...))
	s.add("sh", `curl --fail-with-body --request POST --header "Authorization: $NETBOX_AUTHORIZATION" --header 'Content-Type: application/json' --data '`+body+`' "$NETBOX_URL/api/virtualization/virtual-machines/"`)
	s.note("Replace %s by the name of the cluster in NetBox. Set NETBOX_URL, and NETBOX_AUTHORIZATION to \"Bearer nbt_…\" or, for older tokens, \"Token …\".", blank)
	s.note("The guest has the number %s, and is on the node %s: set the device, and the custom field for the number if you use one.", c.Key.ID, c.Place)
	for _, f := range c.Live.Fields() {
		if mac := f.Value.At("macaddr").Str() + f.Value.At("hwaddr").Str(); mac != "" && strings.HasPrefix(f.Name, "net") {
			s.note("Interface %s: MAC address %s, bridge %s.", f.Name, mac, f.Value.At("bridge").Str())
		}
	}
	return s
}

// coresOf returns the processors of a guest; ok is false if it does not have them as small numbers.
func coresOf(live *model.Value) (n int64, ok bool) {
	n = 1
	for _, name := range []string{"cores", "sockets"} {
		v := live.At(name)
		if v.IsNull() {
			continue
		}
		count, err := strconv.ParseInt(v.Text(), 10, 16)
		if err != nil || count < 1 {
			return 0, false
		}
		n, ok = n*count, true
	}
	return n, ok
}
