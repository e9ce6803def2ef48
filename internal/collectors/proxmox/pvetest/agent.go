package pvetest

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// macAddress matches the MAC address in the settings of a network device.
func macAddress() *regexp.Regexp { return regexp.MustCompile(`(?i)\b([0-9a-f]{2}:){5}[0-9a-f]{2}\b`) }

// guestInterfaces returns the interfaces of a guest: those of a machine from its agent, which
// requires another privilege, those of a container from its node.
func (c *Cluster) guestInterfaces(g *Guest, below string) (any, *apiError) {
	at := "/vms/" + strconv.Itoa(g.ID)
	privilege := "VM.GuestAgent.Audit"
	if c.older(9, 0) {
		privilege = "VM.Monitor"
	}
	agent := strings.Contains(fmt.Sprint(g.Config["agent"]), "1")
	switch {
	case g.Kind == "lxc" && below == "interfaces":
		return g.interfaces("inet", c.older(9, 0)), nil
	case g.Kind == "lxc" || below == "interfaces":
		return nil, notImplemented(g.path() + "/" + below)
	case !c.holds(privilege, at):
		return nil, forbidden("(" + at + ", " + privilege + ")")
	case !agent:
		return nil, &apiError{http.StatusInternalServerError, "No QEMU guest agent configured"}
	case g.Status != "running":
		return nil, &apiError{http.StatusInternalServerError, fmt.Sprintf("VM %d is not running", g.ID)}
	case g.Addresses == nil:
		return nil, &apiError{http.StatusInternalServerError, "QEMU guest agent is not running"}
	}
	return Row{"result": g.interfaces("ipv", false)}, nil
}

// interfaces returns the guest's network devices, a loopback interface, and a bridge that the
// guest created. Agents name the families ipv4 and ipv6, nodes inet and inet6.
func (g *Guest) interfaces(family string, old bool) []Row {
	rows := []Row{
		iface(family, old, "lo", "00:00:00:00:00:00", "127.0.0.1/8", "::1/128"),
		iface(family, old, "docker0", "02:42:5a:00:00:01", "172.17.0.1/16"),
	}
	find := macAddress()
	for n, device := range slices.Sorted(maps.Keys(g.Config)) {
		mac := find.FindString(fmt.Sprint(g.Config[device]))
		if !strings.HasPrefix(device, "net") || mac == "" {
			continue
		}
		addresses := append([]string{fmt.Sprintf("fe80::be24:11ff:fe00:%x/64", n)}, g.addressesOf(device)...)
		rows = append(rows, iface(family, old, "eth"+device[len("net"):], strings.ToLower(mac), addresses...))
	}
	return rows
}

// addressesOf returns the addresses of a device: those in Addresses, or those in the settings
// of a container.
func (g *Guest) addressesOf(device string) []string {
	if given, ok := g.Addresses[device]; ok || g.Kind != "lxc" {
		return given
	}
	var set []string
	for part := range strings.SplitSeq(fmt.Sprint(g.Config[device]), ",") {
		if key, value, _ := strings.Cut(part, "="); (key == "ip" || key == "ip6") && strings.Contains(value, "/") {
			set = append(set, value)
		}
	}
	return set
}

// iface returns a row of interfaces. Old versions have one address of each family.
func iface(family string, old bool, name, mac string, addresses ...string) Row {
	row := Row{"name": name, "hwaddr": mac}
	list := make([]Row, len(addresses))
	for i, a := range addresses {
		address, length, _ := strings.Cut(a, "/")
		typ, key := map[string]string{"ipv": "ipv4", "inet": "inet"}[family], "inet"
		if strings.Contains(address, ":") {
			typ, key = family+"6", "inet6"
		}
		// An invalid length counts as 0.
		prefix, _ := strconv.Atoi(length)
		list[i] = Row{"ip-address": address, "ip-address-type": typ, "prefix": prefix}
		if old {
			row[key] = a
		}
	}
	if !old {
		row["hardware-address"], row["ip-addresses"], row["statistics"] = mac, list, Row{"rx-bytes": 4711}
	}
	return row
}
