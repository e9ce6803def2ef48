package cloudtrail

import (
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// An effect is what one operation does to a resource.
type effect struct {
	action model.Action
	// kind is the name of a kind without its prefix. "*" is the kind of an ID of EC2.
	kind string
	// each is the path of a list of which each element is changed on its own; "" for none.
	each string
	// id is the template of the ID. A text in braces is a path in the parameters, after "<"
	// in the answer, after "." in the element of each. Of several paths, separated by "|",
	// the first one that leads to a text counts.
	id string
	// fields are the changed fields, separated by blanks. "path>field" counts if the path
	// leads to a value, and "path=text>field" if it leads to that text. "path>tags.*" has a
	// field for each text there, and for each key of a map.
	fields string
	// when are conditions "path=text", separated by blanks, that the event must fulfill.
	when string
	// puts reports whether the operation creates the resource if it does not exist.
	puts bool
}

func created(kind, id string) effect { return effect{action: model.Created, kind: kind, id: id} }
func deleted(kind, id string) effect { return effect{action: model.Deleted, kind: kind, id: id} }

func edited(kind, id, fields string) effect {
	return effect{action: model.Edited, kind: kind, id: id, fields: fields}
}

// put is an operation that creates a resource or replaces it as a whole.
func put(kind, id string) effect { return effect{kind: kind, id: id, puts: true} }

func (e effect) of(each string) effect { e.each = each; return e }
func (e effect) if_(when string) effect {
	e.when = when
	return e
}

// An operation is the key of the table: the service as in eventSource, and eventName.
type operation struct{ service, name string }

// table returns the operations whose effects are certain. Names and parameters are those of
// CloudTrail's records, which differ from those of the API: they begin with a small letter,
// and some names of Lambda end with a version.
func table() map[operation][]effect {
	all := map[operation][]effect{}
	for _, service := range []map[string]map[string][]effect{
		ec2Events(), iamEvents(), storageEvents(), messagingEvents(), computeEvents(), dataEvents(), keyEvents(), watchingEvents(), tagEvents(),
	} {
		for name, operations := range service {
			for op, effects := range operations {
				all[operation{name, op}] = effects
			}
		}
	}
	return all
}

func merge(all ...map[string][]effect) map[string][]effect {
	merged := map[string][]effect{}
	for _, m := range all {
		for name, effects := range m {
			merged[name] = append(merged[name], effects...)
		}
	}
	return merged
}

// ec2Kind is a kind of EC2 whose IDs begin with a prefix.
type ec2Kind struct{ prefix, kind, noun, param string }

// ec2Kinds returns the kinds with Create and Delete operations of the usual form: the ID is
// in the answer of the first, and a parameter of the second.
func ec2Kinds() []ec2Kind {
	return []ec2Kind{
		{"vpc-", "EC2::VPC", "Vpc", "vpcId"},
		{"subnet-", "EC2::Subnet", "Subnet", "subnetId"},
		{"rtb-", "EC2::RouteTable", "RouteTable", "routeTableId"},
		{"igw-", "EC2::InternetGateway", "InternetGateway", "internetGatewayId"},
		{"nat-", "EC2::NatGateway", "NatGateway", "natGatewayId"},
		{"sg-", "EC2::SecurityGroup", "SecurityGroup", "groupId"},
		{"acl-", "EC2::NetworkAcl", "NetworkAcl", "networkAclId"},
		{"pcx-", "EC2::VPCPeeringConnection", "VpcPeeringConnection", "vpcPeeringConnectionId"},
		{"vol-", "EC2::Volume", "Volume", "volumeId"},
		{"snap-", "EC2::Snapshot", "Snapshot", "snapshotId"},
		{"eni-", "EC2::NetworkInterface", "NetworkInterface", "networkInterfaceId"},
		{"lt-", "EC2::LaunchTemplate", "LaunchTemplate", "launchTemplateId"},
		{"key-", "EC2::KeyPair", "KeyPair", "keyPairId"},
		{"i-", "EC2::Instance", "", ""},
		{"ami-", "EC2::Image", "", ""},
		{"sgr-", "EC2::SecurityGroupRule", "", ""},
		{"eipalloc-", "EC2::EIP", "", ""},
		{"vpce-", "EC2::VPCEndpoint", "", ""},
	}
}

// kindOfID returns the kind of an ID of EC2; "" for an unknown one.
func kindOfID(id string) string {
	all := ec2Kinds()
	if i := slices.IndexFunc(all, func(k ec2Kind) bool { return strings.HasPrefix(id, k.prefix) }); i >= 0 {
		return all[i].kind
	}
	return ""
}

// lifecycle returns the Create and Delete operations of ec2Kinds.
func lifecycle() map[string][]effect {
	all := map[string][]effect{}
	for _, k := range ec2Kinds() {
		if k.noun == "" {
			continue
		}
		// The answer has the new resource, or only its ID.
		element := strings.ToLower(k.noun[:1]) + k.noun[1:]
		all["Create"+k.noun] = []effect{created(k.kind, "{<"+element+"."+k.param+"|<CreateLaunchTemplateResponse.launchTemplate.launchTemplateId|<CreateNatGatewayResponse.natGateway.natGatewayId|<"+k.param+"}")}
		all["Delete"+k.noun] = []effect{deleted(k.kind, "{"+k.param+"|<"+k.param+"|DeleteLaunchTemplateRequest.LaunchTemplateId|DeleteNatGatewayRequest.NatGatewayId}")}
	}
	return all
}

const (
	tagKeys  = "tagSet.items.key>tags.* tagSet.items.key>tags_all.*"
	groupOf  = "{groupId}"
	aclEntry = "{networkAclId}:{ruleNumber}:{egress}"
	routeOf  = "{routeTableId}_{destinationCidrBlock|destinationIpv6CidrBlock|destinationPrefixListId}"
	instance = "instanceType.value>instance_type groupSet>vpc_security_group_ids sourceDestCheck.value>source_dest_check " +
		"disableApiTermination.value>disable_api_termination ebsOptimized.value>ebs_optimized userData>user_data userData>user_data_base64 " +
		"instanceInitiatedShutdownBehavior.value>instance_initiated_shutdown_behavior " +
		"attribute=instanceType>instance_type attribute=groupSet>vpc_security_group_ids attribute=sourceDestCheck>source_dest_check " +
		"attribute=disableApiTermination>disable_api_termination attribute=userData>user_data attribute=userData>user_data_base64"
)

// In the default VPC, an operation on rules that do not exist succeeds, and the answer has them. allFound is
// the condition that it has none, and someFound that it has others, too.
const (
	allFound  = "<unknownIpPermissionSet.items.ipProtocol="
	someFound = allFound + "* <revokedSecurityGroupRuleSet.items.securityGroupRuleId=*"
)

// rules returns the effects of an operation on rules of a security group: e on those whose IDs the
// event has, and byContent on those that it describes by their content.
func rules(direction string, e effect, byContent []effect) []effect {
	group := edited("EC2::SecurityGroup", groupOf, direction)
	return slices.Concat([]effect{e, group.if_(allFound), group.if_(someFound)}, byContent)
}

// described returns the effects on the rules that an operation describes by their content. Such an ID
// is written as the identity "rule" of the source. inside is the path of the parameters: operations
// that EC2 got later are logged with "NameRequest.". If the answer has unknown rules, the event counts for
// none of them.
func described(inside, direction string, e effect) []effect {
	e.kind, e.each = "EC2::SecurityGroupRule", inside+"ipPermissions"
	if inside == "" {
		e.each += ".items"
	}
	group := "{" + inside + "groupId} " + direction
	var all []effect
	for _, target := range [][2]string{{"ipRanges", "cidrIp"}, {"ipv6Ranges", "cidrIpv6"}, {"prefixListIds", "prefixListId"}, {"groups", "groupId"}} {
		to := fmt.Sprintf(" {.%[1]s.items.%[2]s@network|.%[1]s.%[2]s@network}", target[0], target[1])
		e.id = group + " {.ipProtocol@protocol} {.fromPort} {.toPort}" + to
		all = append(all, e.if_(allFound))
		e.id = group + " -1 0 0" + to
		all = append(all, e.if_(allFound+" .ipProtocol=-1"))
	}
	return all
}

// redescribed returns the effects of an operation that sets the descriptions of rules.
func redescribed(direction, request string) []effect {
	e := edited("", "", "description")
	byID := edited("EC2::SecurityGroupRule", "{"+request+".SecurityGroupRuleDescription.SecurityGroupRuleId|securityGroupRuleDescriptions.items.securityGroupRuleId}", "description")
	group := edited("EC2::SecurityGroup", "{groupId|"+request+".GroupId}", direction)
	return slices.Concat([]effect{byID, group}, described("", direction, e), described(request+".", direction, e))
}

// permissions returns the effects of an operation that gives or takes permissions to use a resource of a kind.
func permissions(kind, of, path string) []effect {
	var all []effect
	for _, to := range [][2]string{{"group", "Permission"}, {"userId", "Share"}, {"organizationArn", "Share"}, {"organizationalUnitArn", "Share"}} {
		all = append(all, created(kind+to[1], of+":{"+path+".add.items."+to[0]+"}"), deleted(kind+to[1], of+":{"+path+".remove.items."+to[0]+"}"))
	}
	return all
}

func ec2Events() map[string]map[string][]effect {
	rule := created("EC2::SecurityGroupRule", "{<securityGroupRuleSet.items.securityGroupRuleId}")
	revoked := deleted("EC2::SecurityGroupRule", "{<revokedSecurityGroupRuleSet.items.securityGroupRuleId|securityGroupRuleIds.items.securityGroupRuleId|securityGroupRuleIds.items}")
	modified := "ModifySecurityGroupRulesRequest."
	changed := edited("EC2::SecurityGroupRule", "{.SecurityGroupRuleId}", ".SecurityGroupRule.CidrIpv4>cidr_ipv4 .SecurityGroupRule.CidrIpv6>cidr_ipv6 .SecurityGroupRule.FromPort>from_port "+
		".SecurityGroupRule.ToPort>to_port .SecurityGroupRule.IpProtocol>ip_protocol .SecurityGroupRule.Description>description "+
		".SecurityGroupRule.ReferencedGroupId>referenced_security_group_id .SecurityGroupRule.PrefixListId>prefix_list_id").of(modified + "SecurityGroupRule")
	return map[string]map[string][]effect{"ec2": merge(lifecycle(), map[string][]effect{
		"AuthorizeSecurityGroupIngress":              rules("ingress", rule, nil),
		"AuthorizeSecurityGroupEgress":               rules("egress", rule, nil),
		"RevokeSecurityGroupIngress":                 rules("ingress", revoked, described("", "ingress", deleted("", ""))),
		"RevokeSecurityGroupEgress":                  rules("egress", revoked, described("", "egress", deleted("", ""))),
		"ModifySecurityGroupRules":                   {changed, edited("EC2::SecurityGroup", "{"+modified+"GroupId}", "ingress egress")},
		"UpdateSecurityGroupRuleDescriptionsIngress": redescribed("ingress", "UpdateSecurityGroupRuleDescriptionsIngressRequest"),
		"UpdateSecurityGroupRuleDescriptionsEgress":  redescribed("egress", "UpdateSecurityGroupRuleDescriptionsEgressRequest"),
		"CreateTags": {edited("*", "{resourcesSet.items.resourceId}", tagKeys)},
		"DeleteTags": {edited("*", "{resourcesSet.items.resourceId}", tagKeys)},

		"CreateRoute":                   {created("EC2::Route", routeOf), edited("EC2::RouteTable", "{routeTableId}", "route")},
		"ReplaceRoute":                  {edited("EC2::Route", routeOf, "gatewayId>gateway_id natGatewayId>nat_gateway_id networkInterfaceId>network_interface_id vpcPeeringConnectionId>vpc_peering_connection_id transitGatewayId>transit_gateway_id"), edited("EC2::RouteTable", "{routeTableId}", "route")},
		"DeleteRoute":                   {deleted("EC2::Route", routeOf), edited("EC2::RouteTable", "{routeTableId}", "route")},
		"AssociateRouteTable":           {created("EC2::SubnetRouteTableAssociation", "{<associationId}")},
		"DisassociateRouteTable":        {deleted("EC2::SubnetRouteTableAssociation", "{associationId}")},
		"CreateNetworkAclEntry":         {created("EC2::NetworkAclEntry", aclEntry), edited("EC2::NetworkAcl", "{networkAclId}", "egress=false>ingress egress=true>egress")},
		"ReplaceNetworkAclEntry":        {edited("EC2::NetworkAclEntry", aclEntry, "ruleAction>rule_action cidrBlock>cidr_block ipv6CidrBlock>ipv6_cidr_block aclProtocol>protocol portRange.from>from_port portRange.to>to_port"), edited("EC2::NetworkAcl", "{networkAclId}", "egress=false>ingress egress=true>egress")},
		"DeleteNetworkAclEntry":         {deleted("EC2::NetworkAclEntry", aclEntry), edited("EC2::NetworkAcl", "{networkAclId}", "egress=false>ingress egress=true>egress")},
		"AttachInternetGateway":         {edited("EC2::InternetGateway", "{internetGatewayId}", "vpc_id")},
		"DetachInternetGateway":         {edited("EC2::InternetGateway", "{internetGatewayId}", "vpc_id")},
		"ModifyVpcAttribute":            {edited("EC2::VPC", "{vpcId}", "enableDnsHostnames>enable_dns_hostnames enableDnsSupport>enable_dns_support")},
		"ModifySubnetAttribute":         {edited("EC2::Subnet", "{subnetId}", "mapPublicIpOnLaunch>map_public_ip_on_launch assignIpv6AddressOnCreation>assign_ipv6_address_on_creation")},
		"AllocateAddress":               {created("EC2::EIP", "{<allocationId}")},
		"ReleaseAddress":                {deleted("EC2::EIP", "{allocationId}")},
		"AssociateAddress":              {edited("EC2::EIP", "{allocationId}", "instance network_interface")},
		"CreateVpcEndpoint":             {created("EC2::VPCEndpoint", "{<CreateVpcEndpointResponse.vpcEndpoint.vpcEndpointId|<vpcEndpoint.vpcEndpointId}")},
		"DeleteVpcEndpoints":            {deleted("EC2::VPCEndpoint", "{DeleteVpcEndpointsRequest.VpcEndpointId.content|vpcEndpointId}")},
		"ModifyVpcEndpoint":             {edited("EC2::VPCEndpoint", "{ModifyVpcEndpointRequest.VpcEndpointId}", "ModifyVpcEndpointRequest.PolicyDocument>policy ModifyVpcEndpointRequest.AddRouteTableId>route_table_ids ModifyVpcEndpointRequest.RemoveRouteTableId>route_table_ids")},
		"RunInstances":                  {created("EC2::Instance", "{<instancesSet.items.instanceId}")},
		"TerminateInstances":            {deleted("EC2::Instance", "{instancesSet.items.instanceId}")},
		"ModifyInstanceAttribute":       {edited("EC2::Instance", "{instanceId}", instance)},
		"ModifyInstanceMetadataOptions": {edited("EC2::Instance", "{ModifyInstanceMetadataOptionsRequest.InstanceId|instanceId}", "metadata_options")},
		"ModifyVolume":                  {edited("EC2::Volume", "{ModifyVolumeRequest.VolumeId|volumeId}", "ModifyVolumeRequest.Size>size ModifyVolumeRequest.VolumeType>type ModifyVolumeRequest.Iops>iops size>size volumeType>type iops>iops")},
		"ModifySnapshotAttribute":       permissions("EC2::Snapshot", "{snapshotId}", "createVolumePermission"),
		"ResetSnapshotAttribute":        {deleted("EC2::SnapshotPermission", "{snapshotId}:all")},
		"CreateImage":                   {created("EC2::Image", "{<imageId}")},
		"RegisterImage":                 {created("EC2::Image", "{<imageId}")},
		"DeregisterImage":               {deleted("EC2::Image", "{imageId}")},
		"ModifyImageAttribute":          append(permissions("EC2::Image", "{imageId}", "launchPermission"), edited("EC2::Image", "{imageId}", "description>description")),
		"ResetImageAttribute":           {deleted("EC2::ImagePermission", "{imageId}:all")},
		"CopySnapshot":                  {created("EC2::Snapshot", "{<snapshotId}")},
		"ImportKeyPair":                 {created("EC2::KeyPair", "{<keyPairId}")},
	})}
}

func iamEvents() map[string]map[string][]effect {
	all := map[string][]effect{
		"CreateAccessKey":               {created("IAM::AccessKey", "{<accessKey.accessKeyId}")},
		"DeleteAccessKey":               {deleted("IAM::AccessKey", "{accessKeyId}")},
		"UpdateAccessKey":               {edited("IAM::AccessKey", "{accessKeyId}", "status")},
		"CreateLoginProfile":            {created("IAM::LoginProfile", "{userName}")},
		"DeleteLoginProfile":            {deleted("IAM::LoginProfile", "{userName}")},
		"UpdateLoginProfile":            {edited("IAM::LoginProfile", "{userName}", "passwordResetRequired>password_reset_required password>password")},
		"AddUserToGroup":                {created("IAM::UserToGroupAddition", "{userName}/{groupName}")},
		"RemoveUserFromGroup":           {deleted("IAM::UserToGroupAddition", "{userName}/{groupName}")},
		"CreatePolicy":                  {created("IAM::ManagedPolicy", "{<policy.arn}")},
		"DeletePolicy":                  {deleted("IAM::ManagedPolicy", "{policyArn}")},
		"CreatePolicyVersion":           {edited("IAM::ManagedPolicy", "{policyArn}", "setAsDefault=true>policy setAsDefault=true>administrator")},
		"SetDefaultPolicyVersion":       {edited("IAM::ManagedPolicy", "{policyArn}", "policy administrator")},
		"UpdateAssumeRolePolicy":        {edited("IAM::Role", "{roleName}", "assume_role_policy public")},
		"UpdateRole":                    {edited("IAM::Role", "{roleName}", "description>description maxSessionDuration>max_session_duration")},
		"CreateInstanceProfile":         {created("IAM::InstanceProfile", "{instanceProfileName}")},
		"DeleteInstanceProfile":         {deleted("IAM::InstanceProfile", "{instanceProfileName}")},
		"AddRoleToInstanceProfile":      {edited("IAM::InstanceProfile", "{instanceProfileName}", "role")},
		"RemoveRoleFromInstanceProfile": {edited("IAM::InstanceProfile", "{instanceProfileName}", "role")},
		"CreateOpenIDConnectProvider":   {created("IAM::OIDCProvider", "{<openIDConnectProviderArn}")},
		"DeleteOpenIDConnectProvider":   {deleted("IAM::OIDCProvider", "{openIDConnectProviderArn}")},
		"CreateSAMLProvider":            {created("IAM::SAMLProvider", "{<sAMLProviderArn}")},
		"DeleteSAMLProvider":            {deleted("IAM::SAMLProvider", "{sAMLProviderArn}")},
		"UpdateAccountPasswordPolicy":   {put("IAM::AccountPasswordPolicy", "iam-account-password-policy")},
		"DeleteAccountPasswordPolicy":   {deleted("IAM::AccountPasswordPolicy", "iam-account-password-policy")},
	}
	for _, of := range []struct{ kind, param string }{{"User", "userName"}, {"Group", "groupName"}, {"Role", "roleName"}} {
		name, kind := "{"+of.param+"}", "IAM::"+of.kind
		inside, attached := kind+"Policy", kind+"PolicyAttachment"
		all["Create"+of.kind] = []effect{created(kind, name)}
		all["Delete"+of.kind] = []effect{deleted(kind, name)}
		all["Tag"+of.kind] = []effect{edited(kind, name, "tags.key>tags.* tags.key>tags_all.*")}
		all["Untag"+of.kind] = []effect{edited(kind, name, "tagKeys>tags.* tagKeys>tags_all.*")}
		all["Put"+of.kind+"Policy"] = []effect{put(inside, name+":{policyName}"), edited(kind, name, "inline_policy")}
		all["Delete"+of.kind+"Policy"] = []effect{deleted(inside, name+":{policyName}"), edited(kind, name, "inline_policy")}
		all["Attach"+of.kind+"Policy"] = []effect{created(attached, name+"/{policyArn}"), edited(kind, name, "managed_policy_arns")}
		all["Detach"+of.kind+"Policy"] = []effect{deleted(attached, name+"/{policyArn}"), edited(kind, name, "managed_policy_arns")}
		if of.kind != "Group" {
			all["Put"+of.kind+"PermissionsBoundary"] = []effect{edited(kind, name, "permissions_boundary")}
			all["Delete"+of.kind+"PermissionsBoundary"] = []effect{edited(kind, name, "permissions_boundary")}
		}
	}
	// A renamed user has another ID: the old one is gone by it.
	all["UpdateUser"] = []effect{deleted("IAM::User", "{userName}").if_("newUserName=*"), created("IAM::User", "{newUserName}").if_("newUserName=*")}
	return map[string]map[string][]effect{"iam": all}
}
