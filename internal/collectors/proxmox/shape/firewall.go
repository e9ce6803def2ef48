package shape

import "github.com/driftd/driftd/internal/model"

// firewallOptions are those of the cluster, of nodes, of guests and of virtual
// networks. What "enable" is when absent depends on whose it is; an absent
// "ndp" is on everywhere, whatever the manual says.
func firewallOptions() fields {
	f := fields{
		"enable": flag().content(), "ebtables": on(), "policy_in": word("DROP"), "policy_out": word("ACCEPT"),
		"policy_forward": word("ACCEPT"),
		"log_ratelimit":  props("enable", fields{"enable": on(), "burst": count(5), "rate": word("1/second")}),
		"dhcp":           off(), "ndp": on(), "radv": off(), "macfilter": on(), "ipfilter": off(),
		"log_nf_conntrack": off(), "nf_conntrack_allow_invalid": off(), "nf_conntrack_helpers": set(),
		"nf_conntrack_max": count(262144), "nf_conntrack_tcp_timeout_established": count(432000),
		"nf_conntrack_tcp_timeout_syn_recv": count(60), "nftables": off(), "nosmurfs": on(), "tcpflags": off(),
		"protection_synflood": off(), "protection_synflood_burst": count(1000), "protection_synflood_rate": count(200),
	}
	for _, level := range []string{"log_level_in", "log_level_out", "log_level_forward", "smurf_log_level", "tcp_flags_log_level"} {
		f[level] = word("nolog")
	}
	return f
}

// rules is a list of rules, whose order counts. Where a rule stands in it is
// not in the rule.
func rules() form {
	return rows(properties("", fields{
		"type": text(), "action": text(), "macro": text(), "proto": text(), "source": text(), "dest": text(),
		"sport": text(), "dport": text(), "icmp-type": text(), "iface": text(), "log": word("nolog"), "comment": note(),
		"enable": on(), "pos": drop(), "ipversion": drop(),
	}, saysEnable))
}

// saysEnable lets every rule say whether it is enabled.
func saysEnable(parts []model.Field) []model.Field {
	if has(parts, "enable") {
		return parts
	}
	return put(parts, "enable", "1")
}

func firewallRules() fields { return fields{"rules": rules()} }

func firewallGroup() fields {
	return fields{"group": text(), "comment": note(), "rules": rules()}
}

func firewallAlias() fields {
	return fields{"name": text(), "cidr": text(), "comment": note(), "ipversion": drop()}
}

func firewallIPSet() fields {
	return fields{
		"name": text(), "comment": note(),
		"cidr": rows(props("", fields{
			"cidr": text(), "comment": note(), "nomatch": off(), "errors": drop(),
		}), "cidr"),
	}
}
