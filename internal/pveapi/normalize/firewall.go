package normalize

import (
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// firewallOptions returns the options of the firewalls of the cluster, of nodes, of guests and
// of virtual networks. The default of "enable" depends on the firewall. The default of "ndp"
// is on everywhere, although the manual differs.
func firewallOptions() table.Fields {
	return table.Join(
		flag().Content().Of("enable"), on().Of("ebtables ndp macfilter nosmurfs"), word("DROP").Of("policy_in"),
		word("ACCEPT").Of("policy_out policy_forward"),
		props("enable", table.Join(on().Of("enable"), count(5).Of("burst"), word("1/second").Of("rate"))).Of("log_ratelimit"),
		off().Of("dhcp radv ipfilter log_nf_conntrack nf_conntrack_allow_invalid nftables tcpflags protection_synflood"),
		set().Of("nf_conntrack_helpers"), count(262144).Of("nf_conntrack_max"), count(432000).Of("nf_conntrack_tcp_timeout_established"),
		count(60).Of("nf_conntrack_tcp_timeout_syn_recv"), count(1000).Of("protection_synflood_burst"),
		count(200).Of("protection_synflood_rate"),
		word("nolog").Of("log_level_in log_level_out log_level_forward smurf_log_level tcp_flags_log_level"))
}

// rules is a list of rules whose order has a meaning. It drops the position of a rule.
func rules() table.Form {
	return rows(properties("", table.Join(
		text().Of("type action macro proto source dest sport dport icmp-type iface"), word("nolog").Of("log"), note().Of("comment"),
		on().Of("enable"), drop().Of("pos ipversion")), withEnable))
}

// withEnable adds the default of "enable" to a rule.
func withEnable(parts []model.Field) []model.Field {
	if has(parts, "enable") {
		return parts
	}
	return put(parts, "enable", "1")
}

func firewallRules() table.Fields { return rules().Of("rules") }

func firewallGroup() table.Fields {
	return table.Join(text().Of("group"), note().Of("comment"), rules().Of("rules"))
}

func firewallAlias() table.Fields {
	return table.Join(text().Of("name cidr"), note().Of("comment"), drop().Of("ipversion"))
}

func firewallIPSet() table.Fields {
	return table.Join(
		text().Of("name"), note().Of("comment"),
		rows(props("", table.Join(text().Of("cidr"), note().Of("comment"), off().Of("nomatch"), drop().Of("errors"))), "cidr").Of("cidr"))
}
