package netboxtest

import "slices"

// Small returns a small estate of version 4.6, with a token that may read all of it: two
// virtual machines with related objects, and custom fields.
func Small() Estate {
	vm := func(id int, name string) Row { return Ref("virtualization/virtual-machines", id, name) }
	return Estate{
		Version: "4.6.8",
		Account: Row{"id": 8, "username": "driftd", "groups": []Row{}, "permissions": []Row{{"id": 1, "enabled": true}}},
		Lists: map[string]List{
			"users/permissions": {Rows: []Row{Permission(1, 8, nil, models()...)}},
			"core/object-types": {Rows: []Row{
				{"id": 10, "app_label": "virtualization", "model": "vminterface"}, {"id": 11, "app_label": "dcim", "model": "interface"}}},
			"extras/custom-fields": {Rows: []Row{
				{"id": 1, "name": "tier", "type": Choice("select", "Selection"), "object_types": []string{"virtualization.virtualmachine"}},
				{"id": 2, "name": "contacts", "type": Choice("multiobject", "Objects"), "object_types": []string{"virtualization.virtualmachine"}},
				{"id": 3, "name": "facts", "type": Choice("json", "JSON"), "object_types": []string{"virtualization.virtualmachine"}}}},
			"extras/tags": {Rows: []Row{
				{"id": 1, "name": "web", "slug": "web", "color": "00ff00"}, {"id": 2, "name": "terraform", "slug": "terraform", "color": "0000ff"}}},
			"virtualization/clusters": {Rows: []Row{
				{"id": 2, "name": "prod", "type": Ref("virtualization/cluster-types", 1, "Proxmox VE"), "scope_type": "dcim.site", "scope_id": 5,
					"scope": Ref("dcim/sites", 5, "Frankfurt"), "allocated_memory": 3072, "virtualmachine_count": 2}}},
			"virtualization/virtual-machines": {Rows: []Row{
				{"id": 6, "name": "app-01", "status": Choice("active", "Active"), "site": Ref("dcim/sites", 5, "Frankfurt"), "cluster": Ref("virtualization/clusters", 2, "prod"),
					"vcpus": 2.0, "memory": 8192, "disk": 20480, "primary_ip4": Ref("ipam/ip-addresses", 5, "10.0.0.1/24"), "primary_ip": Ref("ipam/ip-addresses", 5, "10.0.0.1/24"),
					"device": nil, "description": "", "tags": []Row{Tag(2, "terraform", "terraform"), Tag(1, "web", "web")},
					"custom_fields": Row{"tier": "gold", "contacts": []Row{Ref("tenancy/contacts", 9, "b"), Ref("tenancy/contacts", 7, "a")},
						"facts": Row{"id": 1, "url": "x", "list": []int{3, 1}}},
					"local_context_data": Row{"ntp": []string{"10.0.0.2", "10.0.0.1"}}, "created": "2026-11-20T06:25:35.100000Z", "interface_count": 1},
				{"id": 7, "name": "app-02", "status": Choice("offline", "Offline"), "cluster": nil, "site": Ref("dcim/sites", 5, "Frankfurt"),
					"tags": []Row{}, "custom_fields": Row{"tier": nil, "contacts": nil, "facts": nil}}}},
			"virtualization/interfaces": {Rows: []Row{
				{"id": 3, "name": "eth0", "enabled": true, "virtual_machine": vm(6, "app-01"), "mode": Choice("tagged", "Tagged"), "mac_address": "BC:24:11:00:00:01",
					"primary_mac_address": Row{"id": 4, "url": "x", "mac_address": "BC:24:11:00:00:01"}, "mac_addresses": []Row{{"id": 5, "url": "x"}, {"id": 4, "url": "x"}},
					"tagged_vlans": []Row{Ref("ipam/vlans", 12, "b"), Ref("ipam/vlans", 9, "a")}, "count_ipaddresses": 1, "tags": []Row{}}}},
			"virtualization/virtual-disks": {Rows: []Row{{"id": 1, "name": "root", "size": 20480, "virtual_machine": vm(6, "app-01")}}},
			"ipam/ip-addresses": {Rows: []Row{
				{"id": 5, "address": "10.0.0.1/24", "status": Choice("active", "Active"), "vrf": nil, "role": nil, "assigned_object_type": "virtualization.vminterface",
					"assigned_object_id": 3, "assigned_object": Row{"id": 3, "url": "x"}, "dns_name": "app-01.example.net", "family": Choice(4, "IPv4"), "nat_outside": []Row{}},
				{"id": 8, "address": "2001:db8::1/64", "status": Choice("active", "Active"), "vrf": Ref("ipam/vrfs", 1, "blue")}}},
			"wireless/wireless-lans": {Rows: []Row{{"id": 1, "ssid": "guest", "auth_psk": "hunter2hunter2", "status": Choice("active", "Active")}}},
		},
		Changes: []Row{
			Change(5695, "2026-11-20T06:27:52.067081Z", "mara", "update", "virtualization.virtualmachine", 6,
				Row{"memory": 4096, "vcpus": "2.00", "interface_count": 1}, Row{"memory": 8192, "vcpus": "2.00", "interface_count": 2}),
			Change(5641, "2026-11-20T06:25:35.000000Z", "svc-terraform", "create", "virtualization.virtualmachine", 6, nil, Row{"memory": 4096}),
		},
	}
}

// models returns the models of the permission of the small estate.
func models() []string {
	return []string{"users.objectpermission", "core.objectchange", "extras.objectchange", "extras.customfield", "extras.tag", "virtualization.cluster", "virtualization.virtualmachine",
		"virtualization.vminterface", "virtualization.virtualdisk", "ipam.ipaddress", "wireless.wirelesslan", "dcim.site", "dcim.device", "dcim.interface"}
}

// Weak returns the small estate with a token whose permission has constraints, and that may not
// read tags.
func Weak() Estate {
	e := Small()
	e.Lists["users/permissions"] = List{Rows: []Row{
		Permission(1, 8, Row{"tenant__slug": "payments"}, slices.DeleteFunc(models(), func(m string) bool { return m == "extras.tag" })...)}}
	e.Denied = []string{"extras/tags"}
	e.Hidden = func(path string, row Row) bool {
		return path != "users/permissions" && path != "core/object-types" && row["id"].(int)%2 == 0
	}
	return e
}
