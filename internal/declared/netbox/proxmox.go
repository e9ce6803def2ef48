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
	// named is the field that holds its name, mac the one of a device that
	// holds the address.
	named, mac string
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

func (g pveGuest) look(word string, says model.Value) sight {
	untold := sight{value: says}
	switch word {
	case "name":
		return sight{g.At(g.named), g.named}
	case "status":
		return g.status(untold)
	case "device":
		return g.node(untold)
	case "vcpus":
		return g.vcpus(untold)
	case "memory":
		return g.memory(untold)
	}
	return untold
}

// status tells whether the guest runs. A template never does.
func (g pveGuest) status(untold sight) sight {
	words := map[string]string{"running": active, "stopped": offline}
	word := words[g.At("status").Str()]
	if word == "" || g.At("template").Text() == "true" {
		return untold
	}
	return sight{model.StringOf(word), "status"}
}

// node tells where the guest lies. NetBox may know the host by its full name.
func (g pveGuest) node(untold sight) sight {
	node := g.At("node")
	if node.Str() == "" {
		return untold
	}
	if strings.EqualFold(short(untold.value.Str()), short(node.Str())) {
		return sight{untold.value, "node"}
	}
	return sight{node, "node"}
}

// short is the name of a host without its domain.
func short(host string) string {
	name, _, _ := strings.Cut(host, ".")
	return name
}

// vcpus tells how many processors the guest has: those that are plugged, or
// cores × sockets. Part of one can only be a limit, and a container without
// cores has all of the host's, unless it is limited.
func (g pveGuest) vcpus(untold sight) sight {
	cores, limit := g.At("cores"), g.At("cpulimit")
	whole := !strings.Contains(untold.value.Text(), ".")
	switch {
	case isAmount(limit) && (!whole || g.container && !isAmount(cores)):
		return sight{limit, "cpulimit"}
	case !whole, g.container && !isAmount(cores):
		return untold
	case g.container:
		return sight{cores, "cores"}
	case isAmount(g.At("vcpus")):
		return sight{g.At("vcpus"), "vcpus"}
	}
	return sight{model.IntOf(orOne(cores) * g.sockets()), "cores"}
}

// sockets tells how many processors the guest has that have cores.
func (g pveGuest) sockets() int64 {
	sockets := g.At("sockets")
	if sockets.IsNull() {
		sockets = g.At("smp")
	}
	return orOne(sockets)
}

// orOne returns a small number, or 1 where there is none.
func orOne(v model.Value) int64 {
	n, err := strconv.ParseInt(v.Text(), 10, 31)
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// memory tells the guest's memory in MiB, of which Proxmox takes 512 where it is
// told nothing.
func (g pveGuest) memory(untold sight) sight {
	held, path := g.At("memory"), "memory"
	if current, ok := held.Get("current"); ok {
		held, path = current, "memory.current"
	}
	switch held.Kind() {
	case model.Number:
		return sight{held, path}
	case model.Null:
		return sight{model.IntOf(512), path}
	}
	return untold
}

func (g pveGuest) means(word, field string, v model.Value) (means model.Value, known bool) {
	switch word {
	case "vcpus":
		return g.cpusFor(v)
	case "name", "memory", "primary_ip4", "primary_ip6", "tags":
		return v, true
	case "device":
		return model.StringOf(short(v.Str())), true
	case "status":
		return map[string]model.Value{active: model.StringOf("running"), offline: model.StringOf("stopped")}[v.Str()], true
	case "disk":
		return bytesOf(v)
	case "disks":
		if field == "size" {
			return bytesOf(v)
		}
	case "interfaces":
		return deviceFor(field, v)
	}
	return model.Value{}, false
}

// cpusFor returns what the field that tells the processors would hold for that
// many of them: cores are counted for each socket.
func (g pveGuest) cpusFor(v model.Value) (means model.Value, known bool) {
	total := ratOf(v)
	switch seen := g.vcpus(sight{value: v}); {
	case total == nil || seen.path == "":
		return model.Value{}, false
	case seen.path != "cores" || g.container:
		return v, true
	}
	cores := new(big.Rat).Quo(total, big.NewRat(g.sockets(), 1))
	if !cores.IsInt() {
		// No number of cores makes that many.
		return model.StringOf(cores.RatString()), true
	}
	return model.IntOf(cores.Num().Int64()), true
}

// deviceFor returns what a field of a network device would hold.
func deviceFor(field string, v model.Value) (means model.Value, known bool) {
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

// drives returns the guest's disks by slot. What a CD, the firmware and
// cloud-init keep, what is unused, and directories of the host are no data.
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

// isSlot tells a name that Proxmox has for a place of a disk.
func isSlot(name string) bool {
	return name == "rootfs" || slices.ContainsFunc([]string{"ide", "sata", "scsi", "virtio", "mp", "efidisk", "tpmstate", "unused"},
		func(prefix string) bool { return numbered(name, prefix) >= 0 })
}

// numbered returns the number of a field that has the prefix ("net12"), or -1.
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

// nics returns the guest's network devices in the order of their numbers.
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
	device := nic{path: f.Name}
	device.mac, _ = parseMAC(f.Value.At(g.mac).Str())
	device.words = map[string]sight{
		"mac":          {f.Value.At(g.mac), f.Name + "." + g.mac},
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
		// "dhcp" and the like are no address.
		if at, ok := locate(g.At(from, field), from+"."+field); ok {
			device.given = append(device.given, at)
		}
	}
	return device
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

// told returns the addresses that the guest itself tells.
func (g pveGuest) told() []located {
	var all []located
	for _, item := range g.At("agent_addresses").Items() {
		if at, ok := locate(item, "agent_addresses"); ok {
			all = append(all, at)
		}
	}
	return all
}
