package normalize

import (
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

func nodeNetwork() table.Fields {
	return table.Join(
		text().Of("iface type cidr address netmask gateway cidr6 address6 netmask6 gateway6 bond_mode bond_xmit_hash_policy bond-primary ovs_type ovs_bridge vlan-raw-device vlan-protocol vxlan-local-tunnelip vxlan-physdev vxlan-svcnodeip uplink-id link-type"),
		word("manual").Of("method method6"), off().Of("autostart bridge_vlan_aware bridge_stp"),
		number().Of("mtu bridge_fd bridge-access ovs_tag vlan-id vxlan-id"), note().Of("comments comments6"),
		set().Of("bridge_ports slaves ovs_bonds ovs_ports"), withoutExtraBlanks().Of("bridge_vids ovs_options"),
		flag().Of("bridge-arp-nd-suppress bridge-learning bridge-multicast-flood bridge-unicast-flood"), sequence().Of("options options6"),
		drop().Of("active exists families priority altnames"))
}

// withoutSplitAddress drops an address and netmask that are also in the CIDR.
func withoutSplitAddress(raw model.Value) model.Value {
	if raw.At("cidr").Text() != "" {
		raw = raw.Without("address", "netmask")
	}
	if raw.At("cidr6").Text() != "" {
		raw = raw.Without("address6", "netmask6")
	}
	return raw
}

func nodeDNS() table.Fields { return table.Join(text().Of("search"), sequence().Of("servers")) }

// withServers combines dns1 to dns3 in one list.
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

// nodeHosts keeps the order of the lines: the first one for a name applies.
func nodeHosts() table.Fields {
	entries := rows(props("", table.Join(text().Of("address"), sequence().Of("hostnames"))))
	entries.Schema.List, entries.Schema.Keys = model.Keyed, []string{"address"}
	return entries.Of("entries")
}

// withEntries parses the text of /etc/hosts, without comments and blank lines.
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

func nodeConfig() table.Fields {
	return table.Join(
		note().Of("description"), count(0).Of("startall-onboot-delay"), count(80).Of("ballooning-target"),
		props("account", table.Join(word("default").Of("account"), set().Of("domains"))).Of("acme"),
		props("domain", table.Join(text().Of("domain alias"), word("standalone").Of("plugin"))).UpTo(6).Of("acmedomain#"),
		props("mac", table.Join(mac().Of("mac"), text().Of("bind-interface"), word("255.255.255.255").Of("broadcast-address"))).Of("wakeonlan"),
		props("", text().Of("latitude longitude name")).Of("location"))
}

func nodeTime() table.Fields {
	return table.Join(text().Of("timezone"), drop().Of("time localtime"))
}
