package netbox

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A port is an interface in NetBox that corresponds to a network device of the live machine.
// Its name, which is unique in the machine, identifies it, and its MAC address the device.
type port struct {
	r         *model.Resource
	name, mac string
}

// ports are the interfaces of one virtual machine.
type ports struct {
	// keyed are the interfaces that correspond to a device, sorted by MAC address.
	keyed []port
	// otherMACs maps the other MAC addresses in NetBox to the MAC address of the port whose
	// device may have them instead, or to "".
	otherMACs map[string]string
	// withoutMAC counts the interfaces whose MAC address is not in NetBox. hidden counts those
	// whose MAC address could not be read.
	withoutMAC, hidden int
	// macs are all MAC addresses. They are identities of the machine.
	macs []string
	// byInterface maps IDs of interfaces to their first MAC address.
	byInterface map[string]string
}

func (c *builder) newPorts(interfaces []*model.Resource) ports {
	p := ports{otherMACs: map[string]string{}, byInterface: map[string]string{}}
	inside := insideGuest(interfaces)
	// Interfaces that the guest creates often have the MAC address of a device. They come
	// last.
	ordered := slices.Clone(interfaces)
	slices.SortStableFunc(ordered, func(a, b *model.Resource) int { return cmp.Compare(boolToInt(inside[a.ID]), boolToInt(inside[b.ID])) })
	for _, r := range ordered {
		p.add(c.ix, r, inside[r.ID])
	}
	slices.SortFunc(p.keyed, func(a, b port) int { return cmp.Compare(a.mac, b.mac) })
	return p
}

func boolToInt(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// insideGuest returns the IDs of the interfaces that exist only inside the guest: those with a
// parent, and bridges with members.
func insideGuest(interfaces []*model.Resource) map[string]bool {
	inside := map[string]bool{}
	for _, r := range interfaces {
		if idOf(r.Value.At("parent")) != "" {
			inside[r.ID] = true
		}
		if bridge := idOf(r.Value.At("bridge")); bridge != "" {
			inside[bridge] = true
		}
	}
	return inside
}

func (p *ports) add(ix *index, r *model.Resource, inside bool) {
	primary, others, hidden := macsOf(ix, r)
	all := others
	if primary != "" {
		all = append([]string{primary}, others...)
	}
	for _, mac := range all {
		if !slices.Contains(p.macs, mac) {
			p.macs = append(p.macs, mac)
		}
	}
	if len(all) > 0 {
		p.byInterface[r.ID] = all[0]
	}
	taken := len(all) > 0 && slices.ContainsFunc(p.keyed, func(k port) bool { return k.mac == all[0] })
	switch {
	case inside || taken:
		p.addOther(all, "")
	case len(all) == 0:
		p.withoutMAC++
		p.hidden += boolToInt(hidden)
	default:
		p.keyed = append(p.keyed, port{r, p.nameFor(r), all[0]})
		port := ""
		if primary == "" {
			// No MAC address is the primary one: the device may have any of them.
			port = all[0]
		}
		p.addOther(all[1:], port)
		p.withoutMAC += boolToInt(hidden)
	}
}

// nameFor returns the name of the interface r, or another one if r has none or a port has it.
func (p *ports) nameFor(r *model.Resource) string {
	name := cmp.Or(nameOf(r), "interface "+r.ID)
	if slices.ContainsFunc(p.keyed, func(k port) bool { return k.name == name }) {
		name += " (" + r.ID + ")"
	}
	return name
}

// addOther adds MAC addresses that are not in otherMACs yet. port is the value for them.
func (p *ports) addOther(macs []string, port string) {
	for _, mac := range macs {
		if _, known := p.otherMACs[mac]; !known {
			p.otherMACs[mac] = port
		}
	}
}

// macsOf returns the primary MAC address of the interface r, or "", and its other MAC
// addresses by ID. hidden reports whether one of them could not be read.
func macsOf(ix *index, r *model.Resource) (primary string, others []string, hidden bool) {
	primary, _ = parseMAC(r.Value.At("mac_address").Str())
	for _, ref := range r.Value.At("mac_addresses").Items() {
		object := ix.find(kindMAC, ref)
		if object == nil {
			hidden = hidden || idOf(ref) != idOf(r.Value.At("primary_mac_address"))
			continue
		}
		if mac, ok := parseMAC(object.Value.At("mac_address").Str()); ok && mac != primary && !slices.Contains(others, mac) {
			others = append(others, mac)
		}
	}
	return primary, others, hidden
}

// parseMAC returns the MAC address s in upper case with colons, as Proxmox and NetBox write
// it. s may have other separators, or none. ok is false if s is not a MAC address or is all
// zeros.
func parseMAC(s string) (mac string, ok bool) {
	const length = len("00:00:00:00:00:00")
	out := make([]byte, 0, length)
	for i := range len(s) {
		if strings.IndexByte(":-. ", s[i]) >= 0 {
			continue
		}
		c, hex := upperHex(s[i])
		if len(out)%3 == 2 {
			out = append(out, ':')
		}
		if out = append(out, c); !hex || len(out) > length {
			return "", false
		}
	}
	mac = string(out)
	if len(mac) != length || strings.Trim(mac, "0:") == "" {
		return "", false
	}
	return mac, true
}

func upperHex(c byte) (digit byte, ok bool) {
	switch {
	case '0' <= c && c <= '9', 'A' <= c && c <= 'F':
		return c, true
	case 'a' <= c && c <= 'f':
		return c - ('a' - 'A'), true
	}
	return c, false
}
