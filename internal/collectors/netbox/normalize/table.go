package normalize

import "github.com/driftd/driftd/internal/collectors/table"

// The tables hold every kind for which the Terraform provider e-breuninger/netbox has a
// resource, and the kinds that those refer to. Field names are NetBox's.

const (
	reach  = "decides what is reached, and by whom"
	rights = "decides who may do what"
)

// largest returns the kinds with the most objects in large installations.
func largest() []entry {
	return []entry{
		{model: "virtualization.virtualmachine", path: "virtualization/virtual-machines", refers: "role=dcim.devicerole",
			fields: table.Join(
				plain().Of("name status start_on_boot site cluster device role tenant platform serial vcpus memory primary_ip4 primary_ip6 config_template virtual_machine_type"),
				plain().Derived().Of("disk"), verbatim().Of("local_context_data")),
			keys: "name={name}@{cluster|site}", legacy: []legacy{gigabytes("disk")}},
		{model: "virtualization.vminterface", path: "virtualization/interfaces",
			fields: table.Join(plain().Of("name virtual_machine enabled parent bridge mtu primary_mac_address"), mac().Of("mac_address"),
				set().Derived().Of("mac_addresses"), vlanFields()),
			keys: "name={name}@{virtual_machine}"},
		{model: "ipam.ipaddress", path: "ipam/ip-addresses",
			fields: table.Join(address().Medium(reach).Of("address"), plain().Of("vrf tenant status role nat_inside"),
				plain().Medium(reach).Of("assigned_object_type assigned_object_id dns_name")),
			namePatterns: "{address}", keys: "name={address}@{vrf}"},
		{model: "dcim.interface", path: "dcim/interfaces",
			fields: table.Join(
				plain().Of("device module name label type enabled parent bridge lag mtu primary_mac_address speed duplex wwn mgmt_only rf_role rf_channel rf_channel_frequency rf_channel_width tx_power poe_mode poe_type mark_connected cable"),
				set().Of("vdcs wireless_lans"), mac().Of("mac_address"), set().Derived().Of("mac_addresses"), vlanFields()),
			keys: "name={name}@{device}"},
		{model: "dcim.macaddress", path: "dcim/mac-addresses", since: Version{4, 2},
			fields:       table.Join(mac().Of("mac_address"), plain().Of("assigned_object_type assigned_object_id")),
			namePatterns: "{mac_address}", keys: "name={mac_address}@{assigned_object_id}"},
		{model: "virtualization.virtualdisk", path: "virtualization/virtual-disks",
			fields: plain().Of("name virtual_machine size"), keys: "name={name}@{virtual_machine}", legacy: []legacy{gigabytes("size")}},
		{model: "dcim.device", path: "dcim/devices", refers: "role=dcim.devicerole",
			fields: table.Join(
				plain().Of("name device_type role tenant platform serial asset_tag site location rack position face latitude longitude status airflow primary_ip4 primary_ip6 oob_ip cluster virtual_chassis vc_position vc_priority config_template"),
				verbatim().Of("local_context_data")),
			namePatterns: "{name};{asset_tag};{serial}", keys: "name={name}@{site}", legacy: []legacy{renamed(Version{4, 0}, "device_role", "role")}},
		{model: "ipam.prefix", path: "ipam/prefixes", refers: "role=ipam.role",
			fields: table.Join(address().Medium(reach).Of("prefix"), plain().Medium(reach).Of("vrf vlan scope_type scope_id"),
				plain().Of("tenant status role is_pool mark_utilized")),
			namePatterns: "{prefix}", keys: "name={prefix}@{vrf}", legacy: []legacy{siteToScope()}},
		{model: "dcim.cable", path: "dcim/cables",
			fields: table.Join(plain().Of("type status profile tenant bundle label length length_unit"), terminations().Of("a_terminations b_terminations"),
				plain().Low().Of("color")),
			namePatterns: "{label}", keys: "-"},
	}
}

// common returns the fields that most kinds have.
func common() table.Fields {
	return table.Join(plain().Low().Of("description comments"), plain().Of("owner"), tags().Of("tags"), custom().Of("custom_fields"))
}

// vlanFields returns the fields of an interface that select its VLANs and its VRF.
func vlanFields() table.Fields {
	const networks = "decides which networks it is in"
	return table.Join(plain().Medium(networks).Of("mode untagged_vlan qinq_svlan vrf"), set().Medium(networks).Of("tagged_vlans"),
		plain().Of("vlan_translation_policy"))
}

// templateFields returns the fields of a template.
func templateFields() table.Fields {
	return table.Join(verbatim().Of("environment_params"),
		plain().Of("template_code mime_type file_name file_extension as_attachment auto_sync_enabled data_source data_path"))
}

func virtualization() []entry {
	return []entry{
		{model: "virtualization.cluster", path: "virtualization/clusters", refers: "type=virtualization.clustertype group=virtualization.clustergroup", fields: plain().Of("name type group status tenant scope_type scope_id"), legacy: []legacy{siteToScope()}},
		{model: "virtualization.clustergroup", path: "virtualization/cluster-groups", fields: plain().Of("name slug")},
		{model: "virtualization.clustertype", path: "virtualization/cluster-types", fields: plain().Of("name slug")},
		{model: "virtualization.virtualmachinetype", path: "virtualization/virtual-machine-types", since: Version{4, 6},
			fields: plain().Of("name slug default_platform default_vcpus default_memory")},
	}
}

func ipam() []entry {
	return []entry{
		{model: "ipam.iprange", path: "ipam/ip-ranges", refers: "role=ipam.role",
			fields: table.Join(address().Of("start_address end_address"), plain().Derived().Of("size"),
				plain().Of("vrf tenant status role mark_populated mark_utilized")),
			namePatterns: "{start_address}-{end_address}", keys: "name={start_address}-{end_address}@{vrf}"},
		{model: "ipam.vlan", path: "ipam/vlans", refers: "group=ipam.vlangroup role=ipam.role", fields: table.Join(plain().Of("site group name tenant status role qinq_role qinq_svlan"),
			plain().Medium(reach).Of("vid")),
			namePatterns: "{vid} {name}", keys: "name={vid}@{group|site}"},
		{model: "ipam.vlangroup", path: "ipam/vlan-groups", fields: table.Join(plain().Of("name slug tenant scope_type scope_id"),
			bag().Of("vid_ranges")), legacy: []legacy{vidRanges()}},
		{model: "ipam.vlantranslationpolicy", path: "ipam/vlan-translation-policies", since: Version{4, 2}, fields: plain().Of("name")},
		{model: "ipam.vlantranslationrule", path: "ipam/vlan-translation-rules", since: Version{4, 2}, fields: plain().Of("policy local_vid remote_vid"),
			namePatterns: "{local_vid} to {remote_vid}", keys: "name={local_vid}@{policy}"},
		{model: "ipam.vrf", path: "ipam/vrfs", fields: table.Join(plain().Of("name rd tenant enforce_unique"),
			set().Of("import_targets export_targets")), keys: "rd={rd} name={name}"},
		{model: "ipam.routetarget", path: "ipam/route-targets", fields: plain().Of("name tenant")},
		{model: "ipam.aggregate", path: "ipam/aggregates", fields: table.Join(address().Of("prefix"),
			plain().Of("rir tenant date_added")), namePatterns: "{prefix}", keys: "name={prefix}"},
		{model: "ipam.rir", path: "ipam/rirs", fields: plain().Of("name slug is_private")},
		{model: "ipam.asn", path: "ipam/asns", refers: "role=ipam.role", fields: plain().Of("asn rir role tenant"), namePatterns: "AS{asn}", keys: "name={asn}"},
		{model: "ipam.asnrange", path: "ipam/asn-ranges", fields: plain().Of("name slug rir start end tenant")},
		{model: "ipam.role", path: "ipam/roles", fields: plain().Of("name slug weight")},
		{model: "ipam.service", path: "ipam/services", fields: table.Join(plain().Of("name protocol parent_object_type parent_object_id"),
			set().Of("ports ipaddresses")),
			keys: "name={name}@{parent_object_id}", legacy: []legacy{serviceParent()}},
		{model: "ipam.servicetemplate", path: "ipam/service-templates", fields: table.Join(plain().Of("name protocol"), set().Of("ports"))},
		{model: "ipam.fhrpgroup", path: "ipam/fhrp-groups", fields: table.Join(plain().Of("name protocol group_id auth_type"),
			table.Secret().Of("auth_key")),
			namePatterns: "{name};{protocol} {group_id}", keys: "name={group_id}@{protocol}"},
		{model: "ipam.fhrpgroupassignment", path: "ipam/fhrp-group-assignments", refers: "group=ipam.fhrpgroup", fields: plain().Of("group interface_type interface_id priority"),
			keys: "name={group}@{interface_type}/{interface_id}"},
	}
}

func tenancy() []entry {
	return []entry{
		{model: "tenancy.tenant", path: "tenancy/tenants", refers: "group=tenancy.tenantgroup", fields: plain().Of("name slug group")},
		{model: "tenancy.tenantgroup", path: "tenancy/tenant-groups", fields: plain().Of("name slug parent")},
		{model: "tenancy.contact", path: "tenancy/contacts", refers: "groups=tenancy.contactgroup", fields: table.Join(set().Of("groups"),
			plain().Of("name title phone email address link")), legacy: []legacy{contactGroups()}},
		{model: "tenancy.contactgroup", path: "tenancy/contact-groups", fields: plain().Of("name slug parent")},
		{model: "tenancy.contactrole", path: "tenancy/contact-roles", fields: plain().Of("name slug")},
		{model: "tenancy.contactassignment", path: "tenancy/contact-assignments", refers: "role=tenancy.contactrole", fields: plain().Of("object_type object_id contact role priority"),
			keys: "name={contact}@{object_type}/{object_id}/{role}", legacy: []legacy{renamed(Version{4, 0}, "content_type", "object_type")}},
	}
}

// objectTypes returns the older name of the models of a definition, before 4.0.
func objectTypes() []legacy { return []legacy{renamed(Version{4, 0}, "content_types", "object_types")} }

func extras() []entry {
	return []entry{
		{model: "extras.tag", path: "extras/tags", fields: table.Join(plain().Of("name slug weight"), plain().Low().Of("color"), set().Of("object_types"))},
		{model: CustomField, path: "extras/custom-fields",
			fields: table.Join(set().Of("object_types"),
				plain().Of("type related_object_type name label group_name required unique search_weight filter_logic ui_visible ui_editable is_cloneable weight validation_minimum validation_maximum validation_regex choice_set"),
				verbatim().Of("default related_object_filter validation_schema")),
			legacy: append([]legacy{renamed(Version{4, 0}, "object_type", "related_object_type")}, objectTypes()...), highReason: "decides what every object of these models holds"},
		{model: "extras.customfieldchoiceset", path: "extras/custom-field-choice-sets",
			fields: table.Join(plain().Of("name base_choices extra_choices order_alphabetically"), verbatim().Of("choice_colors"))},
		{model: "extras.configcontext", path: "extras/config-contexts", refers: "profile=extras.configcontextprofile roles=dcim.devicerole",
			fields: table.Join(plain().Of("name weight profile is_active data_source data_path"),
				set().Of("regions site_groups sites locations device_types roles platforms cluster_types cluster_groups clusters tenant_groups tenants"),
				verbatim().Of("data"))},
		{model: "extras.configcontextprofile", path: "extras/config-context-profiles", since: Version{4, 4}, fields: table.Join(
			plain().Of("name data_source data_path"), verbatim().Of("schema"))},
		{model: "extras.configtemplate", path: "extras/config-templates", fields: table.Join(plain().Of("name debug"), templateFields())},
		{model: "extras.exporttemplate", path: "extras/export-templates", fields: table.Join(set().Of("object_types"), plain().Of("name"),
			templateFields()), legacy: objectTypes()},
		{model: "extras.webhook", path: "extras/webhooks",
			fields: table.Join(plain().Of("name http_method http_content_type body_template ca_file_path"),
				urlForm().High("decides who is notified of changes").Of("payload_url"), table.Secret().Of("additional_headers secret"),
				plain().High("decides who is notified of changes").Of("ssl_verification"))},
		{model: "extras.eventrule", path: "extras/event-rules",
			fields: table.Join(set().Of("object_types event_types"), plain().Of("name enabled action_type action_object_type action_object_id"),
				verbatim().Of("conditions action_data")),
			legacy: append(objectTypes(), eventRule())},
		{model: "extras.customlink", path: "extras/custom-links",
			fields: table.Join(set().Of("object_types"),
				plain().Of("name enabled link_text link_url weight group_name button_class new_window")), legacy: objectTypes()},
		{model: "extras.savedfilter", path: "extras/saved-filters",
			fields: table.Join(set().Of("object_types"), plain().Of("name slug user weight enabled shared"), verbatim().Of("parameters")), legacy: objectTypes()},
		{model: "extras.notificationgroup", path: "extras/notification-groups", since: Version{4, 1}, refers: "groups=users.group", fields: table.Join(plain().Of("name"),
			set().Of("groups users"))},
		{model: "core.datasource", path: "core/data-sources", fields: table.Join(plain().Of("name type enabled sync_interval ignore_rules"),
			urlForm().Of("source_url"), table.Secret().Of("parameters"))},
	}
}

// CustomField is the model of custom field definitions.
const CustomField = "extras.customfield"

func users() []entry {
	return []entry{
		{model: "users.user", path: "users/users", refers: "groups=users.group", fields: table.Join(plain().Of("username first_name last_name email is_active"),
			set().Of("groups permissions")),
			namePatterns: "{username}", keys: "name={username}", unlogged: true, highReason: rights},
		{model: "users.group", path: "users/groups", fields: table.Join(plain().Of("name"), set().Of("permissions")), unlogged: true, highReason: rights},
		{model: Permission, path: "users/permissions", refers: "groups=users.group", fields: table.Join(plain().Of("name enabled"), set().Of("object_types actions groups users"),
			verbatim().Of("constraints")),
			unlogged: true, highReason: rights},
		// The keys of tokens are not requested: driftd does not compare them.
		{model: "users.token", path: "users/tokens", fields: table.Join(plain().Of("user version enabled expires write_enabled"), set().Of("allowed_ips")),
			namePatterns: "{description}", keys: "-", unlogged: true, highReason: rights},
		{model: "users.owner", path: "users/owners", since: Version{4, 5}, refers: "group=users.ownergroup", fields: table.Join(plain().Of("name group"), set().Of("user_groups users"))},
		{model: "users.ownergroup", path: "users/owner-groups", since: Version{4, 5}, fields: plain().Of("name")},
	}
}

// Permission is the model of object permissions.
const Permission = "users.objectpermission"
