package shape

import "github.com/driftd/driftd/internal/model"

// The tables hold every kind that the Terraform provider e-breuninger/netbox has
// a type for, and what belongs to those. Fields are NetBox's own.

const (
	reach  = "decides what is reached, and by whom"
	rights = "decides who may do what"
)

// placed are the fields that say where something lies.
const placed = " scope_type scope_id"

// crowds are the kinds that large installations have most objects of.
func crowds() []entry {
	return []entry{
		{model: "virtualization.virtualmachine", path: "virtualization/virtual-machines",
			fields: "name status start_on_boot site cluster device role tenant platform serial vcpus memory disk:derived primary_ip4 primary_ip6 config_template virtual_machine_type local_context_data:json",
			keys:   "name={name}@{cluster|site}", older: []older{gigabytes("disk")}},
		{model: "virtualization.vminterface", path: "virtualization/interfaces",
			fields: "name virtual_machine enabled parent bridge mtu mac_address:mac primary_mac_address mac_addresses:macs " + switched,
			keys:   "name={name}@{virtual_machine}", rates: vlans()},
		{model: "ipam.ipaddress", path: "ipam/ip-addresses",
			fields: "address:address vrf tenant status role assigned_object_type assigned_object_id nat_inside dns_name",
			called: "{address}", keys: "name={address}@{vrf}",
			rates: []rate{{"address assigned_object_type assigned_object_id dns_name", model.Medium, reach}}},
		{model: "dcim.interface", path: "dcim/interfaces",
			fields: "device module name label type enabled parent bridge lag vdcs:set mtu mac_address:mac primary_mac_address mac_addresses:macs speed duplex wwn mgmt_only rf_role rf_channel rf_channel_frequency rf_channel_width tx_power poe_mode poe_type mark_connected cable wireless_lans:set " + switched,
			keys:   "name={name}@{device}", rates: vlans()},
		{model: "dcim.macaddress", path: "dcim/mac-addresses", since: Version{4, 2},
			fields: "mac_address:mac assigned_object_type assigned_object_id",
			called: "{mac_address}", keys: "name={mac_address}@{assigned_object_id}"},
		{model: "virtualization.virtualdisk", path: "virtualization/virtual-disks",
			fields: "name virtual_machine size", keys: "name={name}@{virtual_machine}", older: []older{gigabytes("size")}},
		{model: "dcim.device", path: "dcim/devices",
			fields: "name device_type role tenant platform serial asset_tag site location rack position face latitude longitude status airflow primary_ip4 primary_ip6 oob_ip cluster virtual_chassis vc_position vc_priority config_template local_context_data:json",
			called: "{name};{asset_tag};{serial}", keys: "name={name}@{site}", older: []older{renamed(Version{4, 0}, "device_role", "role")}},
		{model: "ipam.prefix", path: "ipam/prefixes",
			fields: "prefix:address vrf tenant vlan status role is_pool mark_utilized" + placed,
			called: "{prefix}", keys: "name={prefix}@{vrf}", older: []older{sited()},
			rates: []rate{{"prefix vrf vlan scope_type scope_id", model.Medium, reach}}},
		{model: "dcim.cable", path: "dcim/cables",
			fields: "type a_terminations:ends b_terminations:ends status profile tenant bundle label color length length_unit",
			called: "{label}", keys: "-"},
	}
}

// switched are the fields of an interface that say which networks it is in.
const switched = "mode untagged_vlan tagged_vlans:set qinq_svlan vlan_translation_policy vrf"

func vlans() []rate {
	return []rate{{"mode untagged_vlan tagged_vlans qinq_svlan vrf", model.Medium, "decides which networks it is in"}}
}

func virtualization() []entry {
	return []entry{
		{model: "virtualization.cluster", path: "virtualization/clusters", fields: "name type group status tenant" + placed, older: []older{sited()}},
		{model: "virtualization.clustergroup", path: "virtualization/cluster-groups", fields: "name slug"},
		{model: "virtualization.clustertype", path: "virtualization/cluster-types", fields: "name slug"},
		{model: "virtualization.virtualmachinetype", path: "virtualization/virtual-machine-types", since: Version{4, 6},
			fields: "name slug default_platform default_vcpus default_memory"},
	}
}

func ipam() []entry {
	return []entry{
		{model: "ipam.iprange", path: "ipam/ip-ranges",
			fields: "start_address:address end_address:address size:derived vrf tenant status role mark_populated mark_utilized",
			called: "{start_address}-{end_address}", keys: "name={start_address}-{end_address}@{vrf}"},
		{model: "ipam.vlan", path: "ipam/vlans", fields: "site group vid name tenant status role qinq_role qinq_svlan",
			called: "{vid} {name}", keys: "name={vid}@{group|site}", rates: []rate{{"vid", model.Medium, reach}}},
		{model: "ipam.vlangroup", path: "ipam/vlan-groups", fields: "name slug vid_ranges:bag tenant" + placed, older: []older{vidRanges()}},
		{model: "ipam.vlantranslationpolicy", path: "ipam/vlan-translation-policies", since: Version{4, 2}, fields: "name"},
		{model: "ipam.vlantranslationrule", path: "ipam/vlan-translation-rules", since: Version{4, 2}, fields: "policy local_vid remote_vid",
			called: "{local_vid} to {remote_vid}", keys: "name={local_vid}@{policy}"},
		{model: "ipam.vrf", path: "ipam/vrfs", fields: "name rd tenant enforce_unique import_targets:set export_targets:set", keys: "rd={rd} name={name}"},
		{model: "ipam.routetarget", path: "ipam/route-targets", fields: "name tenant"},
		{model: "ipam.aggregate", path: "ipam/aggregates", fields: "prefix:address rir tenant date_added", called: "{prefix}", keys: "name={prefix}"},
		{model: "ipam.rir", path: "ipam/rirs", fields: "name slug is_private"},
		{model: "ipam.asn", path: "ipam/asns", fields: "asn rir role tenant", called: "AS{asn}", keys: "name={asn}"},
		{model: "ipam.asnrange", path: "ipam/asn-ranges", fields: "name slug rir start end tenant"},
		{model: "ipam.role", path: "ipam/roles", fields: "name slug weight"},
		{model: "ipam.service", path: "ipam/services", fields: "name protocol ports:set parent_object_type parent_object_id ipaddresses:set",
			keys: "name={name}@{parent_object_id}", older: []older{served()}},
		{model: "ipam.servicetemplate", path: "ipam/service-templates", fields: "name protocol ports:set"},
		{model: "ipam.fhrpgroup", path: "ipam/fhrp-groups", fields: "name protocol group_id auth_type auth_key:secret",
			called: "{name};{protocol} {group_id}", keys: "name={group_id}@{protocol}"},
		{model: "ipam.fhrpgroupassignment", path: "ipam/fhrp-group-assignments", fields: "group interface_type interface_id priority",
			keys: "name={group}@{interface_type}/{interface_id}"},
	}
}

func tenancy() []entry {
	return []entry{
		{model: "tenancy.tenant", path: "tenancy/tenants", fields: "name slug group"},
		{model: "tenancy.tenantgroup", path: "tenancy/tenant-groups", fields: "name slug parent"},
		{model: "tenancy.contact", path: "tenancy/contacts", fields: "groups:set name title phone email address link", older: []older{grouped()}},
		{model: "tenancy.contactgroup", path: "tenancy/contact-groups", fields: "name slug parent"},
		{model: "tenancy.contactrole", path: "tenancy/contact-roles", fields: "name slug"},
		{model: "tenancy.contactassignment", path: "tenancy/contact-assignments", fields: "object_type object_id contact role priority",
			keys: "name={contact}@{object_type}/{object_id}/{role}", older: []older{renamed(Version{4, 0}, "content_type", "object_type")}},
	}
}

// typed are the models that a definition speaks of, as versions before 4.0 call
// them.
func typed() []older { return []older{renamed(Version{4, 0}, "content_types", "object_types")} }

const sourced = " data_source data_path"

func extras() []entry {
	const rendered = "environment_params:json template_code mime_type file_name file_extension as_attachment auto_sync_enabled" + sourced
	return []entry{
		{model: "extras.tag", path: "extras/tags", fields: "name slug color weight object_types:set"},
		{model: CustomField, path: "extras/custom-fields",
			fields: "object_types:set type related_object_type name label group_name required unique search_weight filter_logic ui_visible ui_editable is_cloneable default:json related_object_filter:json weight validation_minimum validation_maximum validation_regex validation_schema:json choice_set",
			older:  append([]older{renamed(Version{4, 0}, "object_type", "related_object_type")}, typed()...), why: "decides what every object of these models holds"},
		{model: "extras.customfieldchoiceset", path: "extras/custom-field-choice-sets",
			fields: "name base_choices extra_choices choice_colors:json order_alphabetically"},
		{model: "extras.configcontext", path: "extras/config-contexts",
			fields: "name weight profile is_active regions:set site_groups:set sites:set locations:set device_types:set roles:set platforms:set cluster_types:set cluster_groups:set clusters:set tenant_groups:set tenants:set data:json" + sourced},
		{model: "extras.configcontextprofile", path: "extras/config-context-profiles", since: Version{4, 4}, fields: "name schema:json" + sourced},
		{model: "extras.configtemplate", path: "extras/config-templates", fields: "name debug " + rendered},
		{model: "extras.exporttemplate", path: "extras/export-templates", fields: "object_types:set name " + rendered, older: typed()},
		{model: "extras.webhook", path: "extras/webhooks",
			fields: "name payload_url:url http_method http_content_type additional_headers:secret body_template secret:secret ssl_verification ca_file_path",
			rates:  []rate{{"payload_url ssl_verification", model.High, "decides who is told of changes"}}},
		{model: "extras.eventrule", path: "extras/event-rules",
			fields: "object_types:set name enabled event_types:set conditions:json action_type action_object_type action_object_id action_data:json",
			older:  append(typed(), evented())},
		{model: "extras.customlink", path: "extras/custom-links",
			fields: "object_types:set name enabled link_text link_url weight group_name button_class new_window", older: typed()},
		{model: "extras.savedfilter", path: "extras/saved-filters",
			fields: "object_types:set name slug user weight enabled shared parameters:json", older: typed()},
		{model: "extras.notificationgroup", path: "extras/notification-groups", since: Version{4, 1}, fields: "name groups:set users:set"},
		{model: "core.datasource", path: "core/data-sources", fields: "name type source_url:url enabled sync_interval ignore_rules parameters:secret"},
	}
}

// CustomField is the model of the definitions of custom fields.
const CustomField = "extras.customfield"

func users() []entry {
	return []entry{
		{model: "users.user", path: "users/users", fields: "username first_name last_name email is_active groups:set permissions:set",
			called: "{username}", keys: "name={username}", unlogged: true, why: rights},
		{model: "users.group", path: "users/groups", fields: "name permissions:set", unlogged: true, why: rights},
		{model: Permission, path: "users/permissions", fields: "name enabled object_types:set actions:set constraints:json groups:set users:set",
			unlogged: true, why: rights},
		// Keys of tokens are not asked for: nobody needs them here.
		{model: "users.token", path: "users/tokens", fields: "user version enabled expires write_enabled allowed_ips:set",
			called: "{description}", keys: "-", unlogged: true, why: rights},
		{model: "users.owner", path: "users/owners", since: Version{4, 5}, fields: "name group user_groups:set users:set"},
		{model: "users.ownergroup", path: "users/owner-groups", since: Version{4, 5}, fields: "name"},
	}
}

// Permission is the model of what tokens may do.
const Permission = "users.objectpermission"
