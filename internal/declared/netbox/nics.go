package netbox

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A nic is a network device of a machine.
type nic struct {
	// path is the path of the device's field. mac is its MAC address, or "".
	path, mac string
	// fields are the observed fields of the device, by their names in a claim. A null value
	// means that the field is not set.
	fields map[string]observation
	// addresses are the IP addresses that are configured for the device.
	addresses []liveAddress
}

// A nicPair is a network device with its interface in NetBox.
type nicPair struct {
	nic

	// mac is the MAC address of the interface.
	mac string
	// declared is the claimed element; null if NetBox does not have the device.
	declared model.Value
}

// pairNICs returns the devices of m that NetBox has, and then those that it does not have. It
// leaves out one unknown device for each interface without a MAC address, as that may be it.
func (l *lens) pairNICs(m machine, declared []model.Value) []nicPair {
	declaredByMAC := make(map[string]model.Value, len(declared))
	for _, item := range declared {
		declaredByMAC[item.At("mac").Str()] = item
	}
	var known, unknown []nicPair
	seen := map[string]bool{}
	for _, device := range m.nics() {
		mac := device.mac
		port, other := l.otherMACs[mac]
		if _, ok := declaredByMAC[mac]; !ok && port != "" {
			mac = port
		}
		item, ok := declaredByMAC[mac]
		switch {
		case device.mac == "" || seen[mac]:
			continue
		case ok:
			known = append(known, nicPair{device, mac, item})
		case !other:
			unknown = append(unknown, nicPair{device, mac, model.Value{}})
		}
		seen[mac] = true
	}
	return append(known, unknown[min(l.withoutMAC, len(unknown)):]...)
}

func (l *lens) viewNICs(m machine, declared []model.Value) model.Value {
	var items []model.Value
	for _, p := range l.pairNICs(m, declared) {
		fields := []model.Field{{Name: "mac", Value: model.StringOf(p.mac)}}
		if name, ok := p.declared.Get("name"); ok {
			fields = append(fields, model.Field{Name: "name", Value: name})
		}
		for _, name := range []string{"bridge", "enabled", "vlan", "tagged_vlans"} {
			if seen := l.observeNIC(p, name); !seen.value.IsNull() {
				fields = append(fields, model.Field{Name: name, Value: seen.value})
			}
		}
		items = append(items, model.MapOf(fields...))
	}
	return model.ListOf(items...)
}

// observeNIC returns the field name of the device p. If the system does not report the field,
// it returns the declared value without a path.
func (l *lens) observeNIC(p nicPair, name string) observation {
	seen, known := p.fields[name]
	if !known {
		return observation{value: p.declared.At(name)}
	}
	if name == "vlan" && seen.value.IsEmpty() {
		seen.value = model.Value{}
		if vid := l.bridgeVLANs[p.fields["bridge"].value.Str()]; vid > 0 {
			return observation{model.IntOf(vid), p.fields["bridge"].path}
		}
	}
	return seen
}

func (l *lens) nicPath(m machine, mac, field string) string {
	for _, p := range l.pairNICs(m, l.declared.At("interfaces").Items()) {
		switch {
		case p.mac != mac:
		case field == "":
			return p.path
		default:
			return l.observeNIC(p, field).path
		}
	}
	return ""
}

// host returns the address in text, which may have a prefix length ("10.0.0.5/24").
func host(text string) (netip.Addr, bool) {
	text, _, _ = strings.Cut(text, "/")
	addr, err := netip.ParseAddr(text)
	return addr.Unmap().WithZone(""), err == nil
}

// A liveAddress is an IP address of a machine with the path of its field.
type liveAddress struct {
	text, path string
	addr       netip.Addr
}

// liveAddressAt returns the address in v, the value of the field at path. ok is false if v is
// not an address.
func liveAddressAt(v model.Value, path string) (at liveAddress, ok bool) {
	addr, ok := host(v.Str())
	return liveAddress{v.Str(), path, addr}, ok
}

// ofFamily returns the IPv6 addresses of all, or the IPv4 addresses.
func ofFamily(all []liveAddress, ipv6 bool) []liveAddress {
	return slices.DeleteFunc(slices.Clone(all), func(at liveAddress) bool { return at.addr.Is6() != ipv6 })
}

// observeAddress returns the declared primary address if the machine has it. Prefix lengths
// are not compared. Otherwise, it returns the addresses of the device with the MAC address
// mac, or those of all devices. If the address of a device is not known, any device may have
// the declared address.
func observeAddress(m machine, declared model.Value, ipv6 bool, mac string) observation {
	want, _ := host(declared.Str())
	var all, own []liveAddress
	unread := false
	for _, n := range m.nics() {
		addresses := ofFamily(n.addresses, ipv6)
		if i := indexOf(addresses, want); i >= 0 {
			return observation{declared, addresses[i].path}
		}
		switch mine := mac != "" && n.mac == mac; {
		case len(addresses) > 0 && mine:
			own = append(own, addresses...)
		case len(addresses) > 0:
			all = append(all, addresses...)
		default:
			unread = true
		}
	}
	switch {
	case len(own) > 0:
		all = own
	case unread:
		// Another device with unknown addresses may have it.
		all = nil
	}
	return observeOther(declared, want, ofFamily(m.otherAddresses(), ipv6), all)
}

func indexOf(all []liveAddress, want netip.Addr) int {
	return slices.IndexFunc(all, func(at liveAddress) bool { return at.addr == want })
}

// observeOther returns the declared address if others, the addresses on no known device,
// contain want. Otherwise, it returns the configured addresses, or others. Without any
// address, it returns the declared address without a path.
func observeOther(declared model.Value, want netip.Addr, others, addresses []liveAddress) observation {
	// Every system has loopback and link-local addresses.
	others = slices.DeleteFunc(others, func(at liveAddress) bool { return at.addr.IsLoopback() || at.addr.IsLinkLocalUnicast() })
	if i := indexOf(others, want); i >= 0 {
		return observation{declared, others[i].path}
	}
	if len(addresses) == 0 {
		addresses = others
	}
	if len(addresses) == 0 {
		return observation{value: declared}
	}
	all := make([]string, len(addresses))
	for i, at := range addresses {
		all[i] = at.text
	}
	slices.Sort(all)
	return observation{model.StringOf(strings.Join(slices.Compact(all), ", ")), addresses[0].path}
}
