package shape

import "github.com/driftd/driftd/internal/model"

// networking are the other kinds of Neutron.
func networking() []entry {
	return []entry{
		{name: SecurityGroup, service: Networking, path: "security-groups", rows: "security_groups", belongs: ToProject,
			fields: "stateful/boolean" + common, joined: "open/opens open_to/volatile", labels: "tags", rates: groups()},
		{name: Subnet, service: Networking, path: "subnets", belongs: ToProject,
			fields: "network_id cidr/address ip_version/number gateway_ip/address enable_dhcp/boolean dns_nameservers/addresses host_routes/routes " +
				"allocation_pools/pools ipv6_ra_mode ipv6_address_mode subnetpool_id segment_id service_types/set dns_publish_fixed_ip/boolean" + common,
			admin: "segment_id", labels: "tags", rates: []rate{{fields: "gateway_ip host_routes", severity: model.High, why: routes},
				{fields: "dns_nameservers", severity: model.Medium, why: "decides who answers for names"}, labelled("name description tags")}},
		{name: Network, service: Networking, path: "networks", belongs: ToProject,
			fields: "admin_state_up/boolean shared/boolean router:external/boolean is_default/boolean mtu/derivednumber port_security_enabled/boolean " +
				"availability_zone_hints/set dns_domain qos_policy_id vlan_transparent/boolean provider:network_type/derived " +
				"provider:physical_network/derived provider:segmentation_id/derivednumber segments/segments" + common,
			admin: "network_type physical_network segmentation_id segments", labels: "tags", rates: networks()},
		{name: Router, service: Networking, path: "routers", belongs: ToProject,
			fields: "admin_state_up/boolean external_gateway_info/gateway routes/routes distributed/boolean ha/boolean " +
				"availability_zone_hints/set flavor_id enable_ndp_proxy/boolean" + common,
			admin: "distributed ha", labels: "tags", rates: []rate{{fields: "external_gateway_info routes", severity: model.High, why: routes}, labelled("name description tags")}},
	}
}

func groupRules() []rate {
	return []rate{
		labelled("description"),
		{verdicts: append(edited(), model.Unmanaged), where: is("open_to", anybody), severity: model.Critical, why: letsIn},
		{verdicts: append(edited(), model.Unmanaged), where: is("open_to", pinging), severity: model.High, why: answers},
		{verdicts: unmanaged(), severity: model.Medium, why: "decides who can reach whom"},
	}
}

// What the field open_to holds: anybody where the world is let in, and pinging where only
// its control messages are.
const (
	anybody = "anybody"
	pinging = "anybody by icmp"
	letsIn  = "open to the world"
	answers = "answers the world's control messages"
)

func groups() []rate {
	return []rate{
		{verdicts: unmanaged(), where: is("open_to", anybody), severity: model.Critical, why: letsIn},
		{verdicts: unmanaged(), where: is("open_to", pinging), severity: model.High, why: answers},
		{fields: "stateful", severity: model.Medium, why: reach},
		labelled("name description tags"),
	}
}

func ports() []rate {
	const unfiltered = "nothing filters what it sends and receives"
	open := is("port_security_enabled", "false")
	return []rate{
		{fields: "port_security_enabled", where: open, severity: model.High, why: unfiltered},
		{verdicts: unmanaged(), where: is("device_owner", routerInterfaces()...), severity: model.Medium, why: routes},
		{verdicts: unmanaged(), where: open, severity: model.High, why: unfiltered},
		{fields: "security_groups", severity: model.High, why: reach},
		{fields: "allowed_address_pairs", severity: model.High, why: "decides which addresses it may take"},
		labelled("name description tags"),
	}
}

func networks() []rate {
	shared := is("shared", "true")
	return []rate{
		{fields: "shared", where: shared, severity: model.High, why: everyProject},
		{verdicts: unmanaged(), where: shared, severity: model.High, why: everyProject},
		{fields: "port_security_enabled", where: is("port_security_enabled", "false"), severity: model.High, why: "nothing filters its new ports"},
		{fields: "external", severity: model.High, why: "decides what reaches the outside"},
		labelled("name description tags"),
	}
}

func floatingIPs() []rate {
	const outside = "decides what is reached from outside"
	return []rate{
		{fields: "port_id fixed_ip_address port_forwardings", severity: model.High, why: outside},
		{verdicts: unmanaged(), severity: model.High, why: outside},
		labelled("description tags"),
	}
}
