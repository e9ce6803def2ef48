package shape

// staged are the keys that ?pending=1 adds to every object of SDN.
func staged() fields { return fields{"pending": drop(), "state": drop()} }

func sdnZone() fields {
	return staged().and(fields{
		"zone": text(), "type": text(), "nodes": set(), "mtu": number(), "ipam": text(), "dns": text(), "reversedns": text(),
		"dnszone": text(), "dhcp": text(), "bridge": text(), "bridge-disable-mac-learning": off(), "tag": number(),
		"vlan-protocol": word("802.1q"), "peers": set(), "vxlan-port": number(), "fabric": text(), "dp-id": number(),
		"controller": text(), "secondary-controllers": set(), "vrf-vxlan": number(), "mac": mac(), "exitnodes": set(),
		"exitnodes-primary": text(), "exitnodes-local-routing": off(), "advertise-subnets": off(),
		"disable-arp-nd-suppression": off(), "rt-import": set(),
	})
}

func sdnVnet() fields {
	return staged().and(fields{
		"vnet": text(), "type": text(), "zone": text(), "alias": note(), "tag": number(), "vlanaware": off(), "isolate-ports": off(),
	})
}

// sdnSubnet leaves out "id", which is "subnet" again.
func sdnSubnet() fields {
	return staged().and(fields{
		"subnet": text(), "id": drop(), "type": text(), "vnet": text(), "zone": text(), "cidr": text(), "network": text(),
		"mask": number(), "gateway": text(), "snat": off(), "dnszoneprefix": text(), "dhcp-dns-server": text(),
		"dhcp-range": rows(props("", fields{"start-address": text(), "end-address": text()}), "start-address", "end-address"),
	})
}

func sdnController() fields {
	return staged().and(fields{
		"controller": text(), "type": text(), "node": text(), "nodes": set(), "asn": number(), "peers": set(), "fabric": text(),
		"ebgp": off(), "ebgp-multihop": number(), "loopback": text(), "bgp-multipath-as-path-relax": off(),
		"isis-domain": text(), "isis-ifaces": set(), "isis-net": text(), "peer-group-name": text(),
		"route-map-in": text(), "route-map-out": text(),
	})
}

func sdnIpam() fields {
	return staged().and(fields{
		"ipam": text(), "type": text(), "url": address(), "token": secret(), "section": number(), "fingerprint": text(),
	})
}

func sdnDNS() fields {
	return staged().and(fields{
		"dns": text(), "type": text(), "url": address(), "key": secret(), "ttl": number(), "reversemaskv6": number(),
		"reversev6mask": number(), "fingerprint": text(),
	})
}
