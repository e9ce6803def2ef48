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
	// names are the system's names for the device; a guest may have given it one of them.
	names []string
	// fields are the observed fields of the device, by their names in a claim. A null value
	// means that the field is not set.
	fields map[string]observation
	// addresses are the IP addresses that are configured for the device.
	addresses []liveAddress
}

// A nicPair is a network device with its interface in NetBox.
type nicPair struct {
	nic

	// name is the name of the interface; that of the device if NetBox does not have it.
	name string
	// mac is the MAC address that NetBox has for the device, or that of the device if it cannot have that one.
	mac string
	// declared is the claimed element; null if NetBox does not have the device.
	declared model.Value
}

// pairNICs returns the devices of m that NetBox has, and then those that it does not have. It
// pairs them by MAC address, and then as pairReplaced does. It leaves out one unknown device for
// each interface without a MAC address, as that may be it. NetBox has only the first device of those
// with one address.
func (l *lens) pairNICs(m machine, declared []model.Value) []nicPair {
	declaredByMAC := make(map[string]model.Value, len(declared))
	for _, item := range declared {
		declaredByMAC[item.At("mac").Str()] = item
	}
	var known []nicPair
	var rest, repeated []nic
	seen, first := map[string]bool{}, map[string]bool{}
	for _, device := range m.nics() {
		if first[device.mac] {
			repeated = append(repeated, device)
			continue
		}
		mac := device.mac
		first[mac] = mac != ""
		if _, ok := declaredByMAC[mac]; !ok && l.otherMACs[mac] != "" {
			mac = l.otherMACs[mac]
		}
		item, ok := declaredByMAC[mac]
		switch {
		case device.mac == "" || seen[mac]:
			continue
		case ok:
			known = append(known, nicPair{device, item.At("name").Str(), mac, item})
		default:
			rest = append(rest, device)
		}
		seen[mac] = true
	}
	missing := slices.DeleteFunc(slices.Clone(declared), func(item model.Value) bool { return seen[item.At("mac").Str()] })
	replaced, rest := l.pairReplaced(missing, rest)
	rest = slices.DeleteFunc(slices.Clone(rest), func(d nic) bool {
		_, elsewhere := l.otherMACs[d.mac]
		return elsewhere
	})
	rest = rest[min(l.withoutMAC, len(rest)):]
	return slices.Concat(known, replaced, unknownNICs(declared, slices.Concat(rest, repeated)))
}

// pairReplaced pairs interfaces whose MAC address no device has with devices whose MAC address is
// that of no interface: by name, and then the only one that is left with the only one that is left.
// It returns the other devices, too.
func (l *lens) pairReplaced(missing []model.Value, devices []nic) (pairs []nicPair, rest []nic) {
	rest = devices
	pair := func(item model.Value, at int) {
		pairs = append(pairs, nicPair{rest[at], item.At("name").Str(), rest[at].mac, item})
		rest = slices.Delete(slices.Clone(rest), at, at+1)
	}
	var left []model.Value
	for _, item := range missing {
		at := slices.IndexFunc(rest, func(d nic) bool { return slices.Contains(d.names, item.At("name").Str()) })
		if at < 0 {
			left = append(left, item)
			continue
		}
		pair(item, at)
	}
	// An interface without a MAC address may be that of the device.
	if len(left) == 1 && len(rest) == 1 && l.withoutMAC == 0 {
		pair(left[0], 0)
	}
	return pairs, rest
}

// unknownNICs names devices that NetBox does not have, unlike its interfaces.
func unknownNICs(declared []model.Value, devices []nic) []nicPair {
	taken := map[string]bool{}
	for _, item := range declared {
		taken[item.At("name").Str()] = true
	}
	var unknown []nicPair
	for _, device := range devices {
		name := slices.Concat(device.names, []string{device.mac})[0]
		if taken[name] {
			name += " (" + device.mac + ")"
		}
		unknown = append(unknown, nicPair{device, name, device.mac, model.Value{}})
	}
	return unknown
}

func (l *lens) viewNICs(m machine, declared []model.Value) model.Value {
	var items []model.Value
	for _, p := range l.pairNICs(m, declared) {
		fields := []model.Field{{Name: "name", Value: model.StringOf(p.name)}, {Name: "mac", Value: model.StringOf(p.mac)}}
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

func (l *lens) nicPath(m machine, name, field string) string {
	for _, p := range l.pairNICs(m, l.declared.At("interfaces").Items()) {
		switch {
		case p.name != name:
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
