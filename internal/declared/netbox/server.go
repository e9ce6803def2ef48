package netbox

import (
	"math/big"
	"strconv"

	"github.com/driftd/driftd/internal/model"
)

// A server is a server as the OpenStack collector reads it. Fields such as flavor_ram contain
// the values of its flavor; LivePath is then the field flavor, which determines them.
type server struct{ model.Value }

func readServer(v model.Value) machine { return server{v} }

// statuses maps the states of a server that show whether it runs to statuses of NetBox.
func statuses() map[string]string {
	return map[string]string{"active": active, "stopped": offline, "paused": offline, "suspended": offline,
		"shelved": offline, "shelved_offloaded": offline}
}

func (s server) observe(name string, declared model.Value) observation {
	observed := observation{value: declared}
	switch name {
	case "name":
		observed = observation{s.At("name"), "name"}
	case "status":
		if status := statuses()[s.At("vm_state").Str()]; status != "" {
			observed = observation{model.StringOf(status), "vm_state"}
		}
	case "vcpus", "memory":
		if n := s.At(map[string]string{"vcpus": "flavor_vcpus", "memory": "flavor_ram"}[name]); n.Kind() == model.Number {
			observed = observation{n, "flavor"}
		}
	}
	return observed
}

func (s server) liveValue(name, _ string, v model.Value) (value model.Value, known bool) {
	switch name {
	case "name", "primary_ip4", "primary_ip6", "tags":
		return v, true
	case "status":
		return map[string]model.Value{active: model.StringOf("active"), offline: model.StringOf("stopped")}[v.Str()], true
	}
	return model.Value{}, false
}

// drives returns the disk of the flavor, if the server boots from an image, and the volumes. A
// flavor without a disk size uses that of the image, which is not known. The server has only
// the IDs of its volumes.
func (s server) drives() []drive {
	var all []drive
	if s.At("image").Str() != "" {
		root := drive{slot: "root", path: "flavor", sizePath: "flavor"}
		if gib := ratOf(s.At("flavor_disk")); gib != nil && gib.Sign() > 0 {
			root.size = gib.Mul(gib, big.NewRat(1<<30, 1))
		}
		all = append(all, root)
	}
	for _, id := range s.At("volumes").Items() {
		all = append(all, drive{slot: id.Str(), path: "volumes"})
	}
	return all
}

// isVolume reports whether name is the name of a volume, which is its ID.
func isVolume(name string) bool {
	_, ok := parseUUID(name)
	return ok
}

func (s server) nics() []nic {
	var all []nic
	for i, item := range s.At("interfaces").Items() {
		path := "interfaces[" + strconv.Itoa(i) + "]"
		n := nic{path: path, fields: map[string]observation{"mac": {item.At("mac"), path + ".mac"}}}
		n.mac, _ = parseMAC(item.At("mac").Str())
		for k, fixed := range item.At("fixed_ips").Items() {
			if at, ok := liveAddressAt(fixed.At("ip_address"), path+".fixed_ips["+strconv.Itoa(k)+"].ip_address"); ok {
				n.addresses = append(n.addresses, at)
			}
		}
		all = append(all, n)
	}
	return all
}

// otherAddresses returns the access addresses that a user set for the server.
func (s server) otherAddresses() []liveAddress {
	var all []liveAddress
	for _, field := range []string{"access_ipv4", "access_ipv6"} {
		if at, ok := liveAddressAt(s.At(field), field); ok {
			all = append(all, at)
		}
	}
	return all
}
