package netboxlab

const virtualizationModels = `
virtualization/cluster-types virtualization.clustertype 140 cluster type
	name!^ slug!^ description owner/4.5>users.owner comments/4.5 tags custom_fields
	cluster_count=count:virtualization.cluster.type (name slug description)
virtualization/cluster-groups virtualization.clustergroup 141 cluster group
	name!^ slug!^ description owner/4.5>users.owner comments/4.5 tags custom_fields
	cluster_count=count:virtualization.cluster.group (name slug description)
virtualization/clusters virtualization.cluster 142 cluster
	name! type>|!virtualization.clustertype group>|virtualization.clustergroup
	status:=active|planned|staging|decommissioning|offline tenant>|tenancy.tenant scope@ description
	owner/4.5>users.owner comments tags custom_fields device_count=count:dcim.device.cluster
	virtualmachine_count=count:virtualization.virtualmachine.cluster allocated_vcpus/4.0= allocated_memory/4.0=
	allocated_disk/4.0= (name description)
virtualization/virtual-machines virtualization.virtualmachine 12 virtual machine
	name! virtual_machine_type/4.6>|virtualization.virtualmachinetype role>|dcim.devicerole
	status:=active|offline|planned|staged|failed|decommissioning|paused start_on_boot/4.5:=off|on|laststate
	site>|dcim.site cluster>|virtualization.cluster device>|dcim.device platform>dcim.platform primary_ip=
	primary_ip4>ipam.ipaddress primary_ip6>ipam.ipaddress vcpus.2 memory# disk# description serial/4.1
	tenant>|tenancy.tenant owner/4.5>users.owner comments tags local_context_data{} config_template>extras.configtemplate
	custom_fields interface_count=count:virtualization.vminterface.virtual_machine
	virtual_disk_count=count:virtualization.virtualdisk.virtual_machine config_context= (name description)
virtualization/virtual-machine-types/4.6 virtualization.virtualmachinetype 143 virtual machine type
	name!^ slug!^ description owner>users.owner comments tags custom_fields (name slug description)
virtualization/interfaces virtualization.vminterface 10 interface
	virtual_machine>>!virtualization.virtualmachine name! enabled~true parent>virtualization.vminterface
	bridge>virtualization.vminterface mtu# mac_address= primary_mac_address/4.2>dcim.macaddress mac_addresses/4.2=
	description mode: untagged_vlan>ipam.vlan tagged_vlans*ipam.vlan qinq_svlan/4.2>ipam.vlan vrf>ipam.vrf
	vlan_translation_policy/4.2=null l2vpn_termination=null owner/4.5>users.owner tags custom_fields
	count_ipaddresses=count:ipam.ipaddress.assigned_object count_fhrp_groups=0
	(virtual_machine name description)
virtualization/virtual-disks virtualization.virtualdisk 144 virtual disk
	virtual_machine>>!virtualization.virtualmachine name! description size#! owner/4.5>users.owner tags custom_fields
	(virtual_machine name description size)
`

const ipamModels = `
ipam/rirs ipam.rir 93 RIR
	name!^ slug!^ is_private~false description owner/4.5>users.owner comments/4.5 tags custom_fields
	aggregate_count=count:ipam.aggregate.rir (name slug description)
ipam/asns ipam.asn 90 ASN "AS{asn}"
	asn#!^ rir>|!ipam.rir tenant>|tenancy.tenant description owner/4.5>users.owner comments tags custom_fields
	site_count=count:dcim.site.asns (asn description)
ipam/aggregates ipam.aggregate 94 aggregate "{prefix}"
	family= prefix! rir>|!ipam.rir tenant>|tenancy.tenant date_added? description owner/4.5>users.owner comments tags
	custom_fields (family prefix description)
ipam/roles ipam.role 95 role
	name!^ slug!^ weight#=1000 description owner/4.5>users.owner comments/4.5 tags custom_fields
	prefix_count=count:ipam.prefix.role vlan_count=count:ipam.vlan.role (name slug description)
ipam/vrfs ipam.vrf 105 VRF "{name}[ ({rd})]"
	name! rd? tenant>|tenancy.tenant enforce_unique~true description owner/4.5>users.owner comments
	import_targets*ipam.routetarget export_targets*ipam.routetarget tags custom_fields
	ipaddress_count=count:ipam.ipaddress.vrf prefix_count=count:ipam.prefix.vrf (name rd description)
ipam/route-targets ipam.routetarget 106 route target
	name!^ tenant>|tenancy.tenant description owner/4.5>users.owner comments tags custom_fields (name description)
ipam/prefixes ipam.prefix 96 prefix "{prefix}"
	family= prefix! vrf>|ipam.vrf scope@ tenant>|tenancy.tenant vlan>|ipam.vlan
	status:=active|container|reserved|deprecated role>ipam.role is_pool~false mark_utilized~false description
	owner/4.5>users.owner comments tags custom_fields children=0 _depth=0 (family prefix description _depth)
ipam/ip-ranges ipam.iprange 97 IP range "{start_address}-{end_address}"
	family= start_address! end_address! size= vrf>|ipam.vrf tenant>|tenancy.tenant status:=active|reserved|deprecated
	role>ipam.role description owner/4.5>users.owner comments tags custom_fields mark_populated/4.3~false
	mark_utilized~false (family start_address end_address description)
ipam/ip-addresses ipam.ipaddress 98 IP address "{address}"
	family= address! vrf>|ipam.vrf tenant>|tenancy.tenant status:=active|reserved|deprecated|dhcp|slaac role:
	assigned_object@@ nat_inside>ipam.ipaddress nat_outside= dns_name description owner/4.5>users.owner comments tags
	custom_fields (family address nat_inside nat_outside dns_name description)
ipam/vlan-groups ipam.vlangroup 101 VLAN group
	name! slug! scope@ vid_ranges/4.2[] tenant/4.2>|tenancy.tenant description owner/4.5>users.owner comments/4.5 tags
	custom_fields total_vlan_ids/4.2=0 utilization="0.0" vlan_count=count:ipam.vlan.group (name slug description)
ipam/vlans ipam.vlan 102 VLAN "{name} ({vid})"
	site>|dcim.site group>|ipam.vlangroup vid#! name! tenant>|tenancy.tenant status:=active|reserved|deprecated
	role>ipam.role description qinq_role/4.2: qinq_svlan/4.2>|ipam.vlan l2vpn_termination=null owner/4.5>users.owner comments tags custom_fields
	prefix_count=count:ipam.prefix.vlan (vid name description)
ipam/fhrp-groups ipam.fhrpgroup 91 FHRP group "{name} {protocol}: {group_id}"
	name protocol! group_id#! auth_type: auth_key description owner/4.5>users.owner comments tags custom_fields
	ip_addresses=[] (protocol group_id description)
ipam/services ipam.service 100 application service
	parent_object@@=parent name! protocol:! ports[]! ipaddresses*ipam.ipaddress description owner/4.5>users.owner comments
	tags custom_fields (name protocol ports description)
`

const otherModels = `
tenancy/tenant-groups tenancy.tenantgroup 131 tenant group
	name!^ slug!^ parent>>tenancy.tenantgroup description owner/4.5>users.owner comments/4.3 tags custom_fields
	tenant_count=count:tenancy.tenant.group _depth=0 (name slug description tenant_count _depth)
tenancy/tenants tenancy.tenant 132 tenant
	name! slug!^ group>tenancy.tenantgroup description owner/4.5>users.owner comments tags custom_fields
	device_count=count:dcim.device.tenant virtualmachine_count=count:virtualization.virtualmachine.tenant
	ipaddress_count=count:ipam.ipaddress.tenant cluster_count=count:virtualization.cluster.tenant site_count=count:dcim.site.tenant (name slug description)
tenancy/contact-groups tenancy.contactgroup 127 contact group
	name! slug!^ parent>>tenancy.contactgroup description owner/4.5>users.owner comments/4.3 tags custom_fields _depth=0
	(name slug description)
tenancy/contact-roles tenancy.contactrole 128 contact role
	name!^ slug!^ description owner/4.5>users.owner comments/4.5 tags custom_fields (name slug description)
tenancy/contacts tenancy.contact 129 contact
	groups*tenancy.contactgroup name! title phone email address link description owner/4.5>users.owner comments tags
	custom_fields (name description)
tenancy/contact-assignments tenancy.contactassignment 130 contact assignment "{contact} -> {object}"
	object@@! contact>|!tenancy.contact role>|tenancy.contactrole priority: tags custom_fields (contact role priority)
extras/tags extras.tag 107 tag
	name!^ slug!^ color'9e9e9e description weight/4.3#=1000 object_types/3.6% tagged_items= (display_url name slug color)
extras/custom-fields extras.customfield 112 custom field "{label|name}"
	object_types%! type:! related_object_type? data_type= name!^ label group_name description required~false
	unique/4.3~false search_weight#=1000 filter_logic:=loose ui_visible/3.7:=always ui_editable/3.7:=yes is_cloneable~false
	default{} weight#=100 validation_minimum# validation_maximum# validation_regex
	choice_set>|extras.customfieldchoiceset owner/4.5>users.owner comments/4.1 (name description)
extras/custom-field-choice-sets extras.customfieldchoiceset 113 custom field choice set
	name!^ description base_choices: extra_choices[] choice_colors/4.6{} order_alphabetically~false choices_count= owner/4.5>users.owner
	(name description choices_count)
extras/config-contexts extras.configcontext 110 config context
	name!^ weight#=1000 description is_active~true regions*dcim.region site_groups*dcim.sitegroup sites*dcim.site
	locations*dcim.location device_types*dcim.devicetype roles*dcim.devicerole platforms*dcim.platform
	cluster_types*virtualization.clustertype cluster_groups*virtualization.clustergroup clusters*virtualization.cluster
	tenant_groups*tenancy.tenantgroup tenants*tenancy.tenant owner/4.5>users.owner tags[] profile/4.4=null data_source=null data_path="" data_file=null data_synced=null data{} (name description)
extras/config-templates extras.configtemplate 111 config template
	name! description environment_params{} template_code! mime_type/4.3 file_name/4.3 file_extension/4.3 as_attachment/4.3~true debug/4.5~false
	data_source=null data_path="" data_file=null auto_sync_enabled~false data_synced=null owner/4.5>users.owner tags (name description)
extras/webhooks extras.webhook 1 webhook
	name!^ description payload_url! http_method'POST http_content_type'application/json additional_headers body_template
	secret ssl_verification~true ca_file_path? custom_fields owner/4.5>users.owner tags (name description)
extras/event-rules extras.eventrule 115 event rule
	object_types%! name!^ enabled~true event_types[] conditions{} action_type:=webhook|script|notification action_object@
	description custom_fields owner/4.5>users.owner tags (name description)
extras/journal-entries extras.journalentry 121 journal entry "{created}"
	assigned_object@@! kind:=info comments! tags custom_fields (created)
vpn/tunnel-groups/3.7 vpn.tunnelgroup 152 tunnel group
	name!^ slug!^ description owner/4.5>users.owner comments/4.5 tags custom_fields (name slug description)
vpn/tunnels/3.7 vpn.tunnel 153 tunnel
	name!^ status:=active|planned|disabled group>|vpn.tunnelgroup encapsulation:! tenant>|tenancy.tenant tunnel_id#
	description owner/4.5>users.owner comments tags custom_fields (name description)
wireless/wireless-lan-groups wireless.wirelesslangroup 155 wireless LAN group
	name!^ slug!^ parent>>wireless.wirelesslangroup description owner/4.5>users.owner comments/4.3 tags custom_fields
	_depth=0 (name slug description)
wireless/wireless-lans wireless.wirelesslan 156 wireless LAN "{ssid}"
	ssid! description group>wireless.wirelesslangroup status:=active vlan>|ipam.vlan scope/4.2@ tenant>|tenancy.tenant
	auth_type: auth_cipher: auth_psk owner/4.5>users.owner comments tags custom_fields (ssid description)
circuits/providers circuits.provider 38 provider
	name!^ slug!^ description owner/4.5>users.owner comments asns*ipam.asn tags custom_fields (name slug description)
circuits/circuit-types circuits.circuittype 34 circuit type
	name!^ slug!^ color description owner/4.5>users.owner comments/4.5 tags custom_fields (name slug description)
circuits/circuits circuits.circuit 9 circuit "{cid}"
	cid! provider>|!circuits.provider type>|!circuits.circuittype status:=active tenant>|tenancy.tenant install_date?
	provider_account=null termination_a=null termination_z=null distance/4.2=null distance_unit/4.2=null termination_date? commit_rate# description owner/4.5>users.owner comments tags custom_fields (cid provider description)
core/object-changes core.objectchange 27 object change
core/object-types core.objecttype 26 object type
users/users users.user 139 user "{username}"
	username!^ first_name last_name email is_active~true date_joined="2026-01-05T08:00:00.000000Z" last_login=null
	groups*users.group permissions= (username)
users/groups users.group 138 group
	name!^ description/4.0 permissions= user_count=count:users.user.groups (name)
users/permissions users.objectpermission 135 permission
	name! description enabled~true object_types%! actions[]! constraints{} groups*users.group users*users.user
	(name description enabled object_types actions)
users/owners/4.5 users.owner 134 owner
	name!^ description tags custom_fields (name description)
`
