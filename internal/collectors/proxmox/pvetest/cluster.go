// Package pvetest has a fake Proxmox VE cluster for tests and the demonstration: an
// http.Handler that answers like pveproxy from the description of a cluster. The order of
// keys, rows and lists is random in every answer, lists omit the objects that the account may
// not see, and faults can be injected.
package pvetest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// A Row is an object of the API.
type Row map[string]any

// A Cluster describes a Proxmox VE cluster.
type Cluster struct {
	// Version is the version of Proxmox VE, such as "9.2.11".
	Version string
	Nodes   []Node
	// NoQuorum reports whether the first node, which answers the requests, is disconnected from
	// the others. It still answers from its own copy.
	NoQuorum bool
	Guests   []Guest
	// Pools are the pools by name.
	Pools map[string]Pool
	// Lists are the answers of lists, by path. The path has a query if the answer depends on it
	// ("/cluster/sdn/zones?running=1"). The path of a guest's firewall has no node
	// ("/qemu/301/firewall/rules").
	Lists map[string][]Row
	// Objects are the answers of other paths.
	Objects map[string]Row
	// Rights are the account's privileges by path. They also apply below the path, except below
	// another path of the map.
	Rights map[string][]string
	// Accounts are the privileges of other accounts, by the id of their API token. An account that is not among them has
	// Rights. With nil, every account may write the configuration of guests.
	Accounts map[string]map[string][]string
	// SlowTasks is how many requests for the status of a task find it running; it takes effect at its end.
	SlowTasks int
	// AfterFirewall is called after each change of a firewall, with its path; nil for nothing.
	AfterFirewall func(c *Cluster, at string)
}

// A Node is a node of the cluster.
type Node struct {
	Name string
	// Offline reports whether the cluster lost the node. Its paths answer 595.
	Offline bool
}

// A Guest is a virtual machine (Kind "qemu") or a container ("lxc").
type Guest struct {
	ID   int
	Kind string
	Node string
	Pool string
	// Status is the status on the node: "running" or "stopped" (the default). Listed is that in
	// the cluster's list, if it differs ("unknown").
	Status, Listed string
	// Config are the settings. Pending are the changes that apply at the next restart: a new
	// value, or nil to delete the setting.
	Config  Row
	Pending Row
	// HotplugFails are the keys of which a running guest cannot take a new value, with the error.
	HotplugFails map[string]string
	// Addresses are the IP addresses that a running guest reports, by network device ("net0":
	// "192.0.2.5/24"). A virtual machine with a nil map runs no agent.
	Addresses map[string][]string
	// Sizes are the sizes of volumes that were detached, as in an option ("size=8G").
	Sizes map[string]string
	// ResizeFails are the disks whose size cannot be changed, with the exit status of the task.
	ResizeFails map[string]string
}

// A Pool has storages, and the guests whose Pool is its name.
type Pool struct {
	Comment  string
	Storages []string
}

// Auditor returns the privileges of the role PVEAuditor and of Sys.Syslog on /.
func Auditor() map[string][]string {
	return map[string][]string{"/": {"Datastore.Audit", "Mapping.Audit", "Pool.Audit", "SDN.Audit", "Sys.Audit", "Sys.Syslog", "VM.Audit", "VM.GuestAgent.Audit"}}
}

// clone returns a copy that shares no data that edits change.
func (c Cluster) clone() Cluster {
	c.Nodes = slices.Clone(c.Nodes)
	c.Guests = slices.Clone(c.Guests)
	for i := range c.Guests {
		c.Guests[i].Config = maps.Clone(c.Guests[i].Config)
		c.Guests[i].Pending = maps.Clone(c.Guests[i].Pending)
		c.Guests[i].Addresses = maps.Clone(c.Guests[i].Addresses)
		c.Guests[i].Sizes = maps.Clone(c.Guests[i].Sizes)
	}
	c.Pools = maps.Clone(c.Pools)
	c.Rights = maps.Clone(c.Rights)
	lists := make(map[string][]Row, len(c.Lists))
	for path, rows := range c.Lists {
		lists[path] = cloneRows(rows)
	}
	c.Lists = lists
	objects := make(map[string]Row, len(c.Objects))
	for path, object := range c.Objects {
		objects[path] = maps.Clone(object)
	}
	c.Objects = objects
	return c
}

func cloneRows(rows []Row) []Row {
	clones := make([]Row, len(rows))
	for i, row := range rows {
		clones[i] = maps.Clone(row)
	}
	return clones
}

// guest returns the guest with an id, or nil.
func (c *Cluster) guest(id int) *Guest {
	for i := range c.Guests {
		if c.Guests[i].ID == id {
			return &c.Guests[i]
		}
	}
	return nil
}

// Guest returns the guest with an id, to edit it. It panics if there is none.
func (c *Cluster) Guest(id int) *Guest {
	g := c.guest(id)
	if g == nil {
		panic(fmt.Sprintf("pvetest: no guest %d", id))
	}
	return g
}

// Row returns the row of a list in which key is id, to edit it. It panics if there is none.
func (c *Cluster) Row(path, key, id string) Row {
	for _, row := range c.Lists[path] {
		if fmt.Sprint(row[key]) == id {
			return row
		}
	}
	panic(fmt.Sprintf("pvetest: no row of %s has %s %q", path, key, id))
}

// Remove removes the row of a list in which key is id.
func (c *Cluster) Remove(path, key, id string) {
	c.Lists[path] = slices.DeleteFunc(c.Lists[path], func(row Row) bool { return fmt.Sprint(row[key]) == id })
}

// older reports whether the cluster's version is before major.minor.
func (c *Cluster) older(major, minor int) bool {
	var has [2]int
	// An invalid version counts as 0.0.
	_, _ = fmt.Sscanf(c.Version, "%d.%d", &has[0], &has[1])
	return has[0] < major || has[0] == major && has[1] < minor
}

// path returns the guest's API path without its node.
func (g *Guest) path() string { return "/" + g.Kind + "/" + strconv.Itoa(g.ID) }

// name returns the name of the guest.
func (g *Guest) name() string {
	for _, key := range []string{"name", "hostname"} {
		if name, ok := g.Config[key].(string); ok {
			return name
		}
	}
	return ""
}
