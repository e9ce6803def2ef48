// Package pvetest stands in for a Proxmox VE cluster where a real one cannot
// run, for tests and the demonstration: an http.Handler that answers like
// pveproxy from a small description, with its ways (a random order of keys, rows
// and lists at every answer, lists that silently lack what the account may not
// see) and its faults.
package pvetest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// A Row is one object as the API writes it.
type Row map[string]any

// A Cluster is what a Server answers from.
type Cluster struct {
	// Version of Proxmox VE, "9.2.11".
	Version string
	Nodes   []Node
	// NoQuorum tells that the node that answers, the first one, was cut off from
	// the others. It goes on answering from what it has.
	NoQuorum bool
	Guests   []Guest
	// Pools by name.
	Pools map[string]Pool
	// Lists are what lists answer, by path without a query ("/storage"). A path
	// may end in a query where its answer is another one
	// ("/cluster/sdn/zones?running=1"). A guest's firewall is found without its
	// node ("/qemu/301/firewall/rules").
	Lists map[string][]Row
	// Objects are what paths answer that are no list.
	Objects map[string]Row
	// Rights are what the account holds: privileges by path, which hold below it
	// as far as no other path takes them back.
	Rights map[string][]string
}

// A Node is a member of the cluster.
type Node struct {
	Name string
	// Offline tells that the cluster lost it; it answers 595.
	Offline bool
}

// A Guest is a virtual machine (Kind "qemu") or a container ("lxc").
type Guest struct {
	ID   int
	Kind string
	Node string
	Pool string
	// Status is "running" or "stopped" ("" is too), as its node knows. Listed is
	// what the cluster's list says of it where that is behind ("unknown").
	Status, Listed string
	// Config are its settings, and Pending what waits for a restart: a new
	// value, or nil where the setting is to be deleted.
	Config  Row
	Pending Row
	// Addresses are what a running guest tells of itself, by network device
	// ("net0": "192.0.2.5/24"). A virtual machine that has none, not even an
	// empty map, runs no agent.
	Addresses map[string][]string
}

// A Pool holds guests, which name it themselves, and storages.
type Pool struct {
	Comment  string
	Storages []string
}

// Auditor is what the role PVEAuditor and Sys.Syslog on / let one see.
func Auditor() map[string][]string {
	return map[string][]string{"/": {"Datastore.Audit", "Mapping.Audit", "Pool.Audit", "SDN.Audit", "Sys.Audit", "Sys.Syslog", "VM.Audit", "VM.GuestAgent.Audit"}}
}

// clone copies what edits change.
func (c Cluster) clone() Cluster {
	c.Nodes = slices.Clone(c.Nodes)
	c.Guests = slices.Clone(c.Guests)
	for i := range c.Guests {
		c.Guests[i].Config = maps.Clone(c.Guests[i].Config)
		c.Guests[i].Pending = maps.Clone(c.Guests[i].Pending)
		c.Guests[i].Addresses = maps.Clone(c.Guests[i].Addresses)
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

// Guest returns the guest with an id for an edit. It panics when there is
// none: the test is wrong.
func (c *Cluster) Guest(id int) *Guest {
	g := c.guest(id)
	if g == nil {
		panic(fmt.Sprintf("pvetest: no guest %d", id))
	}
	return g
}

// Row returns the row of a list in which key is id for an edit. It panics when
// there is none.
func (c *Cluster) Row(path, key, id string) Row {
	for _, row := range c.Lists[path] {
		if fmt.Sprint(row[key]) == id {
			return row
		}
	}
	panic(fmt.Sprintf("pvetest: no row of %s has %s %q", path, key, id))
}

// Remove takes the row of a list in which key is id out of it.
func (c *Cluster) Remove(path, key, id string) {
	c.Lists[path] = slices.DeleteFunc(c.Lists[path], func(row Row) bool { return fmt.Sprint(row[key]) == id })
}

// older tells whether the cluster runs a version before major.minor.
func (c *Cluster) older(major, minor int) bool {
	var has [2]int
	// What is no version is none that is older.
	_, _ = fmt.Sscanf(c.Version, "%d.%d", &has[0], &has[1])
	return has[0] < major || has[0] == major && has[1] < minor
}

// path is where the guest lies in the API, without its node.
func (g *Guest) path() string { return "/" + g.Kind + "/" + strconv.Itoa(g.ID) }

// name is what people call the guest.
func (g *Guest) name() string {
	for _, key := range []string{"name", "hostname"} {
		if name, ok := g.Config[key].(string); ok {
			return name
		}
	}
	return ""
}
