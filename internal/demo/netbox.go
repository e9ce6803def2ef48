package demo

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/driftd/driftd/internal/collectors/netbox/netboxtest"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
)

// IDs of objects that exist once in NetBox.
const (
	siteID    = 1
	clusterID = 1
	vipID     = 90
)

// newNetBox returns an inventory that matches the other systems.
func newNetBox(now time.Time) *netboxtest.Server {
	lists := map[string]netboxtest.List{
		"users/permissions": {Rows: []netboxtest.Row{netboxtest.Permission(1, 8, nil, viewed()...)}},
		"core/object-types": {Rows: []netboxtest.Row{{"id": 10, "app_label": "virtualization", "model": "vminterface"}}},
		"dcim/sites": {Rows: []netboxtest.Row{{"id": siteID, "name": "Frankfurt", "slug": "fra", "status": netboxtest.Choice("active", "Active"),
			"description": "", "tags": []netboxtest.Row{}, "custom_fields": netboxtest.Row{}}}},
		"virtualization/cluster-types": {Rows: []netboxtest.Row{{"id": 1, "name": "Proxmox VE", "slug": "proxmox-ve", "description": "",
			"tags": []netboxtest.Row{}, "custom_fields": netboxtest.Row{}}}},
		"virtualization/clusters": {Rows: []netboxtest.Row{{"id": clusterID, "name": "pve", "type": netboxtest.Ref("virtualization/cluster-types", 1, "Proxmox VE"),
			"status": netboxtest.Choice("active", "Active"), "scope_type": "dcim.site", "scope_id": siteID, "scope": netboxtest.Ref("dcim/sites", siteID, "Frankfurt"),
			"description": "", "tags": []netboxtest.Row{}, "custom_fields": netboxtest.Row{}}}},
	}
	add := func(path string, row netboxtest.Row) {
		list := lists[path]
		row["created"] = now.Add(-60 * 24 * time.Hour).UTC().Format(time.RFC3339)
		list.Rows = append(list.Rows, row)
		lists[path] = list
	}
	for i, tag := range tags() {
		add("extras/tags", netboxtest.Row{"id": i + 1, "name": tag, "slug": tag, "color": "9e9e9e", "description": ""})
	}
	for _, n := range networks() {
		add("ipam/prefixes", n.row())
	}
	for _, m := range machines() {
		add("virtualization/virtual-machines", m.row())
		add("virtualization/interfaces", m.nicRow())
		add("dcim/mac-addresses", netboxtest.Row{"id": m.id, "mac_address": m.mac(), "assigned_object_type": "virtualization.vminterface",
			"assigned_object_id": m.id, "assigned_object": netboxtest.Ref("virtualization/interfaces", m.id, "net0"), "description": "",
			"tags": []netboxtest.Row{}, "custom_fields": netboxtest.Row{}})
		add("ipam/ip-addresses", addressRow(m.id, m.address(), m.name, m.id))
	}
	add("ipam/ip-addresses", addressRow(vipID, vip, "shop", 0))
	return netboxtest.New(netboxtest.Estate{Version: "4.6.8", Lists: lists,
		Account: netboxtest.Row{"id": 8, "username": "driftd", "groups": []netboxtest.Row{}, "permissions": []netboxtest.Row{{"id": 1, "enabled": true}}}},
		rand.New(rand.NewPCG(1, 2)))
}

// viewed returns the models that driftd's account may view.
func viewed() []string {
	models := []string{"core.objectchange", "core.objecttype", "users.objectpermission"}
	for _, k := range normalize.Kinds() {
		models = append(models, k.Model)
	}
	return models
}

func tags() []string { return []string{"shop", "web", "app", "db", "ops"} }

func tagRow(name string) netboxtest.Row {
	for i, tag := range tags() {
		if tag == name {
			return netboxtest.Tag(i+1, name, name)
		}
	}
	return netboxtest.Tag(0, name, name)
}

// row returns the machine as a NetBox row, in which disks are in MB (1000 MB are one GB).
func (m machine) row() netboxtest.Row {
	primary := netboxtest.Ref("ipam/ip-addresses", m.id, m.address())
	return netboxtest.Row{"id": m.id, "name": m.name, "status": netboxtest.Choice("active", "Active"), "cluster": netboxtest.Ref("virtualization/clusters", clusterID, "pve"),
		"site": netboxtest.Ref("dcim/sites", siteID, "Frankfurt"), "vcpus": float64(m.cores), "memory": m.memory, "disk": m.disk * 1000,
		"primary_ip4": primary, "primary_ip": primary, "primary_ip6": nil, "device": nil, "description": "", "comments": "",
		"tags": []netboxtest.Row{tagRow("shop"), tagRow(m.tag)}, "custom_fields": netboxtest.Row{}}
}

func (m machine) nicRow() netboxtest.Row {
	return netboxtest.Row{"id": m.id, "name": "net0", "enabled": true, "virtual_machine": netboxtest.Ref("virtualization/virtual-machines", m.id, m.name),
		"mac_address": m.mac(), "primary_mac_address": netboxtest.Row{"id": m.id, "url": netboxtest.Host + "/api/dcim/mac-addresses/" + strconv.Itoa(m.id) + "/", "mac_address": m.mac()},
		"mac_addresses": []netboxtest.Row{{"id": m.id, "mac_address": m.mac()}}, "mode": nil, "mtu": nil, "untagged_vlan": nil,
		"tagged_vlans": []netboxtest.Row{}, "description": "", "tags": []netboxtest.Row{}, "custom_fields": netboxtest.Row{}}
}

// addressRow returns an address, assigned to the interface nic unless that is 0.
func addressRow(id int, address, name string, nic int) netboxtest.Row {
	row := netboxtest.Row{"id": id, "address": address, "family": netboxtest.Choice(4, "IPv4"), "vrf": nil, "tenant": nil, "status": netboxtest.Choice("active", "Active"),
		"role": nil, "assigned_object_type": nil, "assigned_object_id": nil, "assigned_object": nil, "nat_inside": nil, "nat_outside": []netboxtest.Row{},
		"dns_name": name + ".example.net", "description": "", "comments": "", "tags": []netboxtest.Row{}, "custom_fields": netboxtest.Row{}}
	if nic != 0 {
		row["assigned_object_type"], row["assigned_object_id"] = "virtualization.vminterface", nic
		row["assigned_object"] = netboxtest.Ref("virtualization/interfaces", nic, "net0")
	} else {
		row["role"] = netboxtest.Choice("vip", "VIP")
	}
	return row
}

func (n network) row() netboxtest.Row {
	status := netboxtest.Choice("active", "Active")
	if n.id == 1 {
		status = netboxtest.Choice("container", "Container")
	}
	return netboxtest.Row{"id": n.id, "prefix": n.prefix, "family": netboxtest.Choice(4, "IPv4"), "vrf": nil, "scope_type": "dcim.site", "scope_id": siteID,
		"scope": netboxtest.Ref("dcim/sites", siteID, "Frankfurt"), "tenant": nil, "vlan": nil, "status": status, "role": nil, "is_pool": false,
		"mark_utilized": false, "description": n.description, "comments": "", "tags": []netboxtest.Row{}, "custom_fields": netboxtest.Row{}}
}

// A changelog numbers the entries that acts add to the changelog of NetBox.
type changelog struct{ last int }

// add adds an entry to the changelog, the newest first.
func (c *changelog) add(e *netboxtest.Estate, user, action, model string, object int, before, after netboxtest.Row) {
	c.last++
	at := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	e.Changes = append([]netboxtest.Row{netboxtest.Change(5000+c.last, at, user, action, model, object, before, after)}, e.Changes...)
}

// findRow returns the row of a list with an id.
func findRow(e *netboxtest.Estate, path string, id int) (netboxtest.Row, error) {
	for _, row := range e.Lists[path].Rows {
		if row["id"] == id {
			return row, nil
		}
	}
	return nil, fmt.Errorf("%s %d does not exist", path, id)
}
