package netbox

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A nic is a network device of a guest.
type nic struct {
	model.Value

	// slot is its field ("net0"), ip the one that tells its addresses.
	slot, ip, mac string
}

// nics returns the guest's network devices in the order of their numbers.
func (g live) nics() []nic {
	var all []nic
	for _, f := range g.Fields() {
		n := numbered(f.Name, "net")
		if n < 0 {
			continue
		}
		mac, _ := parseMAC(f.Value.At(g.mac).Str())
		device := nic{f.Value, f.Name, f.Name, mac}
		if !g.container {
			device.ip = "ipconfig" + strconv.Itoa(n)
		}
		all = append(all, device)
	}
	slices.SortFunc(all, func(a, b nic) int { return cmp.Compare(numbered(a.slot, "net"), numbered(b.slot, "net")) })
	return all
}

// A plug is a device with the interface that it stands for, by MAC address.
type plug struct {
	nic

	// mac is the one that NetBox has for it.
	mac string
	// declared is what NetBox says of it; null where it does not know it.
	declared model.Value
}

// plugs returns the devices that NetBox knows, and those that it does not know
// and that no interface without a MAC address can stand for.
func (l *lens) plugs(g live, declared []model.Value) []plug {
	said := make(map[string]model.Value, len(declared))
	for _, item := range declared {
		said[item.At("mac").Str()] = item
	}
	var known, unknown []plug
	seen := map[string]bool{}
	for _, device := range g.nics() {
		mac := device.mac
		stands, other := l.also[mac]
		if _, ok := said[mac]; !ok && stands != "" {
			mac = stands
		}
		item, ok := said[mac]
		switch {
		case device.mac == "" || seen[mac]:
			continue
		case ok:
			known = append(known, plug{device, mac, item})
		case !other:
			unknown = append(unknown, plug{device, mac, model.Value{}})
		}
		seen[mac] = true
	}
	return append(known, unknown[min(l.nameless, len(unknown)):]...)
}

func (l *lens) viewNICs(g live, declared []model.Value) model.Value {
	var items []model.Value
	for _, p := range l.plugs(g, declared) {
		fields := []model.Field{{Name: "mac", Value: model.StringOf(p.mac)}}
		if name, ok := p.declared.Get("name"); ok {
			fields = append(fields, model.Field{Name: "name", Value: name})
		}
		for _, f := range l.device(p) {
			if !f.Value.IsNull() {
				fields = append(fields, f)
			}
		}
		items = append(items, model.MapOf(fields...))
	}
	return model.ListOf(items...)
}

// device is what there is to say of a device beside its address.
func (l *lens) device(p plug) []model.Field {
	down := p.At("link_down").Text() == "true"
	return []model.Field{
		{Name: "bridge", Value: p.At("bridge")},
		{Name: "enabled", Value: model.BoolOf(!down)},
		{Name: "vlan", Value: l.vlan(p)},
		{Name: "tagged_vlans", Value: trunks(p.At("trunks"))},
	}
}

// vlan is the VLAN whose frames the device gets without a tag.
func (l *lens) vlan(p plug) model.Value {
	if tag := p.At("tag"); !tag.IsEmpty() {
		return tag
	}
	if vid := l.bridgeVLANs[p.At("bridge").Str()]; vid > 0 {
		return model.IntOf(vid)
	}
	return model.Value{}
}

// lastVLAN bounds the ids of VLANs.
const lastVLAN = 4094

// trunks returns the single VLANs of a list that may hold ranges ("10-20"), or
// null for none.
func trunks(v model.Value) model.Value {
	if v.IsNull() {
		return v
	}
	var items []model.Value
	for _, item := range v.Items() {
		from, to, ok := vlanRange(item.Text())
		if !ok {
			items = append(items, item)
			continue
		}
		for vid := from; vid <= to; vid++ {
			items = append(items, model.IntOf(int64(vid)))
		}
	}
	return model.ListOf(items...)
}

func vlanRange(text string) (from, to int, ok bool) {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		return 0, 0, false
	}
	from, err := strconv.Atoi(first)
	if err != nil {
		return 0, 0, false
	}
	to, err = strconv.Atoi(last)
	return from, to, err == nil && from >= 0 && from <= to && to <= lastVLAN
}

func (l *lens) nicPath(g live, mac, field string) string {
	for _, p := range l.plugs(g, l.declared.At("interfaces").Items()) {
		if p.mac != mac {
			continue
		}
		switch names := map[string]string{"": "", "mac": "." + g.mac, "bridge": ".bridge", "enabled": ".link_down",
			"vlan": ".tag", "tagged_vlans": ".trunks"}; {
		case field == "vlan" && p.At("tag").IsNull() && l.bridgeVLANs[p.At("bridge").Str()] > 0:
			return p.slot + ".bridge"
		default:
			if suffix, ok := names[field]; ok {
				return p.slot + suffix
			}
		}
	}
	return ""
}

// host returns the address of a text such as 10.0.0.5/24.
func host(text string) (netip.Addr, bool) {
	text, _, _ = strings.Cut(text, "/")
	addr, err := netip.ParseAddr(text)
	return addr.Unmap().WithZone(""), err == nil
}

// A located is an address of a guest, with the field that tells it.
type located struct {
	text, path string
	addr       netip.Addr
}

// static returns the address of one family that a device was given; "dhcp" and
// the like are none.
func (g live) static(n nic, six bool) (located, bool) {
	field := "ip"
	if six {
		field = "ip6"
	}
	text := g.At(n.ip, field).Str()
	addr, ok := host(text)
	return located{text, n.ip + "." + field, addr}, ok && addr.Is6() == six
}

// told returns the addresses of one family that the guest itself tells, without
// those that every system has.
func (g live) told(six bool) []located {
	var all []located
	for _, item := range g.At("agent_addresses").Items() {
		addr, ok := host(item.Str())
		if ok && addr.Is6() == six && !addr.IsLoopback() && !addr.IsLinkLocalUnicast() {
			all = append(all, located{item.Str(), "agent_addresses", addr})
		}
	}
	return all
}

// address tells whether the guest has the primary address, whatever its mask.
// Where it has not, it tells the addresses of the device with the MAC address, or
// of all devices; unless one of them may have it unseen.
func (g live) address(untold sight, six bool, mac string) sight {
	want, _ := host(untold.value.Str())
	var all, own []located
	open := false
	for _, n := range g.nics() {
		p, ok := g.static(n, six)
		if ok && p.addr == want {
			return sight{untold.value, p.path}
		}
		switch mine := mac != "" && n.mac == mac; {
		case ok && mine:
			own = append(own, p)
		case ok:
			all = append(all, p)
		default:
			open = true
		}
	}
	switch {
	case len(own) > 0:
		all = own
	case open:
		// The others cannot tell of this one.
		all = nil
	}
	return g.elsewhere(untold, want, six, all)
}

// elsewhere is the sight of addresses of which none is the wanted one, unless
// the guest itself tells it; without any it stays untold.
func (g live) elsewhere(untold sight, want netip.Addr, six bool, given []located) sight {
	told := g.told(six)
	if i := slices.IndexFunc(told, func(p located) bool { return p.addr == want }); i >= 0 {
		return sight{untold.value, told[i].path}
	}
	if len(given) == 0 {
		given = told
	}
	if len(given) == 0 {
		return untold
	}
	all := make([]string, len(given))
	for i, p := range given {
		all[i] = p.text
	}
	slices.Sort(all)
	return sight{model.StringOf(strings.Join(slices.Compact(all), ", ")), given[0].path}
}
