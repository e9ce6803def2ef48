package shape

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

func nodeNetwork() fields {
	return fields{
		"iface": text(), "type": text(), "method": word("manual"), "method6": word("manual"), "autostart": off(),
		"cidr": text(), "address": text(), "netmask": text(), "gateway": text(), "cidr6": text(), "address6": text(),
		"netmask6": text(), "gateway6": text(), "mtu": number(), "comments": note(), "comments6": note(),
		"bridge_ports": set(), "bridge_vlan_aware": off(), "bridge_vids": spaced(), "bridge_stp": off(), "bridge_fd": number(),
		"bridge-access": number(), "bridge-arp-nd-suppress": flag(), "bridge-learning": flag(), "bridge-multicast-flood": flag(),
		"bridge-unicast-flood": flag(), "slaves": set(), "bond_mode": text(), "bond_xmit_hash_policy": text(),
		"bond-primary": text(), "ovs_type": text(), "ovs_bridge": text(), "ovs_bonds": set(), "ovs_ports": set(),
		"ovs_options": spaced(), "ovs_tag": number(), "vlan-id": number(), "vlan-raw-device": text(), "vlan-protocol": text(),
		"vxlan-id": number(), "vxlan-local-tunnelip": text(), "vxlan-physdev": text(), "vxlan-svcnodeip": text(),
		"uplink-id": text(), "link-type": text(), "options": sequence(), "options6": sequence(),
		"active": drop(), "exists": drop(), "families": drop(), "priority": drop(), "altnames": drop(),
	}
}

// withoutNotations drops an address that the CIDR beside it says, too.
func withoutNotations(raw model.Value) model.Value {
	if raw.At("cidr").Text() != "" {
		raw = raw.Without("address", "netmask")
	}
	if raw.At("cidr6").Text() != "" {
		raw = raw.Without("address6", "netmask6")
	}
	return raw
}

func nodeDNS() fields { return fields{"search": text(), "servers": sequence()} }

// withServers makes one list of dns1 to dns3.
func withServers(raw model.Value) model.Value {
	var servers []model.Value
	for _, name := range []string{"dns1", "dns2", "dns3"} {
		if server, ok := raw.Get(name); ok && server.Text() != "" {
			servers = append(servers, server)
		}
	}
	if servers == nil {
		return raw
	}
	return raw.Without("dns1", "dns2", "dns3").With("servers", model.ListOf(servers...))
}

// nodeHosts keeps the lines' order: of two for one name the first counts.
func nodeHosts() fields {
	entries := rows(props("", fields{"address": text(), "hostnames": sequence()}))
	entries.schema.List, entries.schema.Keys = model.Keyed, []string{"address"}
	return fields{"entries": entries}
}

// withEntries reads the text of /etc/hosts. Comments and blank lines say
// nothing.
func withEntries(raw model.Value) model.Value {
	data, ok := raw.Get("data")
	if !ok {
		return raw
	}
	entries := []model.Value{}
	for line := range strings.Lines(data.Text()) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) < 2 {
			continue
		}
		names := make([]model.Value, 0, len(words)-1)
		for _, name := range words[1:] {
			names = append(names, model.StringOf(name))
		}
		entries = append(entries, model.MapOf(textPart("address", words[0]), model.Field{Name: "hostnames", Value: model.ListOf(names...)}))
	}
	return raw.Without("data").With("entries", model.ListOf(entries...))
}

func nodeConfig() fields {
	return fields{
		"description": note(), "startall-onboot-delay": count(0), "ballooning-target": count(80),
		"acme":        props("account", fields{"account": word("default"), "domains": set()}),
		"acmedomain#": props("domain", fields{"domain": text(), "alias": text(), "plugin": word("standalone")}).upTo(6),
		"wakeonlan":   props("mac", fields{"mac": mac(), "bind-interface": text(), "broadcast-address": word("255.255.255.255")}),
		"location":    props("", fields{"latitude": text(), "longitude": text(), "name": text()}),
	}
}

func nodeTime() fields {
	return fields{"timezone": text(), "time": drop(), "localtime": drop()}
}
