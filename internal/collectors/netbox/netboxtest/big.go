package netboxtest

import (
	"fmt"
	"strconv"
)

// Big returns an estate of n virtual machines, each with an interface, an address, and, since
// 4.2, a MAC address. The rows are generated while they are served.
func Big(version string, n int) Estate {
	lists := map[string]List{
		"virtualization/virtual-machines": {Len: n, Append: appendMachine},
		"virtualization/interfaces":       {Len: n, Append: appendInterface},
		"ipam/ip-addresses":               {Len: n, Append: appendAddress},
		"users/permissions":               {Rows: []Row{}},
		"core/object-types":               {Rows: []Row{{"id": 10, "app_label": "virtualization", "model": "vminterface"}}},
	}
	e := Estate{Version: version, Account: Row{"id": 1, "username": "admin", "groups": []Row{}, "permissions": []Row{}}, Lists: lists}
	if !e.older(4, 2) {
		lists["dcim/mac-addresses"] = List{Len: n, Append: appendMAC}
	}
	return e
}

// ref appends a nested object.
func ref(b []byte, field, path string, id int, name string) []byte {
	return fmt.Appendf(b, `,%q:{"id":%d,"url":"%s/api/%s/%d/","display":%q,"name":%q,"description":""}`, field, id, Host, path, id, name, name)
}

func appendMachine(b []byte, i int) []byte {
	id, name := i+1, "vm"+strconv.Itoa(i)
	b = fmt.Appendf(b, `{"id":%d,"name":%q,"status":{"value":"active","label":"Active"},"start_on_boot":{"value":"off","label":"Off"}`, id, name)
	b = ref(b, "site", "dcim/sites", i%7+1, "Frankfurt "+strconv.Itoa(i%7))
	b = ref(b, "cluster", "virtualization/clusters", i%11+1, "cl"+strconv.Itoa(i%11))
	b = ref(b, "role", "dcim/device-roles", i%3+1, "App server")
	b = ref(b, "platform", "dcim/platforms", i%5+1, "Debian 13")
	b = ref(b, "tenant", "tenancy/tenants", i%4+1, "Payments")
	b = ref(b, "primary_ip4", "ipam/ip-addresses", id, "10.0.0.1/24")
	b = fmt.Appendf(b, `,"device":null,"primary_ip6":null,"vcpus":%d.0,"memory":%d,"disk":20000,"serial":"","comments":"","description":"","owner":null,"config_template":null`, i%8+1, 1024*(i%16+1))
	b = fmt.Appendf(b, `,"tags":[{"id":1,"url":"%s/api/extras/tags/1/","display":"managed","name":"managed","slug":"managed","color":"00ff00"},{"id":2,"url":"%s/api/extras/tags/2/","display":"production","name":"production","slug":"production","color":"ff0000"}]`, Host, Host)
	return fmt.Appendf(b, `,"local_context_data":null,"custom_fields":{"backup_count":%d,"cost_center":"CC-%d","tier":"gold","notes":null},"created":"2026-11-20T05:29:18.612426Z"}`, i%3, i%40)
}

func appendInterface(b []byte, i int) []byte {
	id := i + 1
	b = fmt.Appendf(b, `{"id":%d,"name":"eth0","enabled":true,"parent":null,"bridge":null,"mtu":1500,"mac_address":%q`, id, mac(i))
	b = ref(b, "virtual_machine", "virtualization/virtual-machines", id, "vm"+strconv.Itoa(i))
	b = ref(b, "primary_mac_address", "dcim/mac-addresses", id, mac(i))
	b = ref(b, "untagged_vlan", "ipam/vlans", i%50+1, "vlan "+strconv.Itoa(i%50))
	b = fmt.Appendf(b, `,"mac_addresses":[{"id":%d,"url":"%s/api/dcim/mac-addresses/%d/","mac_address":%q}],"mode":{"value":"access","label":"Access"}`, id, Host, id, mac(i))
	return append(b, `,"tagged_vlans":[],"qinq_svlan":null,"vrf":null,"description":"","owner":null,"tags":[],"custom_fields":{},"created":"2026-11-20T05:30:13.132062Z"}`...)
}

func appendAddress(b []byte, i int) []byte {
	b = fmt.Appendf(b, `{"id":%d,"address":"10.%d.%d.%d/16","vrf":null,"status":{"value":"active","label":"Active"},"role":null`, i+1, i>>16, i>>8&255, i&255)
	b = ref(b, "tenant", "tenancy/tenants", i%4+1, "Payments")
	return fmt.Appendf(b, `,"assigned_object_type":"virtualization.vminterface","assigned_object_id":%d,"nat_inside":null,"dns_name":"vm%d.example.net","description":"","comments":"","owner":null,"tags":[],"custom_fields":{},"created":"2026-11-20T05:30:40.132062Z"}`, i+1, i)
}

func appendMAC(b []byte, i int) []byte {
	return fmt.Appendf(b, `{"id":%d,"mac_address":%q,"assigned_object_type":"virtualization.vminterface","assigned_object_id":%d,"description":"","comments":"","owner":null,"tags":[],"custom_fields":{},"created":"2026-11-20T05:30:40.132062Z"}`, i+1, mac(i), i+1)
}

func mac(i int) string {
	return fmt.Sprintf("BC:24:11:%02X:%02X:%02X", i>>16&255, i>>8&255, i&255)
}
