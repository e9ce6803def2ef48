package catalogue

import (
	"slices"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// describe returns a paged operation of EC2. Its right has the operation's name.
func describe(action, rows string, input map[string]any, kinds ...*Kind) *List {
	return &List{
		Call: awsapi.Call{
			Service: &awsapi.Service{ID: "ec2", Protocol: awsapi.EC2, Version: "2016-11-15", Rate: 20},
			Action:  action, Input: input, Page: []awsapi.PageToken{{Param: "NextToken", Field: "nextToken"}},
		},
		Rights: "ec2:" + action, Rows: rows, Kinds: kinds,
	}
}

// paged is the size of the pages of operations of EC2 that have one.
func paged() map[string]any { return map[string]any{"MaxResults": 1000} }

func is(path string, texts ...string) []model.Condition {
	return []model.Condition{table.Is(path, texts...)}
}

// defaultVPC is the usual part of the default VPC.
func defaultVPC(reason, id string, where ...model.Condition) []Usual {
	return []Usual{{Reason: reason, Where: where, In: Reference{"EC2::VPC", id}}}
}

// network returns the kinds of networks and their security.
func network() []*List {
	return []*List{
		describe("DescribeVpcs", "vpcSet", paged(), &Kind{
			Name: "EC2::VPC", ID: "{vpcId}", Tags: "tagSet", Fields: text().Of("cidrBlock>cidr_block"),
			Usual: []Usual{{Reason: "the default VPC", Where: is("isDefault", "true"), Default: true}},
		}),
		describe("DescribeSubnets", "subnetSet", paged(), &Kind{
			Name: "EC2::Subnet", ID: "{subnetId}", Parent: Reference{"EC2::VPC", "{vpcId}"}, Tags: "tagSet",
			Fields: table.Join(text().Of("cidrBlock>cidr_block availabilityZone>availability_zone vpcId>vpc_id"), flag().Of("mapPublicIpOnLaunch>map_public_ip_on_launch")),
			Usual:  []Usual{{Reason: "a subnet of the default VPC", Where: is("defaultForAz", "true")}},
		}),
		describe("DescribeRouteTables", "routeTableSet", map[string]any{"MaxResults": 100}, routeTable(), route(), routeTableAssociation()),
		describe("DescribeInternetGateways", "internetGatewaySet", paged(), &Kind{
			Name: "EC2::InternetGateway", ID: "{internetGatewayId}", Parent: Reference{"EC2::VPC", "{attachmentSet.vpcId}"}, Tags: "tagSet",
			Fields: text().Of("attachmentSet.vpcId>vpc_id"),
			Usual:  defaultVPC("the gateway of the default VPC", "{attachmentSet.vpcId}"),
			Rules:  table.Rate(model.High, "it connects a network with the Internet", "", table.Unmanaged()),
		}),
		describe("DescribeNatGateways", "natGatewaySet", paged(), &Kind{
			Name: "EC2::NatGateway", ID: "{natGatewayId}", Parent: Reference{"EC2::Subnet", "{subnetId}"}, Tags: "tagSet", Created: "createTime",
			Where:  []model.Condition{{Path: "state", NotIn: []string{"deleted", "deleting", "failed"}}},
			Fields: text().Of("subnetId>subnet_id connectivityType>connectivity_type"),
			Makes:  []Made{{Rows: "natGatewayAddressSet", Reference: Reference{"EC2::NetworkInterface", "{networkInterfaceId}"}}},
			Rules:  table.Rate(model.Medium, "it costs money", "", table.Unmanaged()),
		}),
		describe("DescribeAddresses", "addressesSet", nil, &Kind{
			Name: "EC2::EIP", ID: "{allocationId|publicIp}", Tags: "tagSet", Fields: text().Of("publicIp>public_ip instanceId>instance networkInterfaceId>network_interface"),
			Identities: [][2]string{{"public_ip", "{publicIp}"}},
			Usual:      []Usual{{Reason: "managed by a service of AWS", Where: []model.Condition{{Path: "serviceManaged", In: []string{"alb", "nlb", "rnat", "rds"}}}}},
		}),
		securityGroups(),
		describe("DescribeNetworkAcls", "networkAclSet", paged(), networkACL(), networkACLEntry()),
		describe("DescribeVpcEndpoints", "vpcEndpointSet", paged(), &Kind{
			Name: "EC2::VPCEndpoint", ID: "{vpcEndpointId}", Parent: Reference{"EC2::VPC", "{vpcId}"}, Tags: "tagSet", Created: "creationTimestamp",
			Where:  []model.Condition{{Path: "state", NotIn: []string{"deleted", "deleting"}}},
			Fields: text().Of("serviceName>service_name vpcEndpointType>vpc_endpoint_type vpcId>vpc_id"),
			Makes:  []Made{{Rows: "networkInterfaceIdSet", Reference: Reference{"EC2::NetworkInterface", "{text}"}}},
			Usual:  requesterManaged(),
		}),
		describe("DescribeVpcPeeringConnections", "vpcPeeringConnectionSet", paged(), &Kind{
			Name: "EC2::VPCPeeringConnection", ID: "{vpcPeeringConnectionId}", Tags: "tagSet",
			Where:  []model.Condition{{Path: "status.code", NotIn: []string{"deleted", "deleting", "rejected", "expired", "failed"}}},
			Fields: text().Of("requesterVpcInfo.vpcId>vpc_id accepterVpcInfo.vpcId>peer_vpc_id accepterVpcInfo.ownerId>peer_owner_id accepterVpcInfo.region>peer_region"),
			Rules:  table.Rate(model.High, "it connects two networks", "", table.Unmanaged()),
		}),
	}
}

func requesterManaged() []Usual {
	return []Usual{{Reason: "created by a service of AWS", Where: is("requesterManaged", "true")}}
}

func routeTable() *Kind {
	return &Kind{
		Name: "EC2::RouteTable", ID: "{routeTableId}", Parent: Reference{"EC2::VPC", "{vpcId}"}, Tags: "tagSet", Fields: text().Of("vpcId>vpc_id"),
		Usual: []Usual{{Reason: "the main route table of its VPC", Where: is("associationSet.main", "true")}},
	}
}

// routeTargets are the attributes of aws_route that determine where it leads.
const routeTargets = "destination_cidr_block destination_ipv6_cidr_block gateway_id nat_gateway_id network_interface_id vpc_peering_connection_id transit_gateway_id vpc_endpoint_id"

func route() *Kind {
	const target = "gatewayId>gateway_id natGatewayId>nat_gateway_id networkInterfaceId>network_interface_id vpcPeeringConnectionId>vpc_peering_connection_id transitGatewayId>transit_gateway_id"
	return &Kind{
		Name: "EC2::Route", Rows: "routeSet", ID: "{^.routeTableId}_{destinationCidrBlock|destinationIpv6CidrBlock|destinationPrefixListId}",
		Parent: Reference{"EC2::RouteTable", "{^.routeTableId}"},
		Maker:  Reference{"EC2::VPCEndpoint", "{gatewayId}"}, MakerWhere: []model.Condition{{Path: "destinationPrefixListId", Present: true}},
		Fields: text().Of("^.routeTableId>route_table_id destinationCidrBlock>destination_cidr_block destinationIpv6CidrBlock>destination_ipv6_cidr_block " +
			"destinationPrefixListId>destination_prefix_list_id origin " + target),
		Usual: []Usual{
			{Reason: "a route that AWS creates", Where: []model.Condition{{Path: "origin", NotIn: []string{"CreateRoute"}}}},
			{
				Reason: "the route to the gateway of the default VPC", In: Reference{"EC2::VPC", "{^.vpcId}"}, Forgeable: true,
				Where: []model.Condition{table.Is("destinationCidrBlock", "0.0.0.0/0"), table.Is("^.associationSet.main", "true")},
				Path:  "gatewayId", Begins: []string{"igw-"},
			},
		},
		Rules: slices.Concat(
			rate(model.High, "it sends all traffic elsewhere", routeTargets, model.Condition{Path: "destination_cidr_block", World: true}),
			rate(model.High, "it sends all traffic elsewhere", routeTargets, model.Condition{Path: "destination_ipv6_cidr_block", World: true})),
		Exposed: table.Exposed(model.ExposesReach, ""),
	}
}

func routeTableAssociation() *Kind {
	return &Kind{
		Name: "EC2::SubnetRouteTableAssociation", Rows: "associationSet", Where: []model.Condition{{Path: "main", NotIn: []string{"true"}}},
		ID: "{routeTableAssociationId}", Parent: Reference{"EC2::RouteTable", "{^.routeTableId}"},
		Fields: text().Of("routeTableId>route_table_id subnetId>subnet_id gatewayId>gateway_id"),
	}
}

func securityGroups() *List {
	l := describe("DescribeSecurityGroups", "securityGroupInfo", paged(), &Kind{
		Name: "EC2::SecurityGroup", ID: "{groupId}", Label: "{groupName}", Parent: Reference{"EC2::VPC", "{vpcId}"}, Tags: "tagSet",
		Fields: text().Of("groupName>name groupDescription>description vpcId>vpc_id"),
		Usual:  []Usual{{Reason: "the default group of its VPC", Where: is("groupName", "default"), Default: true}},
		Rules:  groupRules(), Exposed: table.Exposed(model.ExposesReach, "ingress egress"),
	})
	rules := describe("DescribeSecurityGroupRules", "securityGroupRuleSet", map[string]any{"MaxResults": 1000, "Filter.1.Name": "group-id"},
		groupRule("ingress", false), groupRule("egress", false), groupRule("ingress", true), groupRule("egress", true))
	rules.Batch = Batch{"Filter.1.Value", "{groupId}", 200}
	l.Then = []*List{rules}
	return l
}

// groupRule returns the rules of one direction: those for all protocols, which have no
// ports, or the others.
func groupRule(way string, all bool) *Kind {
	const target = "{cidrIpv4|cidrIpv6|prefixListId|referencedGroupInfo.groupId}"
	where := []model.Condition{table.Is("isEgress", map[string]string{"ingress": "false", "egress": "true"}[way])}
	content := "{groupId} " + way + " {ipProtocol} {fromPort} {toPort} " + target
	if all {
		where = append(where, table.Is("ipProtocol", "-1"))
		content = "{groupId} " + way + " -1 0 0 " + target
	} else {
		where = append(where, model.Condition{Path: "ipProtocol", NotIn: []string{"-1"}})
	}
	return &Kind{
		Name: "EC2::SecurityGroupRule", ID: "{securityGroupRuleId}", Label: content, Parent: Reference{"EC2::SecurityGroup", "{groupId}"}, Where: where, Tags: "tagSet",
		Identities: [][2]string{{"rule", content}},
		Fields: table.Join(direction().Of("isEgress>type"), number().Of("fromPort>from_port toPort>to_port"),
			text().Of("ipProtocol>ip_protocol cidrIpv4>cidr_ipv4 cidrIpv6>cidr_ipv6 prefixListId>prefix_list_id description groupId>security_group_id "+
				"referencedGroupInfo.groupId>referenced_security_group_id")),
		Usual: []Usual{
			{Reason: "the rule that AWS gives every new group", Where: []model.Condition{table.Is("isEgress", "true"), table.Is("ipProtocol", "-1"), table.Is("cidrIpv4", "0.0.0.0/0")}, Forgeable: true},
			{Reason: "the rule that AWS gives every new group", Where: []model.Condition{table.Is("isEgress", "true"), table.Is("ipProtocol", "-1"), table.Is("cidrIpv6", "::/0")}, Forgeable: true},
			{
				Reason: "a rule of the default group", Where: []model.Condition{table.Is("isEgress", "false"), table.Is("ipProtocol", "-1")},
				Same: [2]string{"groupId", "referencedGroupInfo.groupId"}, In: Reference{"EC2::SecurityGroup", "{groupId}"}, Forgeable: true,
			},
		},
		Rules: ruleRules(), Exposed: table.Exposed(model.ExposesReach, ""),
	}
}

const openReason = "open to the world"

// ruleRules rates rules of security groups, in the words of aws_vpc_security_group_ingress_rule
// and of aws_security_group_rule.
func ruleRules() []model.SeverityRule {
	var rules []model.SeverityRule
	ingress := model.Condition{Path: "type", NotIn: []string{"egress"}}
	for _, words := range [][2]string{{"cidr_ipv4", "ip_protocol"}, {"cidr_ipv6", "ip_protocol"}, {"cidr_blocks", "protocol"}, {"ipv6_cidr_blocks", "protocol"}} {
		rules = append(rules, rate(model.Critical, openReason, words[0]+" "+words[1]+" from_port to_port", model.Condition{Path: words[0], World: true}, ingress,
			model.Condition{Path: words[1], NotIn: []string{"icmp", "icmpv6", "1", "58"}})...)
	}
	return append(rules, table.Rate(model.High, "it opens a way into a network", "", table.Unmanaged(), ingress)...)
}

// groupRules rates rules inside of a group, which only a plan reads.
func groupRules() []model.SeverityRule {
	return slices.Concat(
		table.Rate(model.Critical, openReason, "ingress", table.Edited(), model.Condition{Path: "ingress.cidr_blocks", World: true}),
		table.Rate(model.Critical, openReason, "ingress", table.Edited(), model.Condition{Path: "ingress.ipv6_cidr_blocks", World: true}))
}

func networkACL() *Kind {
	return &Kind{
		Name: "EC2::NetworkAcl", ID: "{networkAclId}", Parent: Reference{"EC2::VPC", "{vpcId}"}, Tags: "tagSet", Fields: text().Of("vpcId>vpc_id"),
		Usual: []Usual{{Reason: "the default list of its VPC", Where: is("default", "true")}},
		Rules: slices.Concat(listRules("cidr_block"), listRules("ipv6_cidr_block")), Exposed: table.Exposed(model.ExposesReach, "ingress"),
	}
}

// listRules rates entries inside of a list, which only a plan reads.
func listRules(network string) []model.SeverityRule {
	open := model.Condition{Path: "ingress", With: []model.Condition{table.Is("action", "allow"), {Path: network, World: true}}}
	return table.Rate(model.High, "it allows traffic into a network", "ingress", table.Edited(), open)
}

func networkACLEntry() *Kind {
	const usual = "an entry of the default list"
	everything := func(network, anywhere, number string) []model.Condition {
		return []model.Condition{table.Is("^.default", "true"), table.Is("ruleNumber", number), table.Is("protocol", "-1"), table.Is("ruleAction", "allow"), table.Is(network, anywhere)}
	}
	return &Kind{
		Name: "EC2::NetworkAclEntry", Rows: "entrySet", ID: "{^.networkAclId}:{ruleNumber}:{egress}", Parent: Reference{"EC2::NetworkAcl", "{^.networkAclId}"},
		Fields: table.Join(number().Of("ruleNumber>rule_number portRange.from>from_port portRange.to>to_port"), flag().Of("egress"),
			text().Of("^.networkAclId>network_acl_id protocol ruleAction>rule_action cidrBlock>cidr_block ipv6CidrBlock>ipv6_cidr_block")),
		Usual: []Usual{
			{Reason: "the last entry of every list", Where: is("ruleNumber", "32767", "32768")},
			{Reason: usual, Where: everything("cidrBlock", "0.0.0.0/0", "100"), Forgeable: true},
			{Reason: usual, Where: everything("ipv6CidrBlock", "::/0", "101"), Forgeable: true},
		},
		Rules: table.Rate(model.High, "it allows traffic into a network", "", table.Unmanaged(), table.Is("rule_action", "allow"), table.Is("egress", "false")),
	}
}

// rate returns rules for an unmanaged resource, and for changes of fields, whose names are separated
// by blanks.
func rate(severity model.Severity, reason, fields string, where ...model.Condition) []model.SeverityRule {
	return slices.Concat(table.Rate(severity, reason, "", table.Unmanaged(), where...), table.Rate(severity, reason, fields, table.Edited(), where...))
}
