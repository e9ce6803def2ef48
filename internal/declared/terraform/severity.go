package terraform

import "github.com/driftd/driftd/internal/model"

// severities returns the severity rules for a type that a plan's own provider reads. They rate
// resources that are open to the world, or that grant all rights, as critical.
func severities(typ string) []model.SeverityRule {
	var rules []model.SeverityRule
	for _, e := range exposures(typ) {
		rule := model.SeverityRule{Verdicts: []model.Verdict{model.Changed, model.Undeclared, model.Disputed, model.Conflict}, Where: e.where,
			Severity: model.Critical, Reason: e.why}
		if e.list != "" {
			rule.Path, rule.Where = e.list, []model.Condition{{Path: e.list, With: e.where}}
			rules = append(rules, rule)
			continue
		}
		for _, path := range e.fields() {
			rule.Path = path
			rules = append(rules, rule)
		}
	}
	if typ == "aws_s3_bucket_public_access_block" {
		rules = append(rules, model.SeverityRule{Verdicts: []model.Verdict{model.Missing}, Severity: model.Critical, Reason: unblocked})
	}
	return rules
}

// The reasons of severity rules.
const (
	openWorld = "open to the world"
	allRights = "grants all rights"
	unblocked = "public access is not blocked"
)

// An exposure is a set of conditions on a resource, or on an element of its list, that
// make it critical.
type exposure struct {
	list  string
	where []model.Condition
	why   string
}

// fields returns the fields whose changes the exposure rates: those of its conditions,
// and ports.
func (e *exposure) fields() []string {
	all := []string{"from_port", "to_port", "port_range_min", "port_range_max", "destination_port_range", "destination_port_ranges"}
	for i := range e.where {
		all = append(all, e.where[i].Path)
	}
	return all
}

// exposures returns the exposures of a type, with the attributes of its provider.
func exposures(typ string) []exposure {
	is := func(path string, texts ...string) model.Condition { return model.Condition{Path: path, In: texts} }
	world := func(path string, others ...string) model.Condition {
		return model.Condition{Path: path, World: true, In: others}
	}
	data := func(path string) model.Condition {
		return model.Condition{Path: path, NotIn: []string{"icmp", "icmpv6", "ipv6-icmp", "1", "58"}}
	}
	in := func(list string, where ...model.Condition) exposure { return exposure{list, where, openWorld} }
	azure := []model.Condition{is("direction", "Inbound"), is("access", "Allow"), data("protocol")}
	switch typ {
	case "aws_security_group", "aws_default_security_group":
		return []exposure{in("ingress", data("protocol"), world("cidr_blocks")), in("ingress", data("protocol"), world("ipv6_cidr_blocks"))}
	case "aws_security_group_rule":
		return []exposure{in("", is("type", "ingress"), data("protocol"), world("cidr_blocks")), in("", is("type", "ingress"), data("protocol"), world("ipv6_cidr_blocks"))}
	case "aws_vpc_security_group_ingress_rule":
		return []exposure{in("", data("ip_protocol"), world("cidr_ipv4")), in("", data("ip_protocol"), world("cidr_ipv6"))}
	case "aws_s3_bucket_acl":
		return []exposure{in("", is("acl", "public-read", "public-read-write", "authenticated-read"))}
	case "aws_s3_bucket_public_access_block":
		var all []exposure
		for _, flag := range []string{"block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"} {
			all = append(all, exposure{"", []model.Condition{is(flag, "false", "")}, unblocked})
		}
		return all
	case "aws_iam_role_policy_attachment", "aws_iam_user_policy_attachment", "aws_iam_group_policy_attachment":
		return []exposure{{"", []model.Condition{is("policy_arn", "arn:aws:iam::aws:policy/AdministratorAccess")}, allRights}}
	case "google_compute_firewall":
		return []exposure{in("", is("direction", "INGRESS", ""), model.Condition{Path: "allow", With: []model.Condition{data("protocol")}}, world("source_ranges"))}
	case "google_storage_bucket_iam_member", "google_storage_bucket_iam_binding":
		return []exposure{in("", is("member", "allUsers", "allAuthenticatedUsers")), in("", is("members", "allUsers", "allAuthenticatedUsers"))}
	case "azurerm_network_security_rule":
		return []exposure{in("", append(azure, world("source_address_prefix", "*", "Internet", "Any"))...)}
	case "azurerm_network_security_group":
		return []exposure{in("security_rule", append(azure, world("source_address_prefix", "*", "Internet", "Any"))...)}
	case "openstack_networking_secgroup_rule_v2":
		return []exposure{in("", is("direction", "ingress"), data("protocol"), is("remote_group_id", ""), world("remote_ip_prefix", ""))}
	case "hcloud_firewall":
		return []exposure{in("rule", is("direction", "in"), data("protocol"), world("source_ips"))}
	case "digitalocean_firewall":
		return []exposure{in("inbound_rule", data("protocol"), world("source_addresses"))}
	}
	return nil
}
