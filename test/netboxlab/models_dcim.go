package netboxlab

// dcimModels are the tables of the DCIM models, in a syntax that model.go parses. A line that
// is not indented has an endpoint, its model, the ID of its content type, the version that
// introduced it, and its display name. The fields follow, indented:
//
//	name!        text that has to be given     slug!^      and is unique
//	facility     text, "" where none           serial?     null where none
//	vid#         whole number                  vcpus.2     number with 2 decimals
//	enabled~true yes or no                     status:=on|off  a choice, of these
//	site>app.m   reference; >> deleted with it, >| protects it from deletion
//	asns*app.m   references                    tags, custom_fields: as such
//	scope@       any object: scope_type, scope_id, and scope, or the name in =name;
//	             @@ deleted with it
//	data{}       any JSON                      ports[]     a list
//	types%       names of models               ends&       a cable's ends
//	color'000    text, 000 where none
//	x=count:m.f  how many objects of m refer by f
//	x=           computed by the code
//
// "=5" is the value in a new object; "/4.5" is the version that introduced a field.
// In parentheses are the fields that references to it have, in quotes its display name.
const dcimModels = `
dcim/regions dcim.region 86 region
	name! slug!^ parent>>dcim.region description owner/4.5>users.owner comments/4.3 tags custom_fields
	site_count=count:dcim.site.region _depth=0 (name slug description site_count _depth)
dcim/site-groups dcim.sitegroup 87 site group
	name! slug!^ parent>>dcim.sitegroup description owner/4.5>users.owner comments/4.3 tags custom_fields
	site_count=count:dcim.site.group _depth=0 (name slug description site_count _depth)
dcim/sites dcim.site 6 site
	name!^ slug!^ status:=active|planned|staging|decommissioning|retired region>dcim.region group>dcim.sitegroup
	tenant>|tenancy.tenant facility time_zone? description physical_address shipping_address latitude.6 longitude.6
	owner/4.5>users.owner comments asns*ipam.asn tags custom_fields
	circuit_count=0 prefix_count=0
	device_count=count:dcim.device.site virtualmachine_count=count:virtualization.virtualmachine.site
	vlan_count=count:ipam.vlan.site rack_count=count:dcim.rack.site (name slug description)
dcim/locations dcim.location 88 location
	name! slug! site>>!dcim.site parent>>dcim.location status:=active tenant>|tenancy.tenant facility description
	owner/4.5>users.owner comments/4.3 tags custom_fields
	rack_count=count:dcim.rack.location device_count=count:dcim.device.location _depth=0 (name slug description rack_count _depth)
dcim/rack-roles dcim.rackrole 83 rack role
	name!^ slug!^ color description owner/4.5>users.owner comments/4.5 tags custom_fields
	rack_count=count:dcim.rack.role (name slug description)
dcim/racks dcim.rack 84 rack
	name! facility_id? site>|!dcim.site location>dcim.location tenant>|tenancy.tenant status:=active role>|dcim.rackrole
	serial asset_tag? form_factor: width:#=19 u_height#=42 starting_unit#=1 weight.2 max_weight# weight_unit:
	desc_units~false rack_type/4.1=null group/4.6=null outer_width# outer_height/4.3# outer_depth# outer_unit: mounting_depth# airflow/4.1:
	description owner/4.5>users.owner comments tags custom_fields
	device_count=count:dcim.device.rack (name description)
dcim/manufacturers dcim.manufacturer 72 manufacturer
	name!^ slug!^ description owner/4.5>users.owner comments/4.5 tags custom_fields
	devicetype_count=count:dcim.devicetype.manufacturer (name slug description)
dcim/platforms dcim.platform 75 platform
	name!^ slug!^ parent/4.4>>dcim.platform manufacturer>dcim.manufacturer config_template>extras.configtemplate
	description owner/4.5>users.owner comments/4.5 tags custom_fields
	device_count=count:dcim.device.platform virtualmachine_count=count:virtualization.virtualmachine.platform
	_depth/4.4=0 (name slug description device_count virtualmachine_count _depth)
dcim/device-roles dcim.devicerole 74 device role
	name!^ slug!^ color'9e9e9e vm_role~true config_template>extras.configtemplate parent/4.3>>dcim.devicerole description
	owner/4.5>users.owner comments/4.3 tags custom_fields
	device_count=count:dcim.device.role virtualmachine_count=count:virtualization.virtualmachine.role
	_depth/4.3=0 (name slug description device_count virtualmachine_count _depth)
dcim/device-types dcim.devicetype 73 device type "{model}"
	manufacturer>|!dcim.manufacturer default_platform>dcim.platform model! slug!^ part_number u_height.1=1
	exclude_from_utilization~false is_full_depth~true subdevice_role: airflow: front_image=null rear_image=null weight.2 weight_unit:
	description owner/4.5>users.owner comments tags custom_fields
	device_count=count:dcim.device.device_type (manufacturer model slug description device_count)
dcim/devices dcim.device 11 device "{name}[ ({asset_tag})]"
	name? device_type>|!dcim.devicetype role>|!dcim.devicerole tenant>|tenancy.tenant platform>dcim.platform serial
	asset_tag? site>|!dcim.site location>|dcim.location rack>|dcim.rack position.1 face: latitude.6 longitude.6
	parent_device=null status:=active|offline|planned|staged|failed|inventory|decommissioning airflow: primary_ip=
	primary_ip4>ipam.ipaddress primary_ip6>ipam.ipaddress oob_ip>ipam.ipaddress cluster>virtualization.cluster
	virtual_chassis>dcim.virtualchassis vc_position# vc_priority# description owner/4.5>users.owner comments
	config_template>extras.configtemplate config_context= local_context_data{} tags custom_fields
	interface_count=count:dcim.interface.device console_port_count=count:dcim.consoleport.device
	power_port_count=count:dcim.powerport.device inventory_item_count=count:dcim.inventoryitem.device (name description)
dcim/interfaces dcim.interface 7 interface
	device>>!dcim.device module>dcim.module name! label type:!=other enabled~true parent>dcim.interface
	bridge>dcim.interface lag>dcim.interface mtu# mac_address= primary_mac_address/4.2>dcim.macaddress mac_addresses/4.2=
	speed# duplex: wwn? mgmt_only~false description mode: untagged_vlan>ipam.vlan tagged_vlans*ipam.vlan
	qinq_svlan/4.2>ipam.vlan mark_connected~false cable= cable_end= link_peers=[] link_peers_type=null connected_endpoints=null
	connected_endpoints_type=null connected_endpoints_reachable=null vdcs/3.4=[] bridge_interfaces/4.2=[] rf_role: rf_channel: tx_power# poe_mode: poe_type:
	vlan_translation_policy/4.2=null wireless_link=null wireless_lans=[] l2vpn_termination=null vrf>ipam.vrf
	owner/4.5>users.owner tags custom_fields count_ipaddresses=count:ipam.ipaddress.assigned_object _occupied=
	(device name description cable _occupied)
dcim/mac-addresses/4.2 dcim.macaddress 78 MAC address "{mac_address}"
	mac_address! assigned_object@@ description owner/4.5>users.owner comments tags custom_fields (mac_address description)
dcim/console-ports dcim.consoleport 43 console port
	device>>!dcim.device module>dcim.module name! label type: speed:# description mark_connected~false cable= cable_end=
	link_peers=[] link_peers_type=null connected_endpoints=null owner/4.5>users.owner tags custom_fields _occupied= (device name description cable _occupied)
dcim/power-ports dcim.powerport 45 power port
	device>>!dcim.device module>dcim.module name! label type: maximum_draw# allocated_draw# description mark_connected~false
	cable= cable_end= link_peers=[] link_peers_type=null connected_endpoints=null owner/4.5>users.owner tags custom_fields _occupied= (device name description cable _occupied)
dcim/inventory-item-roles dcim.inventoryitemrole 52 inventory item role
	name!^ slug!^ color'9e9e9e description owner/4.5>users.owner comments/4.5 tags custom_fields (name slug description)
dcim/inventory-items dcim.inventoryitem 53 inventory item
	device>>!dcim.device parent>>dcim.inventoryitem name! label status/4.2:=active role>|dcim.inventoryitemrole
	manufacturer>|dcim.manufacturer part_id serial asset_tag? discovered~false description component@
	owner/4.5>users.owner tags custom_fields _depth=0 (device name description)
dcim/cables dcim.cable 55 cable "#{id}"
	type profile/4.5: bundle/4.6=null a_terminations& b_terminations& status:=connected|planned|decommissioning tenant>|tenancy.tenant label color
	length.2 length_unit: description owner/4.5>users.owner comments tags custom_fields (label description)
dcim/virtual-chassis dcim.virtualchassis 76 virtual chassis
	name! domain master>dcim.device description owner/4.5>users.owner comments tags custom_fields
	member_count=count:dcim.device.virtual_chassis (name master description)
dcim/power-panels dcim.powerpanel 79 power panel
	site>|!dcim.site location>|dcim.location name! description owner/4.5>users.owner comments tags custom_fields (name description)
dcim/modules dcim.module 71 module "{serial}"
	device>>!dcim.device serial asset_tag? status:=active description comments tags custom_fields (device serial)
`
