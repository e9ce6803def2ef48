package netbox

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A nic is a network device of a machine.
type nic struct {
	// path is the field that tells of it, mac its address, "" for none.
	path, mac string
	// words are what the system tells of it; a null value is nothing set.
	words map[string]sight
	// given are the addresses that it was given.
	given []located
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
func (l *lens) plugs(m machine, declared []model.Value) []plug {
	said := make(map[string]model.Value, len(declared))
	for _, item := range declared {
		said[item.At("mac").Str()] = item
	}
	var known, unknown []plug
	seen := map[string]bool{}
	for _, device := range m.nics() {
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

func (l *lens) viewNICs(m machine, declared []model.Value) model.Value {
	var items []model.Value
	for _, p := range l.plugs(m, declared) {
		fields := []model.Field{{Name: "mac", Value: model.StringOf(p.mac)}}
		if name, ok := p.declared.Get("name"); ok {
			fields = append(fields, model.Field{Name: "name", Value: name})
		}
		for _, word := range []string{"bridge", "enabled", "vlan", "tagged_vlans"} {
			if seen := l.told(p, word); !seen.value.IsNull() {
				fields = append(fields, model.Field{Name: word, Value: seen.value})
			}
		}
		items = append(items, model.MapOf(fields...))
	}
	return model.ListOf(items...)
}

// told is what the system tells of a device, or what is declared where it tells
// nothing.
func (l *lens) told(p plug, word string) sight {
	seen, told := p.words[word]
	if !told {
		return sight{value: p.declared.At(word)}
	}
	if word == "vlan" && seen.value.IsEmpty() {
		seen.value = model.Value{}
		if vid := l.bridgeVLANs[p.words["bridge"].value.Str()]; vid > 0 {
			return sight{model.IntOf(vid), p.words["bridge"].path}
		}
	}
	return seen
}

func (l *lens) nicPath(m machine, mac, field string) string {
	for _, p := range l.plugs(m, l.declared.At("interfaces").Items()) {
		switch {
		case p.mac != mac:
		case field == "":
			return p.path
		default:
			return l.told(p, field).path
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

// A located is an address of a machine, with the field that tells it.
type located struct {
	text, path string
	addr       netip.Addr
}

// locate returns the address that a field holds; ok is false where it is none.
func locate(v model.Value, path string) (at located, ok bool) {
	addr, ok := host(v.Str())
	return located{v.Str(), path, addr}, ok
}

// ofFamily returns the addresses of one family.
func ofFamily(all []located, six bool) []located {
	return slices.DeleteFunc(slices.Clone(all), func(at located) bool { return at.addr.Is6() != six })
}

// address tells whether the machine has the primary address, whatever its mask.
// Where it has not, it tells the addresses of the device with the MAC address, or
// of all devices; unless one of them may have it unseen.
func address(m machine, says model.Value, six bool, mac string) sight {
	want, _ := host(says.Str())
	var all, own []located
	open := false
	for _, n := range m.nics() {
		given := ofFamily(n.given, six)
		if i := indexOf(given, want); i >= 0 {
			return sight{says, given[i].path}
		}
		switch mine := mac != "" && n.mac == mac; {
		case len(given) > 0 && mine:
			own = append(own, given...)
		case len(given) > 0:
			all = append(all, given...)
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
	return elsewhere(says, want, ofFamily(m.told(), six), all)
}

func indexOf(all []located, want netip.Addr) int {
	return slices.IndexFunc(all, func(at located) bool { return at.addr == want })
}

// elsewhere is the sight of addresses of which none is the wanted one, unless
// the machine itself tells it; without any it stays untold.
func elsewhere(says model.Value, want netip.Addr, told, given []located) sight {
	// Every system has those.
	told = slices.DeleteFunc(told, func(at located) bool { return at.addr.IsLoopback() || at.addr.IsLinkLocalUnicast() })
	if i := indexOf(told, want); i >= 0 {
		return sight{says, told[i].path}
	}
	if len(given) == 0 {
		given = told
	}
	if len(given) == 0 {
		return sight{value: says}
	}
	all := make([]string, len(given))
	for i, at := range given {
		all[i] = at.text
	}
	slices.Sort(all)
	return sight{model.StringOf(strings.Join(slices.Compact(all), ", ")), given[0].path}
}
