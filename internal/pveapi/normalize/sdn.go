package normalize

import "github.com/driftd/driftd/internal/collectors/table"

// staged returns the keys that ?pending=1 adds to every SDN object.
func staged() table.Fields { return drop().Of("pending state") }

func sdnZone() table.Fields {
	return table.Join(staged(),
		text().Of("zone type ipam dns reversedns dnszone dhcp bridge fabric controller exitnodes-primary"),
		set().Of("nodes peers secondary-controllers exitnodes rt-import"), number().Of("mtu tag vxlan-port dp-id vrf-vxlan"),
		off().Of("bridge-disable-mac-learning exitnodes-local-routing advertise-subnets disable-arp-nd-suppression"),
		word("802.1q").Of("vlan-protocol"), mac().Of("mac"))
}

func sdnVnet() table.Fields {
	return table.Join(staged(), text().Of("vnet type zone"), note().Of("alias"), number().Of("tag"), off().Of("vlanaware isolate-ports"))
}

// sdnSubnet drops "id", which is the same as "subnet".
func sdnSubnet() table.Fields {
	return table.Join(staged(),
		text().Of("subnet type vnet zone cidr network gateway dnszoneprefix dhcp-dns-server"), drop().Of("id"), number().Of("mask"),
		off().Of("snat"), rows(props("", text().Of("start-address end-address")), "start-address", "end-address").Of("dhcp-range"))
}

func sdnController() table.Fields {
	return table.Join(staged(),
		text().Of("controller type node fabric loopback isis-domain isis-net peer-group-name route-map-in route-map-out"),
		set().Of("nodes peers isis-ifaces"), number().Of("asn ebgp-multihop"), off().Of("ebgp bgp-multipath-as-path-relax"))
}

func sdnIpam() table.Fields {
	return table.Join(staged(), text().Of("ipam type fingerprint"), address().Of("url"), secret().Of("token"), number().Of("section"))
}

func sdnDNS() table.Fields {
	return table.Join(staged(), text().Of("dns type fingerprint"), address().Of("url"), secret().Of("key"), number().Of("ttl reversemaskv6 reversev6mask"))
}
