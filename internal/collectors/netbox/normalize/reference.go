package normalize

import (
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
)

// references returns the models to which fields refer by the IDs of objects, by the name of the
// field. An entry of the tables names the models of fields that have other ones in its model.
func references() map[string]string {
	models := map[string]string{}
	for _, line := range []struct{ model, fields string }{
		{"circuits.circuit", "circuit"}, {"circuits.provider", "provider"}, {"circuits.provideraccount", "provider_account"},
		{"circuits.providernetwork", "provider_network"}, {"circuits.virtualcircuit", "virtual_circuit"},
		{"core.datasource", "data_source"},
		{"dcim.cable", "cable"}, {"dcim.cablebundle", "bundle"}, {"dcim.device", "device installed_device master"},
		{"dcim.devicetype", "device_type device_types"}, {"dcim.interface", "interface interface_a interface_b"},
		{"dcim.location", "location locations"}, {"dcim.macaddress", "primary_mac_address mac_addresses"},
		{"dcim.manufacturer", "manufacturer"}, {"dcim.module", "module installed_module"}, {"dcim.modulebay", "module_bay"},
		{"dcim.moduletype", "module_type"}, {"dcim.platform", "platform platforms default_platform"}, {"dcim.powerpanel", "power_panel"},
		{"dcim.powerport", "power_port"}, {"dcim.rack", "rack"}, {"dcim.racktype", "rack_type"}, {"dcim.region", "region regions"},
		{"dcim.site", "site sites"}, {"dcim.sitegroup", "site_groups"}, {"dcim.virtualchassis", "virtual_chassis"},
		{"dcim.virtualdevicecontext", "vdcs"},
		{"extras.configtemplate", "config_template"}, {"extras.customfieldchoiceset", "choice_set"},
		{"ipam.asn", "asns"}, {"ipam.ipaddress", "primary_ip4 primary_ip6 oob_ip outside_ip nat_inside ipaddresses"}, {"ipam.rir", "rir"},
		{"ipam.routetarget", "import_targets export_targets"}, {"ipam.vlan", "vlan untagged_vlan tagged_vlans qinq_svlan"},
		{"ipam.vlantranslationpolicy", "vlan_translation_policy policy"}, {"ipam.vrf", "vrf"},
		{"tenancy.contact", "contact"}, {"tenancy.tenant", "tenant tenants"}, {"tenancy.tenantgroup", "tenant_groups"},
		{"users.group", "user_groups"}, {"users.objectpermission", "permissions"}, {"users.owner", "owner"}, {"users.user", "user users"},
		{"virtualization.cluster", "cluster clusters"}, {"virtualization.clustergroup", "cluster_groups"},
		{"virtualization.clustertype", "cluster_types"}, {"virtualization.virtualmachine", "virtual_machine"},
		{"virtualization.virtualmachinetype", "virtual_machine_type"},
		{"vpn.ikepolicy", "ike_policy"}, {"vpn.ipsecpolicy", "ipsec_policy"}, {"vpn.ipsecprofile", "ipsec_profile"},
		{"vpn.l2vpn", "l2vpn"}, {"vpn.tunnel", "tunnel"},
		{"wireless.wirelesslan", "wireless_lans"},
	} {
		for field := range strings.FieldsSeq(line.fields) {
			models[field] = line.model
		}
	}
	return models
}

// refer sets the references of fields: those of the entry, those of the same name in all models,
// and generic ones, whose model is in a field of its own ("scope_type" and "scope_id").
func (e *entry) refer(fields table.Fields) {
	models := references()
	for field := range strings.FieldsSeq("parent bridge lag") {
		models[field] = e.model
	}
	for word := range strings.FieldsSeq(e.refers) {
		field, model, _ := strings.Cut(word, "=")
		models[field] = model
	}
	for i := range fields {
		f := &fields[i]
		if stem, generic := strings.CutSuffix(f.Name, "_id"); generic && fields.Has(stem+"_type") {
			f.Form = f.Form.ToKindIn(stem+"_type", Type+"/")
		} else if model := models[f.Name]; model != "" {
			f.Form = f.Form.To(Type + "/" + model)
		}
	}
}
