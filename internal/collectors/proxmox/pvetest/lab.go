package pvetest

import (
	"fmt"
	"strconv"
)

// Lab returns a small cluster with objects of most kinds: three nodes, virtual machines and
// containers, a template, a locked guest, two guests with the same name, and a pending change.
func Lab() Cluster {
	return Cluster{
		Version: "9.2.11",
		Nodes:   []Node{{Name: "pve1"}, {Name: "pve2"}, {Name: "pve3"}},
		Guests:  labGuests(),
		Pools:   map[string]Pool{"shop": {Comment: "the shop", Storages: []string{"fast"}}, "shop/test": {}},
		Lists:   labLists(),
		Objects: labObjects(),
		Rights:  Auditor(),
	}
}

func labGuests() []Guest {
	return []Guest{
		{ID: 401, Kind: "qemu", Node: "pve1", Pool: "shop", Status: "running",
			Config: Row{
				"name": "front", "cores": 2, "sockets": 1, "memory": "4096", "onboot": 1, "ostype": "l26", "tags": "shop;web",
				"net0":  "virtio=BC:24:11:5A:04:01,bridge=vmbr0,firewall=1,tag=40",
				"scsi0": "fast:vm-401-disk-0,discard=on,iothread=1,size=32G", "scsihw": "virtio-scsi-single", "boot": "order=scsi0;net0",
				"smbios1": "uuid=9f2d1c60-0000-4000-8000-000000000401", "meta": "creation-qemu=10.1.2,ctime=1770000000",
				"vmgenid": "9f2d1c60-0000-4000-8000-00000000f401", "description": "shop front\nasks the team first", "agent": "1",
			},
			Pending:   Row{"memory": "8192"},
			Addresses: map[string][]string{"net0": {"192.0.2.41/24", "2001:db8::41/64"}}},
		{ID: 402, Kind: "qemu", Node: "pve2", Pool: "shop", Status: "running",
			Config: Row{"name": "store", "cores": 4, "memory": "16384", "net0": "virtio=BC:24:11:5A:04:02,bridge=vmbr0",
				"scsi0": "fast:vm-402-disk-0,size=200G", "cipassword": "**********", "ciuser": "ops"}},
		{ID: 403, Kind: "qemu", Node: "pve3", Status: "stopped", Config: Row{"name": "front", "cores": 1, "memory": "1024", "lock": "backup"}},
		{ID: 490, Kind: "qemu", Node: "pve1", Status: "stopped",
			Config: Row{"name": "golden", "template": 1, "cores": 1, "memory": "512", "scsi0": "fast:base-490-disk-0,size=8G"}},
		{ID: 410, Kind: "lxc", Node: "pve2", Status: "running",
			Config: Row{"hostname": "resolve", "arch": "amd64", "cores": 1, "memory": 512, "swap": 0, "ostype": "debian", "unprivileged": 1,
				"rootfs": "fast:vm-410-disk-0,size=4G", "net0": "name=eth0,bridge=vmbr0,hwaddr=BC:24:11:5A:04:10,ip=dhcp,type=veth",
				"description": "answers names\n"},
			Addresses: map[string][]string{"net0": {"192.0.2.10/24"}}},
		{ID: 411, Kind: "lxc", Node: "pve3", Pool: "shop/test", Status: "stopped",
			Config: Row{"hostname": "probe", "arch": "amd64", "memory": 256, "rootfs": "fast:vm-411-disk-0,size=2G"}},
	}
}

func labLists() map[string][]Row {
	lists := map[string][]Row{
		"/qemu/401/firewall/rules": {
			{"pos": 0, "type": "in", "action": "ACCEPT", "proto": "tcp", "dport": "443", "enable": 1},
			{"pos": 1, "type": "in", "action": "DROP", "enable": 0},
		},
		"/qemu/401/firewall/ipset":         {{"name": "callers", "digest": digest}},
		"/qemu/401/firewall/ipset/callers": {{"cidr": "203.0.113.0/28"}, {"cidr": "203.0.113.5", "nomatch": 1}},
		"/lxc/410/firewall/aliases":        {{"name": "upstream", "cidr": "203.0.113.53", "ipversion": 4}},
		"/cluster/firewall/rules": {
			{"pos": 0, "type": "in", "action": "ACCEPT", "macro": "SSH", "source": "+jump", "enable": 1},
			{"pos": 1, "type": "group", "action": "public", "enable": 1},
		},
		"/cluster/firewall/groups": {{"group": "public", "comment": "what all may reach"}},
		"/cluster/firewall/groups/public": {
			{"pos": 0, "type": "in", "action": "ACCEPT", "proto": "tcp", "dport": "80,443", "enable": 1},
			{"pos": 1, "type": "in", "action": "ACCEPT", "proto": "icmp"},
		},
		"/cluster/firewall/aliases":    {{"name": "desk", "cidr": "198.51.100.0/25", "comment": "desks"}},
		"/cluster/firewall/ipset":      {{"name": "jump", "comment": "jump hosts"}},
		"/cluster/firewall/ipset/jump": {{"cidr": "198.51.100.7"}, {"cidr": "desk", "comment": "all of them"}},
	}
	for path, rows := range labAccess() {
		lists[path] = rows
	}
	for path, rows := range labCluster() {
		lists[path] = rows
	}
	return lists
}

func labAccess() map[string][]Row {
	return map[string][]Row{
		"/access/acl": {
			{"path": "/", "type": "user", "ugid": "driftd@pve", "roleid": "PVEAuditor", "propagate": 1},
			{"path": "/", "type": "token", "ugid": "driftd@pve!ro", "roleid": "PVEAuditor", "propagate": 1},
			{"path": "/pool/shop", "type": "group", "ugid": "sellers", "roleid": "Keeper", "propagate": 1},
			{"path": "/vms/401", "type": "user", "ugid": "dana@pve", "roleid": "PVEVMUser", "propagate": 0},
		},
		"/access/users": {
			{"userid": "root@pam", "enable": 1, "expire": 0, "groups": "", "tokens": nil, "realm-type": "pam"},
			{"userid": "driftd@pve", "enable": 1, "expire": 0, "groups": "", "realm-type": "pve",
				"tokens": []Row{{"tokenid": "ro", "privsep": 1, "expire": 0, "comment": "reads"}}},
			{"userid": "dana@pve", "enable": 1, "expire": 1893456000, "groups": "sellers,night", "firstname": "Dana", "email": "dana@example.org", "tokens": nil},
		},
		"/access/groups": {{"groupid": "sellers", "comment": "who sells", "users": "dana@pve"}, {"groupid": "night", "users": "dana@pve"}},
		"/access/roles": {
			{"roleid": "PVEAuditor", "special": 1, "privs": "Datastore.Audit,Pool.Audit,SDN.Audit,Sys.Audit,VM.Audit"},
			{"roleid": "Keeper", "special": 0, "privs": "VM.Audit,VM.PowerMgmt,Datastore.Audit"},
		},
		"/access/domains": {
			{"realm": "pam", "type": "pam", "comment": "Linux PAM standard authentication"},
			{"realm": "pve", "type": "pve", "comment": "Proxmox VE authentication server"},
			{"realm": "staff", "type": "ldap", "server1": "ldap.example.org", "base_dn": "dc=example,dc=org", "user_attr": "uid"},
		},
	}
}

func labCluster() map[string][]Row {
	zone := func(mtu int) Row {
		return Row{"zone": "lab", "type": "simple", "ipam": "pve", "mtu": mtu, "digest": digest}
	}
	return map[string][]Row{
		"/storage": {
			{"storage": "fast", "type": "rbd", "pool": "vms", "content": "images,rootdir", "shared": 1, "digest": digest},
			{"storage": "local", "type": "dir", "path": "/var/lib/vz", "content": "iso,vztmpl,backup", "nodes": "pve1,pve2,pve3", "prune-backups": "keep-last=3"},
		},
		"/cluster/backup": {{"id": "night", "type": "vzdump", "schedule": "03:15", "storage": "local", "vmid": "401,402", "mode": "snapshot",
			"enabled": 1, "next-run": 1790000000, "prune-backups": Row{"keep-daily": "7"}}},
		"/cluster/replication":    {{"id": "402-0", "guest": 402, "jobnum": 0, "target": "pve3", "type": "local", "schedule": "*/30"}},
		"/cluster/metrics/server": {{"id": "influx", "type": "influxdb", "server": "192.0.2.70", "port": 8089, "disable": 0}},
		"/cluster/ha/resources":   {{"sid": "vm:401", "type": "vm", "state": "started", "max_restart": 2, "digest": digest}},
		"/cluster/ha/rules": {{"rule": "front-first", "type": "node-affinity", "resources": "vm:401", "nodes": "pve1:2,pve2:1", "strict": 0,
			"order": 1, "digest": digest}},
		"/cluster/ha/groups":                {{"group": "front-first", "type": "group", "nodes": "pve1:2,pve2:1", "nofailback": 0, "restricted": 0}},
		"/cluster/mapping/pci":              {{"id": "card", "type": "pci", "description": "a card", "map": []string{"id=10de:1234,node=pve1,path=0000:0a:00.0", "id=10de:1234,node=pve2,path=0000:0b:00.0"}}},
		"/cluster/mapping/usb":              {{"id": "key", "type": "usb", "map": []string{"id=1050:0407,node=pve3"}}},
		"/cluster/mapping/dir":              {{"id": "media", "type": "dir", "map": []string{"node=pve1,path=/srv/media"}}},
		"/cluster/sdn/zones":                {zone(1450)},
		"/cluster/sdn/zones?running=1":      {zone(1400)},
		"/cluster/sdn/vnets":                {{"vnet": "labnet", "type": "vnet", "zone": "lab", "alias": "lab", "vlanaware": 0, "digest": digest}},
		"/cluster/sdn/vnets?running=1":      {{"vnet": "labnet", "type": "vnet", "zone": "lab", "alias": "lab", "digest": digest}},
		"/cluster/sdn/vnets/labnet/subnets": {{"subnet": "lab-198.51.100.128-25", "type": "subnet", "cidr": "198.51.100.128/25", "vnet": "labnet", "zone": "lab", "gateway": "198.51.100.129", "snat": 1}},
		"/cluster/sdn/ipams":                {{"ipam": "pve", "type": "pve", "digest": digest}},
		"/nodes/pve1/network": {
			{"iface": "eno1", "type": "eth", "method": "manual", "active": 1, "exists": 1, "families": []string{"inet"}, "priority": 3},
			{"iface": "vmbr0", "type": "bridge", "method": "static", "cidr": "192.0.2.21/24", "address": "192.0.2.21", "netmask": "24", "gateway": "192.0.2.1",
				"bridge_ports": "eno1", "bridge_stp": "off", "bridge_fd": "0", "autostart": 1, "active": 1, "comments": "up\n", "priority": 4},
		},
		"/nodes/pve2/firewall/rules": {{"pos": 0, "type": "in", "action": "ACCEPT", "proto": "udp", "dport": "161", "enable": 1}},
	}
}

func labObjects() map[string]Row {
	return map[string]Row{
		"/cluster/options":               {"keyboard": "en-us", "migration": Row{"type": "secure", "network": "192.0.2.0/24"}, "description": "the lab\n", "next-id": Row{"lower": "400", "upper": "499"}},
		"/cluster/firewall/options":      {"enable": 1, "policy_in": "DROP", "log_ratelimit": "enable=1,rate=2/second,burst=5", "digest": digest},
		"/cluster/metrics/server/influx": {"type": "influxdb", "server": "192.0.2.70", "port": 8089, "bucket": "pve", "token": "metrics-secret-of-the-lab"},
		"/qemu/401/firewall/options":     {"enable": 1, "policy_in": "DROP", "dhcp": 1, "digest": digest},
		"/nodes/pve1/config":             {"description": "the first one\n", "digest": digest},
		"/nodes/pve3/time":               {"timezone": "Europe/Vienna", "time": 1790000000, "localtime": 1790007200},
	}
}

// Grown returns a cluster with a number of nodes, and a number of guests on each: nine virtual
// machines for each container.
func Grown(nodes, guests int) Cluster {
	c := Lab()
	c.Nodes, c.Guests = nil, nil
	c.Lists = map[string][]Row{}
	for path, rows := range labAccess() {
		c.Lists[path] = rows
	}
	c.Pools = map[string]Pool{"shop": {}}
	for n := range nodes {
		name := fmt.Sprintf("pve%d", n+1)
		c.Nodes = append(c.Nodes, Node{Name: name})
		for i := range guests {
			c.Guests = append(c.Guests, grownGuest(1000+n*guests+i, name))
		}
	}
	return c
}

func grownGuest(id int, node string) Guest {
	mac := fmt.Sprintf("BC:24:11:%02X:%02X:%02X", id>>16&0xff, id>>8&0xff, id&0xff)
	if id%10 == 0 {
		return Guest{ID: id, Kind: "lxc", Node: node, Status: "running", Config: Row{
			"hostname": "box" + strconv.Itoa(id), "arch": "amd64", "cores": 1, "memory": 512, "swap": 512, "ostype": "debian",
			"rootfs": fmt.Sprintf("fast:vm-%d-disk-0,size=4G", id), "net0": "name=eth0,bridge=vmbr0,hwaddr=" + mac + ",ip=dhcp,type=veth",
		}, Addresses: grownAddresses(id)}
	}
	return Guest{ID: id, Kind: "qemu", Node: node, Pool: "shop", Status: "running", Config: Row{
		"name": "vm" + strconv.Itoa(id), "cores": 2, "sockets": 1, "memory": "2048", "cpu": "host", "numa": 0, "onboot": 1, "ostype": "l26",
		"scsihw": "virtio-scsi-single", "agent": "enabled=1", "tags": "grown;shop", "boot": "order=scsi0;net0",
		"scsi0": fmt.Sprintf("fast:vm-%d-disk-0,discard=on,iothread=1,size=16G,ssd=1", id),
		"net0":  "virtio=" + mac + ",bridge=vmbr0,firewall=1,tag=" + strconv.Itoa(id%4000+1),
		"ide2":  fmt.Sprintf("fast:vm-%d-cloudinit,media=cdrom,size=4M", id), "ipconfig0": "ip=dhcp", "ciuser": "ops",
		"smbios1": fmt.Sprintf("uuid=9f2d1c60-0000-4000-8000-%012d", id), "meta": "creation-qemu=10.1.2,ctime=1770000000",
	}, Addresses: grownAddresses(id)}
}

func grownAddresses(id int) map[string][]string {
	return map[string][]string{"net0": {fmt.Sprintf("198.18.%d.%d/16", id>>8&0xff, id&0xff)}}
}
