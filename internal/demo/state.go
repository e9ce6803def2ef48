package demo

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// attributes are the attributes of a resource in a Terraform state.
type attributes = map[string]any

// A recorded is a resource in a Terraform state, with an instance for each key.
type recorded struct {
	provider, typ, name string
	version             int
	// keyed reports whether the resource uses for_each.
	keyed     bool
	instances []instance
}

type instance struct {
	key        string
	attributes attributes
}

// newState returns the Terraform state of all resources on Proxmox and in NetBox.
func newState() ([]byte, error) {
	vms := recorded{provider: proxmoxProvider, typ: "proxmox_virtual_environment_vm", name: "guest", keyed: true}
	containers := recorded{provider: proxmoxProvider, typ: "proxmox_virtual_environment_container", name: "guest", keyed: true}
	addresses := recorded{provider: netboxProvider, typ: "netbox_ip_address", name: "guest", keyed: true}
	prefixes := recorded{provider: netboxProvider, typ: "netbox_prefix", name: "shop", keyed: true}
	for _, m := range machines() {
		addresses.add(m.name, addressAttributes(m.id, m.address(), m.name, m.id))
		if m.container {
			containers.add(m.name, m.containerAttributes())
			continue
		}
		vms.add(m.name, m.attributes())
	}
	front := recorded{provider: netboxProvider, typ: "netbox_ip_address", name: "front"}
	front.add("", addressAttributes(vipID, vip, "shop", 0))
	for _, n := range networks() {
		prefixes.add(n.prefix, n.attributes())
	}
	cluster := recorded{provider: proxmoxProvider, typ: "proxmox_virtual_environment_cluster_firewall", name: "pve"}
	cluster.add("", attributes{"ebtables": true, "enabled": true, "forward_policy": "ACCEPT", "id": "cluster-firewall", "input_policy": "DROP",
		"log_ratelimit": []any{}, "output_policy": "ACCEPT"})
	rules := recorded{provider: proxmoxProvider, typ: "proxmox_virtual_environment_firewall_rules", name: "pve"}
	rules.add("", ruleAttributes(firewall()))
	list := []any{}
	for _, r := range []recorded{vms, containers, rules, cluster, addresses, front, prefixes} {
		list = append(list, r.encode())
	}
	text, err := json.MarshalIndent(map[string]any{"version": 4, "terraform_version": "1.12.6", "serial": 41,
		"lineage": "6e1d3c54-0000-4000-8000-0000000d3b00", "outputs": attributes{}, "resources": list, "check_results": nil}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode state: %w", err)
	}
	return append(text, '\n'), nil
}

const (
	proxmoxProvider = `provider["registry.terraform.io/bpg/proxmox"]`
	netboxProvider  = `provider["registry.terraform.io/e-breuninger/netbox"]`
)

func (r *recorded) add(key string, a attributes) {
	r.instances = append(r.instances, instance{key, a})
}

func (r *recorded) encode() map[string]any {
	instances := make([]any, len(r.instances))
	for i, of := range r.instances {
		encoded := map[string]any{"schema_version": r.version, "attributes": of.attributes, "sensitive_attributes": []any{}}
		if r.keyed {
			encoded["index_key"] = of.key
		}
		instances[i] = encoded
	}
	return map[string]any{"mode": "managed", "type": r.typ, "name": r.name, "provider": r.provider, "instances": instances}
}

func addressAttributes(id int, address, name string, nic int) attributes {
	a := attributes{"custom_fields": nil, "description": "", "device_interface_id": nil, "dns_name": name + ".example.net", "id": strconv.Itoa(id),
		"interface_id": 0, "ip_address": address, "nat_inside_address_id": 0, "nat_outside_addresses": []any{}, "object_type": "", "role": "",
		"status": "active", "tags": []any{}, "tags_all": []any{}, "tenant_id": 0, "virtual_machine_interface_id": nic, "vrf_id": 0}
	if nic == 0 {
		a["role"], a["virtual_machine_interface_id"] = "vip", nil
	}
	return a
}

func (n network) attributes() attributes {
	status := "active"
	if n.id == 1 {
		status = "container"
	}
	return attributes{"custom_fields": nil, "description": n.description, "id": strconv.Itoa(n.id), "is_pool": false, "location_id": 0, "mark_utilized": false,
		"prefix": n.prefix, "region_id": 0, "role_id": 0, "site_group_id": 0, "site_id": siteID, "status": status, "tags": []any{}, "tags_all": []any{},
		"tenant_id": 0, "vlan_id": 0, "vrf_id": 0}
}

func ruleAttributes(list []rule) attributes {
	rules := make([]any, len(list))
	for i, r := range list {
		rules[i] = attributes{"action": "ACCEPT", "comment": r.comment, "dest": "", "dport": r.port, "enabled": true, "iface": "", "log": "", "macro": "",
			"pos": i, "proto": r.proto, "security_group": "", "source": r.source, "sport": "", "type": "in"}
	}
	return attributes{"container_id": nil, "id": "rule-2835696045", "node_name": nil, "rule": rules, "vm_id": nil}
}

// ipConfig returns the ip_config of a guest's network device.
func (m machine) ipConfig() []any {
	return []any{attributes{"ipv4": []any{attributes{"address": m.address(), "gateway": gateway}}, "ipv6": []any{}}}
}

// attributes returns the attributes of a virtual machine in provider version 0.80 and later.
func (m machine) attributes() attributes {
	a := attributes{
		"acpi": true, "agent": []any{attributes{"enabled": true, "timeout": "15m", "trim": false, "type": "virtio", "wait_for_ip": []any{}}},
		"bios": "seabios", "boot_order": []any{"scsi0", "net0"},
		"cpu": []any{attributes{"affinity": "", "architecture": "", "cores": m.cores, "flags": []any{}, "hotplugged": 0, "limit": 0, "numa": false,
			"sockets": 1, "type": "x86-64-v2-AES", "units": 1024}},
		"description": "",
		"disk": []any{attributes{"aio": "io_uring", "backup": true, "cache": "none", "datastore_id": "fast", "discard": "on", "file_format": "raw",
			"file_id": "", "import_from": "", "interface": "scsi0", "iothread": true, "path_in_datastore": fmt.Sprintf("vm-%d-disk-0", m.id), "queues": 0,
			"replicate": true, "serial": "", "size": m.disk, "speed": []any{}, "ssd": true}},
		"id": strconv.Itoa(m.id),
		"initialization": []any{attributes{"datastore_id": "fast", "interface": "ide2", "dns": []any{}, "ip_config": m.ipConfig(),
			"meta_data_file_id": "", "network_data_file_id": "", "type": "", "user_account": []any{}, "user_data_file_id": "", "vendor_data_file_id": ""}},
		"keyboard_layout": "en-us", "kvm_arguments": "", "mac_addresses": []any{m.mac()}, "machine": "",
		"memory":  []any{attributes{"dedicated": m.memory, "floating": 0, "hugepages": "", "keep_hugepages": false, "shared": 0}},
		"migrate": false, "name": m.name,
		"network_device": []any{attributes{"bridge": "vmbr0", "disconnected": false, "enabled": true, "firewall": true, "mac_address": m.mac(),
			"model": "virtio", "mtu": 0, "queues": 0, "rate_limit": 0, "trunks": "", "vlan_id": 0}},
		"node_name": m.node, "on_boot": true, "operating_system": []any{attributes{"type": "l26"}}, "pool_id": "", "protection": false,
		"reboot": false, "scsi_hardware": "virtio-scsi-single", "started": true, "tablet_device": true, "tags": sortedTags(m), "template": false, "vm_id": m.id,
	}
	for _, none := range []string{"amd_sev", "audio_device", "cdrom", "clone", "efi_disk", "hostpci", "ipv4_addresses", "ipv6_addresses", "numa",
		"network_interface_names", "rng", "serial_device", "smbios", "startup", "tpm_state", "usb", "vga", "virtiofs", "watchdog"} {
		a[none] = []any{}
	}
	return a
}

func (m machine) containerAttributes() attributes {
	a := attributes{
		"cpu": []any{attributes{"architecture": "amd64", "cores": m.cores, "limit": 0, "units": 1024}}, "description": "",
		"disk": []any{attributes{"acl": false, "datastore_id": "fast", "mount_options": []any{}, "path_in_datastore": fmt.Sprintf("fast:vm-%d-disk-0", m.id),
			"quota": false, "replicate": false, "size": m.disk}},
		"environment_variables": attributes{}, "hook_script_file_id": "", "id": strconv.Itoa(m.id),
		"initialization": []any{attributes{"dns": []any{}, "entrypoint": "", "hostname": m.name, "ip_config": m.ipConfig(), "user_account": []any{}}},
		"memory":         []any{attributes{"dedicated": m.memory, "swap": 0}},
		"network_interface": []any{attributes{"bridge": "vmbr0", "enabled": true, "firewall": true, "host_managed": false, "mac_address": m.mac(), "mtu": 0,
			"name": "eth0", "rate_limit": 0, "vlan_id": 0}},
		"node_name": m.node, "operating_system": []any{attributes{"template_file_id": "local:vztmpl/debian-13-standard_13.1-2_amd64.tar.zst", "type": "debian"}},
		"pool_id": "", "protection": false, "start_on_boot": true, "started": true, "tags": sortedTags(m), "template": false, "unprivileged": true, "vm_id": m.id,
	}
	for _, none := range []string{"clone", "console", "device_passthrough", "features", "idmap", "mount_point", "startup", "wait_for_ip"} {
		a[none] = []any{}
	}
	return a
}

func sortedTags(m machine) []any {
	if m.tag < "shop" {
		return []any{m.tag, "shop"}
	}
	return []any{"shop", m.tag}
}
