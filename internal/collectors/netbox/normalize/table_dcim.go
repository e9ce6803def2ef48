package normalize

import "github.com/driftd/driftd/internal/collectors/table"

func dcim() []entry {
	const frame = "form_factor width u_height starting_unit desc_units outer_width outer_height outer_depth outer_unit weight max_weight weight_unit mounting_depth "
	return []entry{
		{model: "dcim.site", path: "dcim/sites", refers: "group=dcim.sitegroup",
			fields: table.Join(plain().Of("name slug status region group tenant facility time_zone physical_address shipping_address latitude longitude"),
				set().Of("asns"))},
		{model: "dcim.region", path: "dcim/regions", fields: plain().Of("name slug parent")},
		{model: "dcim.sitegroup", path: "dcim/site-groups", fields: plain().Of("name slug parent")},
		{model: "dcim.location", path: "dcim/locations", fields: plain().Of("name slug site parent status tenant facility")},
		{model: "dcim.rack", path: "dcim/racks", refers: "group=dcim.rackgroup role=dcim.rackrole",
			fields: plain().Of(frame + "name facility_id site location group tenant status role serial asset_tag rack_type airflow"),
			keys:   "name={name}@{site}", legacy: []legacy{renamed(Version{4, 1}, "type", "form_factor")}},
		{model: "dcim.rackgroup", path: "dcim/rack-groups", since: Version{4, 6}, fields: plain().Of("name slug")},
		{model: "dcim.rackrole", path: "dcim/rack-roles", fields: table.Join(plain().Of("name slug"), plain().Low().Of("color"))},
		{model: "dcim.racktype", path: "dcim/rack-types", since: Version{4, 1}, fields: plain().Of(frame + "manufacturer model slug"), namePatterns: "{model}"},
		{model: "dcim.rackreservation", path: "dcim/rack-reservations", fields: table.Join(plain().Of("rack status user tenant"),
			set().Of("units")), namePatterns: "{description}", keys: "-"},
		{model: "dcim.manufacturer", path: "dcim/manufacturers", fields: plain().Of("name slug")},
		{model: "dcim.devicerole", path: "dcim/device-roles", fields: table.Join(plain().Of("name slug vm_role config_template parent"),
			plain().Low().Of("color"))},
		{model: "dcim.platform", path: "dcim/platforms", fields: plain().Of("name slug parent manufacturer config_template")},
		{model: "dcim.devicetype", path: "dcim/device-types",
			fields:       plain().Of("manufacturer default_platform model slug part_number u_height exclude_from_utilization is_full_depth subdevice_role airflow weight weight_unit"),
			namePatterns: "{model}"},
		{model: "dcim.moduletype", path: "dcim/module-types", refers: "profile=dcim.moduletypeprofile", fields: table.Join(
			plain().Of("profile manufacturer model part_number airflow weight weight_unit"), verbatim().Of("attributes")),
			namePatterns: "{model}", keys: "name={model}@{manufacturer}"},
		{model: "dcim.moduletypeprofile", path: "dcim/module-type-profiles", since: Version{4, 3}, fields: table.Join(plain().Of("name"),
			verbatim().Of("schema"))},
		{model: "dcim.module", path: "dcim/modules", fields: plain().Of("device module_bay module_type status serial asset_tag"),
			namePatterns: "{serial};{asset_tag}", keys: "name={module_bay}@{device}"},
		{model: "dcim.virtualchassis", path: "dcim/virtual-chassis", fields: plain().Of("name domain master")},
		{model: "dcim.virtualdevicecontext", path: "dcim/virtual-device-contexts",
			fields: plain().Of("name device identifier tenant primary_ip4 primary_ip6 status"), keys: "name={name}@{device}"},
		{model: "dcim.powerpanel", path: "dcim/power-panels", fields: plain().Of("site location name"), keys: "name={name}@{site}"},
		{model: "dcim.powerfeed", path: "dcim/power-feeds",
			fields: plain().Of("power_panel rack name status type supply phase voltage amperage max_utilization mark_connected cable tenant"),
			keys:   "name={name}@{power_panel}"},
		{model: "dcim.cablebundle", path: "dcim/cable-bundles", since: Version{4, 6}, fields: plain().Of("name")},
		{model: "dcim.inventoryitemrole", path: "dcim/inventory-item-roles", fields: table.Join(plain().Of("name slug"), plain().Low().Of("color"))},
	}
}

// components returns the components of devices. The name is unique in the device.
func components() []entry {
	const part, unique = "device name label ", "name={name}@{device}"
	return []entry{
		{model: "dcim.inventoryitem", path: "dcim/inventory-items", refers: "role=dcim.inventoryitemrole",
			fields: plain().Of(part + "parent status role manufacturer part_id serial asset_tag discovered component_type component_id"),
			keys:   "name={name}@{device}/{parent}"},
		{model: "dcim.consoleport", path: "dcim/console-ports", fields: plain().Of(part + "module type speed mark_connected cable"), keys: unique},
		{model: "dcim.consoleserverport", path: "dcim/console-server-ports", fields: plain().Of(part + "module type speed mark_connected cable"), keys: unique},
		{model: "dcim.powerport", path: "dcim/power-ports", fields: plain().Of(part + "module type maximum_draw allocated_draw mark_connected cable"), keys: unique},
		{model: "dcim.poweroutlet", path: "dcim/power-outlets", fields: table.Join(
			plain().Of(part+"module type status power_port feed_leg mark_connected cable"), plain().Low().Of("color")), keys: unique},
		{model: "dcim.frontport", path: "dcim/front-ports", fields: table.Join(plain().Of(part+"module type mark_connected cable"),
			plain().Low().Of("color"), bag().Of("rear_ports")),
			keys: unique, legacy: []legacy{rearPorts()}},
		{model: "dcim.rearport", path: "dcim/rear-ports", fields: table.Join(plain().Of(part+"module type positions mark_connected cable"),
			plain().Low().Of("color")), keys: unique},
		{model: "dcim.modulebay", path: "dcim/module-bays", fields: plain().Of(part + "module position installed_module enabled"), keys: "name={name}@{device}/{module}"},
		{model: "dcim.devicebay", path: "dcim/device-bays", fields: plain().Of(part + "installed_device enabled"), keys: unique},
	}
}

// templates returns the component templates of device types and module types.
func templates() []entry {
	const part, unique = "device_type module_type name label ", "name={name}@{device_type}/{module_type}"
	return []entry{
		{model: "dcim.consoleporttemplate", path: "dcim/console-port-templates", fields: plain().Of(part + "type"), keys: unique},
		{model: "dcim.consoleserverporttemplate", path: "dcim/console-server-port-templates", fields: plain().Of(part + "type"), keys: unique},
		{model: "dcim.powerporttemplate", path: "dcim/power-port-templates", fields: plain().Of(part + "type maximum_draw allocated_draw"), keys: unique},
		{model: "dcim.poweroutlettemplate", path: "dcim/power-outlet-templates", refers: "power_port=dcim.powerporttemplate", fields: table.Join(plain().Of(part+"type power_port feed_leg"),
			plain().Low().Of("color")), keys: unique},
		{model: "dcim.interfacetemplate", path: "dcim/interface-templates",
			fields: plain().Of(part + "type enabled mgmt_only bridge poe_mode poe_type rf_role"), keys: unique},
		{model: "dcim.frontporttemplate", path: "dcim/front-port-templates", fields: table.Join(plain().Of(part+"type"), plain().Low().Of("color"),
			bag().Of("rear_ports")), keys: unique, legacy: []legacy{rearPorts()}},
		{model: "dcim.rearporttemplate", path: "dcim/rear-port-templates", fields: table.Join(plain().Of(part+"type positions"),
			plain().Low().Of("color")), keys: unique},
		{model: "dcim.modulebaytemplate", path: "dcim/module-bay-templates", fields: plain().Of(part + "position enabled"), keys: unique},
		{model: "dcim.devicebaytemplate", path: "dcim/device-bay-templates", fields: plain().Of("device_type name label enabled"), keys: "name={name}@{device_type}"},
		{model: "dcim.inventoryitemtemplate", path: "dcim/inventory-item-templates", refers: "role=dcim.inventoryitemrole",
			fields: plain().Of("device_type parent name label role manufacturer part_id component_type component_id"), keys: "name={name}@{device_type}/{parent}"},
	}
}

func circuits() []entry {
	return []entry{
		{model: "circuits.circuit", path: "circuits/circuits", refers: "type=circuits.circuittype",
			fields:       plain().Of("cid provider provider_account type status tenant install_date termination_date commit_rate distance distance_unit"),
			namePatterns: "{cid}", keys: "name={cid}@{provider}"},
		{model: "circuits.circuittermination", path: "circuits/circuit-terminations",
			fields:       plain().Of("circuit term_side termination_type termination_id port_speed upstream_speed xconnect_id pp_info mark_connected cable"),
			namePatterns: "{circuit} {term_side}", keys: "name={circuit}@{term_side}", legacy: []legacy{termination()}},
		{model: "circuits.circuittype", path: "circuits/circuit-types", fields: table.Join(plain().Of("name slug"), plain().Low().Of("color"))},
		{model: "circuits.provider", path: "circuits/providers", fields: table.Join(plain().Of("name slug"), set().Of("asns"))},
		{model: "circuits.provideraccount", path: "circuits/provider-accounts", fields: plain().Of("provider name account"),
			namePatterns: "{name};{account}", keys: "name={account}@{provider}"},
		{model: "circuits.providernetwork", path: "circuits/provider-networks", fields: plain().Of("provider name service_id"), keys: "name={name}@{provider}"},
		{model: "circuits.circuitgroup", path: "circuits/circuit-groups", since: Version{4, 1}, fields: plain().Of("name slug tenant")},
		{model: "circuits.circuitgroupassignment", path: "circuits/circuit-group-assignments", since: Version{4, 1}, refers: "group=circuits.circuitgroup",
			fields: plain().Of("group member_type member_id priority"), keys: "name={group}@{member_type}/{member_id}", legacy: []legacy{groupMember()}},
		{model: "circuits.virtualcircuit", path: "circuits/virtual-circuits", since: Version{4, 2}, refers: "type=circuits.virtualcircuittype",
			fields: plain().Of("cid provider_network provider_account type status tenant"), namePatterns: "{cid}", keys: "name={cid}@{provider_network}"},
		{model: "circuits.virtualcircuittermination", path: "circuits/virtual-circuit-terminations", since: Version{4, 2},
			fields: plain().Of("virtual_circuit role interface"), keys: "name={interface}@{virtual_circuit}"},
		{model: "circuits.virtualcircuittype", path: "circuits/virtual-circuit-types", since: Version{4, 2}, fields: table.Join(plain().Of("name slug"),
			plain().Low().Of("color"))},
	}
}

// wifi returns the fields that wireless LANs and wireless links share.
func wifi() table.Fields {
	return table.Join(plain().Of("status tenant"), plain().High("decides who may join").Of("auth_type auth_cipher"), table.Secret().Of("auth_psk"))
}

func vpn() []entry {
	return []entry{
		{model: "vpn.tunnel", path: "vpn/tunnels", refers: "group=vpn.tunnelgroup", fields: plain().Of("name status group encapsulation ipsec_profile tenant tunnel_id")},
		{model: "vpn.tunnelgroup", path: "vpn/tunnel-groups", fields: plain().Of("name slug")},
		{model: "vpn.tunneltermination", path: "vpn/tunnel-terminations", fields: plain().Of("tunnel role termination_type termination_id outside_ip"),
			keys: "name={tunnel}@{termination_type}/{termination_id}"},
		{model: "vpn.ikeproposal", path: "vpn/ike-proposals",
			fields: plain().Of("name authentication_method encryption_algorithm authentication_algorithm group sa_lifetime")},
		{model: "vpn.ikepolicy", path: "vpn/ike-policies", refers: "proposals=vpn.ikeproposal", fields: table.Join(plain().Of("name version mode"), set().Of("proposals"),
			table.Secret().Of("preshared_key"))},
		{model: "vpn.ipsecproposal", path: "vpn/ipsec-proposals",
			fields: plain().Of("name encryption_algorithm authentication_algorithm sa_lifetime_seconds sa_lifetime_data")},
		{model: "vpn.ipsecpolicy", path: "vpn/ipsec-policies", refers: "proposals=vpn.ipsecproposal", fields: table.Join(plain().Of("name pfs_group"), set().Of("proposals"))},
		{model: "vpn.ipsecprofile", path: "vpn/ipsec-profiles", fields: plain().Of("name mode ike_policy ipsec_policy")},
		{model: "vpn.l2vpn", path: "vpn/l2vpns", fields: table.Join(plain().Of("name slug type identifier status tenant"),
			set().Of("import_targets export_targets"))},
		{model: "vpn.l2vpntermination", path: "vpn/l2vpn-terminations", fields: plain().Of("l2vpn assigned_object_type assigned_object_id"),
			keys: "name={l2vpn}@{assigned_object_type}/{assigned_object_id}"},
		{model: "wireless.wirelesslan", path: "wireless/wireless-lans", refers: "group=wireless.wirelesslangroup", fields: table.Join(plain().Of("ssid group vlan scope_type scope_id"), wifi()),
			namePatterns: "{ssid}", keys: "name={ssid}@{group}"},
		{model: "wireless.wirelesslangroup", path: "wireless/wireless-lan-groups", fields: plain().Of("name slug parent")},
		{model: "wireless.wirelesslink", path: "wireless/wireless-links", fields: table.Join(
			plain().Of("interface_a interface_b ssid distance distance_unit"), wifi()),
			namePatterns: "{ssid}", keys: "name={interface_a}@{interface_b}"},
	}
}
