package netbox

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A pveGuest is a guest as the Proxmox collector reads it.
type pveGuest struct {
	model.Value

	container bool
	// nameField is the field with its name. macField is the field of a network device with the
	// MAC address.
	nameField, macField string
}

func readGuest(v model.Value) machine { return guestIn(v) }

func guestIn(v model.Value) pveGuest {
	for _, field := range []string{"rootfs", "hostname", "unprivileged", "swap"} {
		if _, ok := v.Get(field); ok {
			return pveGuest{v, true, "hostname", "hwaddr"}
		}
	}
	return pveGuest{v, false, "name", "macaddr"}
}

func (g pveGuest) observe(name string, declared model.Value) observation {
	fallback := observation{value: declared}
	switch name {
	case "name":
		return observation{g.At(g.nameField), g.nameField}
	case "status":
		return g.status(fallback)
	case "device":
		return g.node(fallback)
	case "vcpus":
		return g.vcpus(fallback)
	case "memory":
		return g.memory(fallback)
	}
	return fallback
}

// status returns whether the guest runs, as a status of NetBox. A template never runs.
func (g pveGuest) status(fallback observation) observation {
	statuses := map[string]string{"running": active, "stopped": offline}
	status := statuses[g.At("status").Str()]
	if status == "" || g.At("template").Text() == "true" {
		return fallback
	}
	return observation{model.StringOf(status), "status"}
}

// node returns the node of the guest. NetBox may have the node's full domain name.
func (g pveGuest) node(fallback observation) observation {
	node := g.At("node")
	if node.Str() == "" {
		return fallback
	}
	if strings.EqualFold(shortName(fallback.value.Str()), shortName(node.Str())) {
		return observation{fallback.value, "node"}
	}
	return observation{node, "node"}
}

// shortName returns the name of a host without its domain.
func shortName(host string) string {
	name, _, _ := strings.Cut(host, ".")
	return name
}

// vcpus returns the number of processors: the plugged ones, or cores × sockets. A fraction is
// compared with the limit. A container without cores has all cores of the host, up to its
// limit.
func (g pveGuest) vcpus(fallback observation) observation {
	cores, limit := g.At("cores"), g.At("cpulimit")
	whole := !strings.Contains(fallback.value.Text(), ".")
	switch {
	case isAmount(limit) && (!whole || g.container && !isAmount(cores)):
		return observation{limit, "cpulimit"}
	case !whole, g.container && !isAmount(cores):
		return fallback
	case g.container:
		return observation{cores, "cores"}
	case isAmount(g.At("vcpus")):
		return observation{g.At("vcpus"), "vcpus"}
	}
	return observation{model.IntOf(orOne(cores) * g.sockets()), "cores"}
}

// sockets returns the number of processor sockets.
func (g pveGuest) sockets() int64 {
	sockets := g.At("sockets")
	if sockets.IsNull() {
		sockets = g.At("smp")
	}
	return orOne(sockets)
}

// orOne returns the number in v, or 1 if it is not a positive 31-bit number.
func orOne(v model.Value) int64 {
	n, err := strconv.ParseInt(v.Text(), 10, 31)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// memory returns the guest's memory in MiB. Proxmox's default is 512.
func (g pveGuest) memory(fallback observation) observation {
	held, path := g.At("memory"), "memory"
	if current, ok := held.Get("current"); ok {
		held, path = current, "memory.current"
	}
	switch held.Kind() {
	case model.Number:
		return observation{held, path}
	case model.Null:
		return observation{model.IntOf(512), path}
	}
	return fallback
}

func (g pveGuest) liveValue(name, field string, v model.Value) (value model.Value, known bool) {
	switch name {
	case "vcpus":
		return g.liveVCPUs(v)
	case "name", "memory", "primary_ip4", "primary_ip6", "tags":
		return v, true
	case "device":
		return model.StringOf(shortName(v.Str())), true
	case "status":
		return map[string]model.Value{active: model.StringOf("running"), offline: model.StringOf("stopped")}[v.Str()], true
	case "disk":
		return bytesOf(v)
	case "disks":
		if field == "size" {
			return bytesOf(v)
		}
	case "interfaces":
		return liveNICField(field, v)
	}
	return model.Value{}, false
}

// liveVCPUs returns the value that the field of the processors would have for v processors.
// The field cores is for each socket.
func (g pveGuest) liveVCPUs(v model.Value) (value model.Value, known bool) {
	total := ratOf(v)
	switch observed := g.vcpus(observation{value: v}); {
	case total == nil || observed.path == "":
		return model.Value{}, false
	case observed.path != "cores" || g.container:
		return v, true
	}
	cores := new(big.Rat).Quo(total, big.NewRat(g.sockets(), 1))
	if !cores.IsInt() {
		// No whole number of cores gives the total.
		return model.StringOf(cores.RatString()), true
	}
	return model.IntOf(cores.Num().Int64()), true
}

// liveNICField returns the value that a field of a network device would have for the declared
// v.
func liveNICField(field string, v model.Value) (value model.Value, known bool) {
	switch field {
	case "mac", "bridge", "tagged_vlans":
		return v, true
	case "vlan":
		if v.IsEmpty() {
			return model.Value{}, true
		}
		return v, true
	case "enabled":
		return model.BoolOf(v.Text() == "false"), v.Kind() == model.Bool
	}
	return model.Value{}, false
}

// drives returns the guest's disks by slot. CD-ROM, EFI, TPM and cloud-init disks, unused
// volumes, and bind mounts of the host hold no data.
func (g pveGuest) drives() []drive {
	prefixes := []string{"ide", "sata", "scsi", "virtio", "efidisk", "tpmstate", "unused"}
	if g.container {
		prefixes = []string{"rootfs", "mp", "unused"}
	}
	var all []drive
	for i, prefix := range prefixes {
		first := len(all)
		for _, f := range g.Fields() {
			if f.Name == "rootfs" && prefix == f.Name || numbered(f.Name, prefix) >= 0 {
				all = append(all, drive{f.Name, f.Name, f.Name + ".size", ratOf(f.Value.At("size")), !g.holdsData(prefix, f.Value)})
			}
		}
		slices.SortFunc(all[first:], func(a, b drive) int { return cmp.Compare(numbered(a.slot, prefixes[i]), numbered(b.slot, prefixes[i])) })
	}
	return all
}

func (g pveGuest) holdsData(prefix string, v model.Value) bool {
	switch prefix {
	case "efidisk", "tpmstate", "unused":
		return false
	case "mp":
		return !v.At("size").IsNull()
	}
	return v.At("media").Str() != "cdrom" && v.At("cloudinit").Text() != "true"
}

// isSlot reports whether name is a name of a disk slot in Proxmox.
func isSlot(name string) bool {
	return name == "rootfs" || slices.ContainsFunc([]string{"ide", "sata", "scsi", "virtio", "mp", "efidisk", "tpmstate", "unused"},
		func(prefix string) bool { return numbered(name, prefix) >= 0 })
}

// numbered returns the number of a field with the prefix ("net12"), or -1.
func numbered(field, prefix string) int {
	digits, ok := strings.CutPrefix(field, prefix)
	if !ok || digits == "" || len(digits) > 3 || strings.Trim(digits, "0123456789") != "" {
		return -1
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

// nics returns the guest's network devices, sorted by number.
func (g pveGuest) nics() []nic {
	var all []nic
	for _, f := range g.Fields() {
		if n := numbered(f.Name, "net"); n >= 0 {
			all = append(all, g.nic(f, n))
		}
	}
	slices.SortFunc(all, func(a, b nic) int { return cmp.Compare(numbered(a.path, "net"), numbered(b.path, "net")) })
	return all
}

func (g pveGuest) nic(f model.Field, n int) nic {
	device := nic{path: f.Name, names: []string{f.Name}}
	if name := f.Value.At("name").Str(); name != "" {
		device.names = append(device.names, name)
	}
	device.mac, _ = parseMAC(f.Value.At(g.macField).Str())
	device.fields = map[string]observation{
		"mac":          {f.Value.At(g.macField), f.Name + "." + g.macField},
		"bridge":       {f.Value.At("bridge"), f.Name + ".bridge"},
		"enabled":      {model.BoolOf(f.Value.At("link_down").Text() != "true"), f.Name + ".link_down"},
		"vlan":         {f.Value.At("tag"), f.Name + ".tag"},
		"tagged_vlans": {trunks(f.Value.At("trunks")), f.Name + ".trunks"},
	}
	from := f.Name
	if !g.container {
		from = "ipconfig" + strconv.Itoa(n)
	}
	for _, field := range []string{"ip", "ip6"} {
		// Values such as "dhcp" are not addresses.
		if at, ok := liveAddressAt(g.At(from, field), from+"."+field); ok {
			device.addresses = append(device.addresses, at)
		}
	}
	return device
}

// lastVLAN is the highest VLAN ID.
const lastVLAN = 4094

// trunks returns the VLANs of a list with ranges ("10-20"), one by one, or null for none.
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

// otherAddresses returns the addresses that the guest agent reports.
func (g pveGuest) otherAddresses() []liveAddress {
	var all []liveAddress
	for _, item := range g.At("agent_addresses").Items() {
		if at, ok := liveAddressAt(item, "agent_addresses"); ok {
			all = append(all, at)
		}
	}
	return all
}
