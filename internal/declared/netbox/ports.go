package netbox

import (
	"cmp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A port is an interface of a virtual machine that stands for a device of the
// guest, which its MAC address names.
type port struct {
	r   *model.Resource
	mac string
}

// ports are the interfaces of one virtual machine.
type ports struct {
	// keyed are those that stand for a device, sorted by MAC address.
	keyed []port
	// also are the other MAC addresses that NetBox knows there, with the port
	// that one stands for as well, or "".
	also map[string]string
	// nameless counts interfaces whose MAC address NetBox does not tell, and
	// hidden those whose could not be read.
	nameless, hidden int
	// macs are all MAC addresses, for finding the guest.
	macs []string
	// byInterface are the MAC addresses of the ports by the interfaces' ids.
	byInterface map[string]string
}

func (c *composer) newPorts(interfaces []*model.Resource) ports {
	p := ports{also: map[string]string{}, byInterface: map[string]string{}}
	inside := insideGuest(interfaces)
	// What the guest makes for itself often has the address of a device.
	ordered := slices.Clone(interfaces)
	slices.SortStableFunc(ordered, func(a, b *model.Resource) int { return cmp.Compare(one(inside[a.ID]), one(inside[b.ID])) })
	for _, r := range ordered {
		p.add(c.ix, r, inside[r.ID])
	}
	slices.SortFunc(p.keyed, func(a, b port) int { return cmp.Compare(a.mac, b.mac) })
	return p
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// insideGuest returns the interfaces that the guest makes for itself: those on
// top of another one, and bridges that others belong to.
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
		p.know(all, "")
	case len(all) == 0:
		p.nameless++
		p.hidden += one(hidden)
	default:
		p.keyed = append(p.keyed, port{r, all[0]})
		stands := ""
		if primary == "" {
			// None of several is said to be the device's: any will do.
			stands = all[0]
		}
		p.know(all[1:], stands)
		p.nameless += one(hidden)
	}
}

// know notes MAC addresses that are nobody else's.
func (p *ports) know(macs []string, stands string) {
	for _, mac := range macs {
		if _, known := p.also[mac]; !known {
			p.also[mac] = stands
		}
	}
}

// macsOf returns an interface's primary MAC address, "" for none, and its
// others, in the order of their ids; hidden tells that one could not be read.
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

// parseMAC returns a MAC address in upper case with colons, as Proxmox and
// NetBox write it, whatever stands between its digits; "" where it is none.
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
