package normalize

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// common returns the fields that most of Neutron's kinds have.
func common() table.Fields {
	return table.Join(text().Low().Of("name description"), set().Low().Of("tags"))
}

// networking returns the other kinds of Neutron.
func networking() []*Kind {
	return []*Kind{
		{Name: SecurityGroup, Service: Networking, Path: "security-groups", Rows: "security_groups", Belongs: ToProject,
			fields: table.Join(common(), boolean().Medium(reach).Of("stateful")),
			joined: table.Join(set().Volatile().Of("open"), text().Volatile().Of("open_to")), labels: "tags",
			rules: append(table.Rate(model.Critical, letsIn, "", table.Unmanaged(), table.Is("open_to", anybody)),
				table.Rate(model.High, answers, "", table.Unmanaged(), table.Is("open_to", pinging))...),
			exposed: table.Exposed(model.ExposesReach, "")},
		{Name: Subnet, Service: Networking, Path: "subnets", Belongs: ToProject,
			fields: table.Join(common(), text().To(Network).Of("network_id"), text().Of("ipv6_ra_mode ipv6_address_mode subnetpool_id segment_id"), address().Of("cidr"),
				address().High(routes).Of("gateway_ip"), number().Of("ip_version"), boolean().Of("enable_dhcp dns_publish_fixed_ip"), set().Of("service_types"),
				table.Ordered(address()).Medium("decides who answers for names").Of("dns_nameservers"),
				bag(address().Of("destination nexthop")).High(routes).Of("host_routes"),
				bag(address().Of("start end")).Derived().Of("allocation_pools")),
			admin: []string{"segment_id"}, labels: "tags", exposed: table.Exposed(model.ExposesReach, "gateway_ip host_routes")},
		networks(),
		{Name: Router, Service: Networking, Path: "routers", Belongs: ToProject,
			fields: table.Join(common(), text().Of("flavor_id"), boolean().Of("admin_state_up distributed ha enable_ndp_proxy"),
				set().Of("availability_zone_hints"), gateway().High(routes).Of("external_gateway_info"), bag(address().Of("destination nexthop")).High(routes).Of("routes")),
			admin: []string{"distributed", "ha"}, labels: "tags", exposed: table.Exposed(model.ExposesReach, "external_gateway_info routes")},
	}
}

// The values of the field open_to: anybody if the world is allowed in, and pinging if only its
// ICMP messages are.
const (
	anybody = "anybody"
	pinging = "anybody by icmp"
	letsIn  = "open to the world"
	answers = "answers the world's control messages"
)

func groupRules() []model.SeverityRule {
	verdicts := append(table.Edited(), model.Unmanaged)
	return slices.Concat(
		table.Rate(model.Critical, letsIn, "", verdicts, table.Is("open_to", anybody)),
		table.Rate(model.High, answers, "", verdicts, table.Is("open_to", pinging)),
		table.Rate(model.Medium, "decides who can reach whom", "", table.Unmanaged()))
}

func ports() *Kind {
	const unfiltered = "nothing filters what it sends and receives"
	open := table.Is("port_security_enabled", "false")
	return &Kind{Name: Port, Service: Networking, Path: "ports", Belongs: ToProject, prepare: withoutOwnMAC,
		fields: table.Join(common(), text().To(Network).Of("network_id"), text().Of("device_id device_owner binding:vnic_type binding:profile dns_name dns_domain qos_policy_id numa_affinity_policy"),
			mac().Of("mac_address"), boolean().Of("admin_state_up port_security_enabled propagate_uplink_status mac_learning_enabled"),
			fixedIPs().Of("fixed_ips"), set().To(SecurityGroup).High(reach).Of("security_groups"),
			bag(address().Of("ip_address"), mac().Of("mac_address")).High("decides which addresses it may take").Of("allowed_address_pairs"),
			bag(text().Of("opt_name opt_value"), number().Of("ip_version")).Of("extra_dhcp_opts")),
		admin: strings.Fields("profile"), joined: text().Volatile().Of("unprotected"), labels: "tags",
		rules: slices.Concat(
			table.Rate(model.High, unfiltered, "port_security_enabled", table.Edited(), open),
			table.Rate(model.Medium, routes, "", table.Unmanaged(), table.Is("device_owner", routerInterfaces()...)),
			table.Rate(model.High, unfiltered, "", table.Unmanaged(), open)),
		exposed: table.Exposed(model.ExposesReach, "allowed_address_pairs device_id fixed_ips network_id port_security_enabled security_groups")}
}

func networks() *Kind {
	shared := table.Is("shared", "true")
	return &Kind{Name: Network, Service: Networking, Path: "networks", Belongs: ToProject,
		fields: table.Join(common(), text().Of("dns_domain qos_policy_id"), boolean().Of("admin_state_up shared is_default port_security_enabled vlan_transparent"),
			boolean().High("decides what reaches the outside").Of("router:external"), set().Of("availability_zone_hints"),
			derivedNumber().Of("mtu provider:segmentation_id"), derivedText().Of("provider:network_type provider:physical_network"), segments().Of("segments")),
		admin: strings.Fields("network_type physical_network segmentation_id segments"), labels: "tags",
		rules: slices.Concat(
			table.Rate(model.High, everyProject, "shared", table.Edited(), shared),
			table.Rate(model.High, everyProject, "", table.Unmanaged(), shared),
			table.Rate(model.High, "nothing filters its new ports", "port_security_enabled", table.Edited(), table.Is("port_security_enabled", "false"))),
		exposed: table.Exposed(model.ExposesReach, "port_security_enabled external shared")}
}

func floatingIPs() *Kind {
	const outside = "decides what is reached from outside"
	return &Kind{Name: FloatingIP, Service: Networking, Path: "floatingips", Belongs: ToProject,
		fields: table.Join(text().To(Network).Of("floating_network_id"), text().Of("dns_name dns_domain qos_policy_id"), text().Low().Of("description"), text().To(Port).High(outside).Of("port_id"),
			address().Of("floating_ip_address"), address().High(outside).Of("fixed_ip_address"), derivedText().To(Router).Of("router_id"), portDevice().Of("port_details>device_id"),
			forwardings().High(outside).Of("port_forwardings"), set().Low().Of("tags")),
		labels: "tags", exposed: table.Exposed(model.ExposesReach, ""), fallbackRules: table.Rate(model.High, outside, "", table.Unmanaged())}
}
