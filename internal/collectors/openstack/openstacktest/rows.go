package openstacktest

import "fmt"

// The kinds in ids.
const (
	aServer = 0x5e + iota
	aFlavor
	aGroupOfServers
	aNetwork
	aSubnet
	aPort
	aRouter
	aFloatingIP
	aGroup
	aRule
	anImage
	aVolume
)

func (e *Estate) compute(n Size) {
	for i := range n.Servers {
		e.add(Servers, server(i, n))
		e.Actions[id(aServer, i)] = []Row{{"action": "create", "instance_uuid": id(aServer, i), "request_id": fmt.Sprintf("req-%d", i),
			"user_id": accounts()[1].ID, "project_id": owner(i, n.Servers), "start_time": "2026-11-20T05:29:18.000000", "message": nil}}
	}
	for i, public := range []bool{true, false} {
		e.add(Flavors, Row{"id": id(aFlavor, i), "name": fmt.Sprintf("m1.size%d", i), "ram": 2048, "vcpus": 1, "disk": 20, "swap": "", "rxtx_factor": 1.0,
			"OS-FLV-EXT-DATA:ephemeral": 0, "OS-FLV-DISABLED:disabled": false, "os-flavor-access:is_public": public, "links": []Row{},
			"description": nil, "extra_specs": Row{"hw:cpu_policy": "shared"}})
	}
	for i, a := range e.Accounts {
		e.add(Keypairs, Row{"keypair": Row{"name": fmt.Sprintf("key%d", i/2), "user_id": a.ID, "type": "ssh",
			"public_key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 " + a.Name, "fingerprint": fmt.Sprintf("02:1d:df:%02x", i)}})
	}
	for i, project := range []Project{web(), web(), web(), other()} {
		e.add(ServerGroups, Row{"id": id(aGroupOfServers, i), "name": "spread", "policies": []string{"anti-affinity"}, "metadata": Row{},
			"members": []string{id(aServer, i)}, "project_id": project.ID, "user_id": accounts()[1].ID})
	}
}

func server(i int, n Size) Row {
	return Row{"id": id(aServer, i), "name": fmt.Sprintf("web-%d", i/2), "status": "ACTIVE", "tenant_id": owner(i, n.Servers), "user_id": accounts()[1].ID,
		"metadata": Row{"role": "web"}, "hostId": "8f3c", "image": Row{"id": id(anImage, i%n.Images), "links": []Row{}}, "flavor": Row{"id": id(aFlavor, 0), "links": []Row{}},
		"created": when, "updated": when, "addresses": Row{}, "accessIPv4": "", "accessIPv6": "", "links": []Row{}, "progress": 0,
		"OS-DCF:diskConfig": "MANUAL", "OS-EXT-AZ:availability_zone": "nova", "config_drive": "", "key_name": "key0",
		"OS-EXT-SRV-ATTR:host": fmt.Sprintf("node%d", i%7), "OS-EXT-STS:task_state": nil, "OS-EXT-STS:vm_state": "active", "OS-EXT-STS:power_state": 1,
		"os-extended-volumes:volumes_attached": []Row{}, "security_groups": []Row{{"name": "group-0"}}, "locked": false, "description": nil, "tags": []string{"web"}}
}

func (e *Estate) network(n Size) {
	for i := range n.Networks {
		project := owner(i, n.Networks)
		e.add(Networks, common(Row{"id": id(aNetwork, i), "name": "net", "admin_state_up": true, "mtu": 1500, "status": "ACTIVE", "subnets": []string{id(aSubnet, i)},
			"shared": project == other().ID, "router:external": false, "port_security_enabled": true, "availability_zone_hints": []string{}}, project))
		e.add(Subnets, common(Row{"id": id(aSubnet, i), "name": "subnet", "network_id": id(aNetwork, i), "ip_version": 4, "cidr": fmt.Sprintf("10.%d.0.0/16", i%256),
			"gateway_ip": fmt.Sprintf("10.%d.0.1", i%256), "enable_dhcp": true, "dns_nameservers": []string{}, "host_routes": []Row{},
			"allocation_pools": []Row{{"start": fmt.Sprintf("10.%d.0.2", i%256), "end": fmt.Sprintf("10.%d.255.254", i%256)}}, "service_types": []string{}}, project))
	}
	for i := range n.Ports {
		e.add(Ports, port(i, n))
	}
	e.add(Routers, common(Row{"id": id(aRouter, 0), "name": "edge", "admin_state_up": true, "status": "ACTIVE", "external_gateway_info": nil,
		"distributed": false, "ha": false, "routes": []Row{}, "availability_zone_hints": []string{}}, web().ID))
	e.add(FloatingIPs, common(Row{"id": id(aFloatingIP, 0), "floating_ip_address": "198.51.100.7", "floating_network_id": id(aNetwork, 0),
		"router_id": nil, "port_id": nil, "fixed_ip_address": nil, "status": "DOWN"}, web().ID))
	for i := range n.Groups {
		e.add(Groups, common(Row{"id": id(aGroup, i), "name": fmt.Sprintf("group-%d", i/2), "stateful": true, "shared": false}, owner(i, n.Groups)))
	}
	for i := range n.Rules {
		e.add(Rules, rule(i, n))
	}
}

// common adds the common fields of Neutron's objects.
func common(row Row, project string) Row {
	for name, v := range (Row{"tenant_id": project, "project_id": project, "description": "", "tags": []string{}, "revision_number": 1, "created_at": when, "updated_at": when}) {
		row[name] = v
	}
	return row
}

// port returns a port of a server, as long as there are servers without one.
func port(i int, n Size) Row {
	device, role := "", ""
	if i < n.Servers {
		device, role = id(aServer, i), "compute:nova"
	}
	return common(Row{"id": id(aPort, i), "name": "", "network_id": id(aNetwork, i%max(1, n.Networks-1)), "mac_address": fmt.Sprintf("fa:16:3e:%02x:%02x:%02x", i>>16&255, i>>8&255, i&255),
		"admin_state_up": true, "status": "ACTIVE", "device_id": device, "device_owner": role, "allowed_address_pairs": []Row{}, "extra_dhcp_opts": []Row{},
		"fixed_ips":       []Row{{"subnet_id": id(aSubnet, i%max(1, n.Networks-1)), "ip_address": fmt.Sprintf("10.0.%d.%d", i>>8&255, i&255)}},
		"security_groups": []string{id(aGroup, 0)}, "binding:vnic_type": "normal", "binding:profile": Row{}, "port_security_enabled": true}, web().ID)
}

func rule(i int, n Size) Row {
	group := i % n.Groups
	row := common(Row{"id": id(aRule, i), "security_group_id": id(aGroup, group), "ethertype": "IPv4", "direction": "ingress", "protocol": "tcp",
		"port_range_min": 1000 + i, "port_range_max": 1000 + i, "remote_ip_prefix": fmt.Sprintf("10.%d.%d.0/24", i>>8&255, i&255),
		"normalized_cidr": nil, "remote_group_id": nil, "remote_address_group_id": nil}, owner(group, n.Groups))
	delete(row, "tags")
	return row
}

func volume(i int, n Size) Row {
	return Row{"id": id(aVolume, i), "name": "data", "description": nil, "status": "available", "size": 10, "volume_type": "ssd", "availability_zone": "nova", "bootable": "false",
		"encrypted": false, "multiattach": false, "metadata": Row{}, "snapshot_id": nil, "source_volid": nil, "attachments": []Row{},
		"user_id": accounts()[1].ID, "created_at": "2026-11-20T05:29:18.000000", "updated_at": nil, "os-vol-tenant-attr:tenant_id": owner(i, n.Volumes)}
}

func image(i int, project string) Row {
	return Row{"id": id(anImage, i), "name": "debian-13", "owner": project, "status": "active", "visibility": "shared", "protected": false, "os_hidden": false,
		"container_format": "bare", "disk_format": "qcow2", "min_disk": 0, "min_ram": 0, "checksum": fmt.Sprintf("%032x", i), "size": 1 << 20, "virtual_size": nil,
		"tags": []string{}, "created_at": when, "updated_at": when, "self": "/v2/images/" + id(anImage, i), "file": "/v2/images/" + id(anImage, i) + "/file", "schema": "/v2/schemas/image"}
}
